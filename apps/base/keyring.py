"""The key ring: the keys that seal stored secrets, in one file that only this server may read (D-32, D-48).

The first start makes it. One key is active and seals; the others only open what they sealed before, until a
rotation has sealed everything anew. Who loses the file loses what was sealed, so it belongs to every backup
of the database, kept apart from it.
"""

import base64
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError

VERSION = 1
KEY_BYTES = 32
LARGEST_FILE = 65_536


class KeyRingUnusable(MemRelayError):
    """The file is missing, open to others or damaged: nothing may be sealed with it."""

    code = "KEY_RING_UNUSABLE"
    status = 500
    sentence = _("The key ring memrelay/keys/keyring.json cannot be used: {problem}.")
    hint = _(
        "Restore the file from a backup, owned by the server's user, mode 0600. Without it sealed values stay closed."
    )


@dataclass(frozen=True, slots=True)
class KeyRing:
    active: str
    keys: dict[str, bytes] = field(repr=False)  # No key in a log or a traceback.


def ensure_keyring() -> KeyRing:
    """The key ring, made now if there is none; of several first starts one makes it."""
    with _only_one_writer():
        if not _file().exists():
            identity = _new_identity()
            _write(KeyRing(identity, {identity: secrets.token_bytes(KEY_BYTES)}))
    return load_keyring()


def load_keyring() -> KeyRing:
    """Read and check the key ring; raise ``KeyRingUnusable`` unless it is whole and closed to others.

    It is kept in memory until the file changes, so that a rotation reaches every process at once.
    """
    global _loaded
    try:
        seen = os.stat(_file(), follow_symlinks=False)
    except FileNotFoundError:
        raise KeyRingUnusable(problem="there is no such file") from None
    signature = (str(_file()), seen.st_mtime_ns, seen.st_ino, seen.st_size, seen.st_mode, seen.st_uid)
    if _loaded is None or _loaded[0] != signature:
        _loaded = (signature, _parsed(_read()))
    return _loaded[1]


def add_key() -> KeyRing:
    """Add a key and make it the active one; what older keys sealed still opens."""
    with _only_one_writer():
        ring, identity = load_keyring(), _new_identity()
        _write(KeyRing(identity, {**ring.keys, identity: secrets.token_bytes(KEY_BYTES)}))
    return load_keyring()


_loaded: tuple[tuple[object, ...], KeyRing] | None = None


def _file() -> Path:
    return Path(settings.KEYS_FOLDER) / "keyring.json"


def _new_identity() -> str:
    return f"k{secrets.token_hex(4)}"


@contextmanager
def _only_one_writer() -> Iterator[None]:
    folder = Path(settings.KEYS_FOLDER)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read() -> bytes:
    try:
        descriptor = os.open(_file(), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise KeyRingUnusable(problem=f"it cannot be opened ({error.strerror})") from error
    try:
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise KeyRingUnusable(problem="it is not an ordinary file")
        if opened.st_uid not in (os.geteuid(), 0):
            raise KeyRingUnusable(problem="it belongs to another user")
        if stat.S_IMODE(opened.st_mode) & 0o077:
            raise KeyRingUnusable(problem=f"others may read it, its mode is {stat.S_IMODE(opened.st_mode):04o}")
        return os.read(descriptor, LARGEST_FILE)
    finally:
        os.close(descriptor)


def _parsed(content: bytes) -> KeyRing:
    try:
        told = json.loads(content)
        keys = {str(name): base64.b64decode(key, validate=True) for name, key in told["keys"].items()}
        ring, version = KeyRing(str(told["active"]), keys), told["version"]
    except (ValueError, TypeError, KeyError, AttributeError):
        # The cause would quote the content.
        raise KeyRingUnusable(problem="its content is damaged") from None
    if version != VERSION:
        raise KeyRingUnusable(problem="it was written by another version")
    if ring.active not in keys:
        raise KeyRingUnusable(problem="it has no active key")
    if any(len(key) != KEY_BYTES for key in keys.values()):
        raise KeyRingUnusable(problem="a key has the wrong length")
    return ring


def _write(ring: KeyRing) -> None:
    """Put the file in place whole and durable: a power cut leaves the old one or the new one."""
    folder = _file().parent
    unfinished = folder / ".keyring.new"
    unfinished.unlink(missing_ok=True)  # Left by a process that was killed here; we hold the lock.
    told = {
        "version": VERSION,
        "active": ring.active,
        "keys": {name: base64.b64encode(key).decode() for name, key in ring.keys.items()},
    }
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(told, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, _file())
    directory = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)

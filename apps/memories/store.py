"""The Markdown files of a scope: read, compared, put in place and made durable. No rows here, no rules."""

import ctypes
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.base.faults import fault
from apps.base.transactions import outside_transactions

PRIVATE = ".memrelay"
ASIDE = f"{PRIVATE}/aside"  # New bytes before, old bytes after they changed places (L-08).
MANY_FILES = 32

_libc = ctypes.CDLL(None, use_errno=True)
_AT_FDCWD, _NOREPLACE, _EXCHANGE = -100, 1, 2


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells a file from its changed self without reading it (L-04)."""

    size: int
    mtime: int
    inode: int

    @staticmethod
    def of(status: os.stat_result) -> "Signature":
        return Signature(status.st_size, status.st_mtime_ns, status.st_ino)


class Blocked(Exception):
    """Something in the way that is not ours: a directory, a symlink, a full disk. The reason names no host path."""


def digest(document: bytes) -> str:
    return hashlib.sha256(document).hexdigest()


def signature(file: Path) -> Signature | None:
    """The signature of a regular file; None where there is none (a symlink is none)."""
    try:
        status = os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Signature.of(status) if stat.S_ISREG(status.st_mode) else None


@outside_transactions
def read(file: Path) -> tuple[bytes, Signature] | None:
    """The bytes of a regular file with the signature they had; None where there is none. Follows no symlink."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as opened:
            return opened.read(), Signature.of(status)
    finally:
        os.close(descriptor)


@outside_transactions
def place(root: Path, path: str, document: bytes, *, mark: str) -> None:
    """Put a document at ``root/path``; whatever lay there moves to the aside folder under ``mark``.

    The two change places in one step where the file system can (RENAME_EXCHANGE), so that not even an editor's save in
    the same moment is overwritten: its bytes are what lies aside. Raises ``Blocked``; then nothing has changed.
    """
    target = root / path
    aside = root / ASIDE / f"{mark}.{secrets.token_hex(4)}"
    try:
        _make_folder(root, target.parent)
        aside.parent.mkdir(parents=True, exist_ok=True)
        _write(aside, document)
        fault("before-rename")
        _swap(aside, target)
    except (OSError, Blocked) as error:
        _remove_if_new(aside, document)
        raise error if isinstance(error, Blocked) else Blocked(_why(error)) from error


@outside_transactions
def take_away(root: Path, path: str, *, mark: str) -> None:
    """Remove ``root/path`` by moving it aside; that it is gone already is fine. Raises ``Blocked``."""
    target = root / path
    aside = root / ASIDE / f"{mark}.{secrets.token_hex(4)}"
    try:
        if not stat.S_ISREG(os.lstat(target).st_mode):
            raise Blocked("something that is no file lies in its place")
        aside.parent.mkdir(parents=True, exist_ok=True)
        os.rename(target, aside)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise Blocked(_why(error)) from error


@outside_transactions
def make_durable(root: Path, files: Iterable[Path], *, many: int = MANY_FILES) -> None:
    """fsync files of a scope and every folder above them; many of them by one syncfs of their file system."""
    files = list(files)
    if len(files) > many and _sync_file_system(root):
        return
    for file in files:
        _sync(file)
    folders = {folder for file in files for folder in file.parents if folder.is_relative_to(root)}
    if files:
        folders |= {root.parent, root.parent.parent}  # A scope's own folder may be new, and the one that holds it.
    for folder in sorted(folders, reverse=True):
        _sync(folder)


@outside_transactions
def rename(root: Path, path: str, to: str) -> bool:
    """Give a file another name, unless something lies there already."""
    try:
        _make_folder(root, (root / to).parent)
        return _rename(root / path, root / to, _NOREPLACE)
    except (OSError, Blocked):
        return False


def asides(root: Path) -> Iterator[tuple[str, Path, float]]:
    """What lies aside: the mark, the file, and when it was last written or put there (seconds)."""
    try:
        entries = list(os.scandir(root / ASIDE))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            yield entry.name.rpartition(".")[0], Path(entry.path), max(status.st_mtime, status.st_ctime)


@outside_transactions
def remove(file: Path) -> None:
    file.unlink(missing_ok=True)


def markdown_files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Every Markdown file below ``root`` by relative path; dot entries and symlinks are none of ours."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(root / folder))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif entry.name.lower().endswith(".md") and entry.is_file(follow_symlinks=False):
                try:
                    yield path, entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue


def _write(file: Path, document: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(document)


def _swap(new: Path, target: Path) -> None:
    for _attempt in range(8):
        try:
            status = os.lstat(target)
        except FileNotFoundError:
            if _rename(new, target, _NOREPLACE):
                return
            continue  # Somebody made the file in this moment: now it is one to change places with.
        if stat.S_ISLNK(status.st_mode):
            raise Blocked("a symbolic link lies in its place")
        if not stat.S_ISREG(status.st_mode):
            raise Blocked("something that is no file lies in its place")
        if _rename(new, target, _EXCHANGE):
            return
    raise Blocked("the file comes and goes too quickly")


def _rename(new: Path, target: Path, flag: int) -> bool:
    """renameat2; where the kernel or file system lacks it, the nearest thing with hard links. False: try again."""
    failed = (
        _libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(target), flag) if _has_renameat2 else -1
    )
    code = ctypes.get_errno() if _has_renameat2 else errno.ENOSYS
    if not failed:
        return True
    if code in (errno.EEXIST, errno.ENOENT):
        return False
    if code not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        raise OSError(code, os.strerror(code))
    return _link_and_rename(new, target, flag)


def _link_and_rename(new: Path, target: Path, flag: int) -> bool:
    if flag == _NOREPLACE:
        try:
            os.link(new, target)
        except FileExistsError:
            return False
        new.unlink()
        return True
    old = new.with_name(new.name + "-")
    try:
        os.link(target, old)
    except FileNotFoundError:
        return False
    os.replace(new, target)
    os.rename(old, new)
    return True


_has_renameat2 = hasattr(_libc, "renameat2")


def _make_folder(root: Path, folder: Path) -> None:
    if folder.is_dir():
        if _leaves(root, folder):
            raise Blocked("a symbolic link leads out of the scope")
        return
    for part in [*reversed(folder.relative_to(root).parents), folder.relative_to(root)]:
        step = root / part
        if step.is_symlink() or (step.exists() and not step.is_dir()):
            raise Blocked("a file or a symbolic link lies where its folder should be")
        step.mkdir(parents=True, exist_ok=True)


def _leaves(root: Path, folder: Path) -> bool:
    steps = folder.relative_to(root).parts
    return any((root.joinpath(*steps[: count + 1])).is_symlink() for count in range(len(steps)))


def _remove_if_new(aside: Path, document: bytes) -> None:
    """After a failure: our own bytes go; old bytes that already lie aside stay for the sweep."""
    try:
        if aside.read_bytes() == document[: aside.stat().st_size]:
            aside.unlink()
    except OSError:
        return  # Nothing was written; the failure itself is raised by the caller.


def _sync(place: Path) -> None:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_file_system(folder: Path) -> bool:
    if not hasattr(_libc, "syncfs"):
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _libc.syncfs(descriptor) == 0
    finally:
        os.close(descriptor)


def reason(failure: Blocked | OSError) -> str:
    """What is in the way, in words that name no host path."""
    return str(failure) if isinstance(failure, Blocked) else _why(failure)


def _why(error: OSError) -> str:
    return {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the disk is read-only",
        errno.EACCES: "the folder may not be written to",
        errno.EPERM: "the folder may not be written to",
        errno.ENOTDIR: "a file lies where its folder should be",
        errno.ENAMETOOLONG: "the name is too long for the disk",
    }.get(error.errno or 0, f"the disk answered error {error.errno}")

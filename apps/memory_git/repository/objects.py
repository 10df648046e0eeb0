"""Git objects made from changed paths alone, gathered in memory and stored together (D-20). No rows here, no rules."""

import hashlib
import os
import secrets
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID, ShaFile, parse_tree
from dulwich.pack import Pack

from apps.base.transactions import outside_transactions
from apps.memories.store import make_durable

COMMIT, TREE, BLOB = 1, 2, 3
KINDS = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob"}
FOLDER, FILE = 0o040000, 0o100644
MANY = 4000  # So many objects at once go into a pack instead of files of their own; git makes no deltas inside one pack later.
HELD_BYTES = 32 * 2**20
CACHED_TREES = 4000
Entries = dict[bytes, tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    email: str

    def __bytes__(self) -> bytes:
        clean = [part.translate(_NOT_IN_NAMES).strip() for part in (self.name, self.email)]
        return f"{clean[0]} <{clean[1]}>".encode()


_NOT_IN_NAMES = {ord(character): None for character in "<>\n\r\0"}


class Staging:
    """Objects that are to be stored, over a store that has the others.

    Trees are held parsed: of several commits in a row, each changes the trees of the one before.
    """

    def __init__(self, store: DiskObjectStore) -> None:
        self.store = store
        self.count = 0  # Objects stored so far.
        self._new: dict[bytes, tuple[int, bytes]] = {}
        self._bytes = 0
        self._trees: dict[bytes, Entries] = {}
        self._written: list[Path] = []

    # Making.

    def blob(self, content: bytes) -> bytes:
        return self.add(BLOB, content)

    def changed(self, tree: bytes | None, changes: Mapping[bytes, bytes | None]) -> bytes:
        """The tree with blobs put at paths; None takes a path away, one that is not there too. An empty tree is one."""
        return self._changed(tree, changes) or self.add(TREE, b"")

    def tree(self, entries: Entries) -> bytes:
        made = self.add(TREE, _serialized(entries))
        self._trees[made] = entries
        return made

    def commit(self, tree: bytes, parents: Iterable[bytes], who: Identity, at: datetime, message: str) -> bytes:
        """A commit whose bytes follow from what it says: made twice, it is the same one."""
        when = b"%s %d +0000" % (bytes(who), int(at.timestamp()))
        lines = [b"tree " + tree, *(b"parent " + parent for parent in parents)]
        lines += [b"author " + when, b"committer " + when, b"", message.encode()]
        return self.add(COMMIT, b"\n".join(lines))

    def folder(self, tree: bytes | None) -> Entries:
        """The entries of a tree; not to be changed."""
        if tree is None:
            return {}
        if tree not in self._trees:
            if len(self._trees) > CACHED_TREES:
                self._trees.clear()
            kind, raw = self.raw(tree)
            if kind != TREE:
                raise ValueError("An entry that should be a folder is none.")
            self._trees[tree] = {name: (mode, sha) for name, mode, sha in parse_tree(raw, sha_len=20)}
        return self._trees[tree]

    def entry(self, tree: bytes | None, path: bytes) -> bytes | None:
        """What lies at a path, if anything."""
        found: tuple[int, bytes] | None = (FOLDER, tree) if tree else None
        for part in path.split(b"/"):
            if found is None or found[0] != FOLDER:
                return None
            found = self.folder(found[1]).get(part)
        return found[1] if found else None

    def content(self, blob: bytes) -> bytes:
        return self.raw(blob)[1]

    def raw(self, sha: bytes) -> tuple[int, bytes]:
        """Kind and bytes of any object. Raises ``KeyError``."""
        held = self._new.get(sha)
        return held if held is not None else self.store.get_raw(ObjectID(sha))

    def add(self, kind: int, raw: bytes) -> bytes:
        sha = hashlib.sha1(_header(kind, raw) + raw).hexdigest().encode()  # noqa: S324 - Git's names are SHA-1
        if sha not in self._new:
            self._new[sha] = (kind, raw)
            self._bytes += len(raw)
            if self._bytes > HELD_BYTES:
                self.store_all()
        return sha

    # Storing.

    @outside_transactions
    def store_all(self) -> None:
        """Give every object its place: a few as files, many as one pack. ``make_durable`` comes after."""
        if len(self._new) > MANY:
            pack = self.store.add_objects([(_shafile(kind, raw, sha), None) for sha, (kind, raw) in self._new.items()])
            self._written += files_of(pack) if pack is not None else []
        else:
            for sha, (kind, raw) in self._new.items():
                self._write_loose(sha, kind, raw)
        self.count += len(self._new)
        self._new.clear()
        self._bytes = 0

    def make_durable(self) -> None:
        """fsync what was stored, in a group."""
        # A commit has about seven, in as many folders: one by one they take twenty times as long.
        make_durable(Path(os.fsdecode(self.store.path)), self._written, many=1)
        self._written.clear()

    def _write_loose(self, sha: bytes, kind: int, raw: bytes) -> None:
        name = sha.decode()
        folder = Path(os.fsdecode(self.store.path)) / name[:2]
        file = folder / name[2:]
        self._written.append(file)
        whole = _header(kind, raw) + raw
        if _holds(file, whole):
            return
        folder.mkdir(exist_ok=True)
        temporary = (
            folder / f"tmp_obj_{secrets.token_hex(6)}"
        )  # git's own name for them: gc sweeps what a crash leaves.
        with open(temporary, "xb") as opened:
            os.fchmod(opened.fileno(), 0o444)
            opened.write(zlib.compress(whole, 1))
        os.replace(temporary, file)

    def _changed(self, tree: bytes | None, changes: Mapping[bytes, bytes | None]) -> bytes | None:
        before = self.folder(tree)
        entries = dict(before)
        below: dict[bytes, dict[bytes, bytes | None]] = {}
        for path, sha in changes.items():
            name, slash, rest = path.partition(b"/")
            if slash:
                below.setdefault(name, {})[rest] = sha
            elif sha is not None:
                entries[name] = (FILE, sha)
            else:
                entries.pop(name, None)
        for name, inside in below.items():
            mode, old = entries.get(name, (FOLDER, None))
            made = self._changed(old if mode == FOLDER else None, inside)
            if made is not None:
                entries[name] = (FOLDER, made)
            elif mode == FOLDER:
                entries.pop(name, None)
        if entries == before:
            return tree
        if not entries:
            return None
        return self.tree(entries)


def _serialized(entries: Entries) -> bytes:
    """Git sorts a folder as if its name had a slash at its end."""
    order = sorted(entries, key=lambda name: name + b"/" if entries[name][0] == FOLDER else name)
    return b"".join(b"%o %s\0" % (entries[name][0], name) + bytes.fromhex(entries[name][1].decode()) for name in order)


def files_of(pack: Pack) -> list[Path]:
    """A pack and its index: Git's library leaves both to the system, to be written some time."""
    return [Path(os.fsdecode(pack._basename) + ending) for ending in (".pack", ".idx")]


def _holds(file: Path, whole: bytes) -> bool:
    """Whether the object lies there whole: of a pass that a power cut ended there may be a name and no bytes."""
    try:
        return zlib.decompress(file.read_bytes()) == whole
    except (FileNotFoundError, zlib.error):
        return False


def _header(kind: int, raw: bytes) -> bytes:
    return b"%s %d\0" % (KINDS[kind], len(raw))


def _shafile(kind: int, raw: bytes, sha: bytes) -> ShaFile:
    return ShaFile.from_raw_string(kind, raw, sha=ObjectID(sha))

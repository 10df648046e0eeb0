"""Repositories and packs made by hand for the tests of remotes."""

import hashlib
import struct
import zlib
from pathlib import Path

from dulwich.object_store import commit_tree_changes
from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import Repo

MAIN = b"refs/heads/main"


def repository(folder: Path) -> Repo:
    return Repo.init(str(folder), mkdir=not folder.exists(), default_branch=b"main")


def bare(folder: Path) -> Repo:
    return Repo.init_bare(str(folder), mkdir=not folder.exists(), default_branch=b"main")


def commit(into: Repo, files: dict[str, str], *, message: str = "A commit") -> bytes:
    """One commit on main whose tree is the one before with these files in ``notes/``."""
    store = into.object_store
    old = into.refs.read_ref(MAIN)
    folder = Tree()
    if old:
        folder = store[store[store[old].tree][b"notes"][1]]
    for name, text in files.items():
        blob = Blob.from_string(text.encode())
        store.add_object(blob)
        folder.add(name.encode(), 0o100644, blob.id)
    store.add_object(folder)
    root = Tree()
    root.add(b"notes", 0o040000, folder.id)
    store.add_object(root)
    made = Commit()
    made.tree, made.parents = root.id, [old] if old else []
    made.author = made.committer = b"MemRelay <memrelay@localhost>"
    made.author_time = made.commit_time = 1_800_000_000
    made.author_timezone = made.commit_timezone = 0
    made.message = message.encode()
    store.add_object(made)
    into.refs[MAIN] = made.id
    return made.id


def packed(*objects: tuple[int, int, bytes]) -> bytes:
    """A pack of (kind, size it names, compressed data)."""
    out = b"PACK" + struct.pack(">LL", 2, len(objects))
    for kind, size, data in objects:
        byte, size = (kind << 4) | (size & 15), size >> 4
        while size:
            out += bytes([byte | 0x80])
            byte, size = size & 0x7F, size >> 7
        out += bytes([byte]) + data
    return out + hashlib.sha1(out).digest()


def zeros(count: int) -> bytes:
    """So many zeros, compressed without ever holding them."""
    squeezing = zlib.compressobj(9)
    data = b"".join(squeezing.compress(b"\0" * min(2**20, count - at)) for at in range(0, count, 2**20))
    return data + squeezing.flush()


def foreign_commit(into: Repo, parent: bytes | None, files: dict[str, str]) -> bytes:
    """A commit by somebody else on main: the parent's tree with these files, at any path."""
    store = into.object_store
    changes = []
    for path, text in files.items():
        blob = Blob.from_string(text.encode())
        store.add_object(blob)
        changes.append((path.encode(), 0o100644, blob.id))
    made = Commit()
    made.tree = commit_tree_changes(store, store[parent].tree if parent else _empty(store), changes)
    made.parents = [parent] if parent else []
    made.author = made.committer = b"Somebody <somebody@example.org>"
    made.author_time = made.commit_time = 1_800_000_100
    made.author_timezone = made.commit_timezone = 0
    made.message = b"A commit of somebody else"
    store.add_object(made)
    into.refs[MAIN] = made.id
    return made.id


def _empty(store) -> bytes:
    tree = Tree()
    store.add_object(tree)
    return tree.id

"""Which objects a push has to send.

Git's library walks through all of history to find them. Memory's history is a line, so what came after the last push
is found by comparing each commit's tree with the one before, from the old end to the new one: whatever a tree leads to
is at the remote, or on its way there, before the tree is met again.
"""

from collections.abc import Callable, Iterator
from typing import Any

from dulwich.objects import Commit
from dulwich.pack import UnpackedObject, full_unpacked_object
from dulwich.repo import BaseRepo

PackMaker = Callable[..., tuple[int, Iterator[UnpackedObject]]]
FOLDER, SUBMODULE = 0o040000, 0o160000


def pack_between(repository: BaseRepo, old: bytes | None, new: bytes | None) -> PackMaker:
    """What makes the pack of a push from ``old`` (nothing: from the beginning) to ``new``."""

    def make(have: Any, want: Any, **options: Any) -> tuple[int, Iterator[UnpackedObject]]:
        ids = list(objects_between(repository, old, new)) if new else []
        if new and not ids and new != old:
            return repository.generate_pack_data(have, want, **options)
        # One at a time: the first push of a long history would not fit into memory.
        return len(ids), (full_unpacked_object(repository.object_store[one]) for one in ids)

    return make


def objects_between(repository: BaseRepo, old: bytes | None, new: Any) -> Iterator[Any]:
    """The objects that came between two commits of one line; none where they are not on one."""
    seen: set[bytes] = set()
    for commit, before, after in _line(repository, old, new):
        yield commit
        yield from _new_in_tree(repository.object_store, before, after, seen)


def _line(repository: BaseRepo, old: bytes | None, new: Any) -> list[tuple[Any, Any, Any]]:
    """The commits from the old end to the new one, each with the tree before it and its own."""
    line: list[tuple[Any, Any, Any]] = []
    commit: Any = repository.object_store[new]
    while commit.id != old:
        if not isinstance(commit, Commit) or len(commit.parents) > 1:
            return []
        if not commit.parents:
            return [(commit.id, None, commit.tree), *reversed(line)] if old is None else []
        parent: Any = repository.object_store[commit.parents[0]]
        line.append((commit.id, parent.tree, commit.tree))
        commit = parent
    return line[::-1]


def _new_in_tree(store: Any, before: Any, after: Any, seen: set[bytes]) -> Iterator[Any]:
    """The trees and blobs of ``after`` that ``before`` does not have at the same place."""
    if after == before or after in seen:
        return
    seen.add(after)
    yield after
    old = {entry.path: entry for entry in store[before].items()} if before else {}
    for entry in store[after].items():
        known = old.get(entry.path)
        if entry.mode == SUBMODULE or (known and known.sha == entry.sha):
            continue
        if entry.mode == FOLDER:
            yield from _new_in_tree(store, known.sha if known and known.mode == FOLDER else None, entry.sha, seen)
        elif entry.sha not in seen:
            seen.add(entry.sha)
            yield entry.sha

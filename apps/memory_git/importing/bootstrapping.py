"""Cold start: an empty memories folder filled from a remote, with its whole history (GIT-067). No rows here.

The remote is fetched into a staging area and looked at as a whole; only then is a file written. What Git never had does not
come back by it: the database is made anew from the files afterwards.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from apps.base.transactions import outside_transactions
from apps.memories import store
from apps.memories.scopes import SCOPE_FILE
from apps.memory_git.mirror.errors import FolderNotEmpty, RemoteBranchMissing
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.client import Remote
from apps.memory_git.repository import local
from apps.memory_git.repository.objects import Identity
from apps.memory_git.repository.roots import prefix_in
from apps.memory_git.trees.documents import OURS, LeftOut, Tree, entries_of, validated
from apps.memory_git.trees.walking import Entry

BY = Identity("MemRelay", "memrelay@localhost")


@dataclass(frozen=True)
class Brought:
    commit: str
    commits: int
    documents: int
    ignored: list[str]  # Files of the remote that are no documents.
    left_out: list[LeftOut]  # Documents that are not in order.


@dataclass(frozen=True)
class Fetched:
    """A remote's newest commit in a staging area, looked at: nothing in it does harm."""

    staging: Repo
    tip: bytes
    tree: Tree
    entries: list[Entry]

    def content(self, blob: bytes) -> bytes:
        found = self.staging[ObjectID(blob)]
        assert isinstance(found, Blob)  # noqa: S101 - the tree was looked at
        return found.data


@contextmanager
def fetched(address: RemoteAddress, access: Access, branch: str) -> Iterator[Fetched]:
    """Raises ``RemoteBranchMissing``, ``UnsafeTree``, ``RemoteFailure``. The staging area goes with the block."""
    folder = Path(settings.STATE_FOLDER) / "git-staging" / "bootstrap.git"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    staging, ref = Repo.init_bare(folder), f"refs/heads/{branch}".encode()
    try:
        tip = Remote(address, access).fetch(staging, [ref]).get(ref)
        if tip is None:
            raise RemoteBranchMissing(branch=branch, url=str(address))
        commit = staging[ObjectID(tip)]
        assert isinstance(commit, Commit)  # noqa: S101 - a branch points to one
        tree = validated(staging.object_store, bytes(commit.tree))
        yield Fetched(staging, tip, tree, entries_of(staging.object_store, bytes(commit.tree)))
    finally:
        staging.close()
        shutil.rmtree(folder, ignore_errors=True)


@outside_transactions
def look(address: RemoteAddress, access: Access, branch: str) -> Brought:
    """What ``bring`` would do, and raise; nothing is kept of it."""
    _refuse_unless_empty()
    with fetched(address, access, branch) as found:
        return _brought(found, _commits_up_to(found.staging, found.tip))


@outside_transactions
def bring(address: RemoteAddress, access: Access, branch: str) -> Brought:
    """Fill the empty memories folder. Raises ``FolderNotEmpty`` and what ``fetched`` raises."""
    memories = Path(settings.MEMORIES_FOLDER)
    _refuse_unless_empty()
    memories.mkdir(parents=True, exist_ok=True)
    with fetched(address, access, branch) as found:
        wanted = {f"{prefix_in('', one.scope_key)}{one.path}" for one in found.tree.documents}
        written = [
            _write(memories / entry.path, found.content(entry.blob))
            for entry in found.entries
            if entry.path in wanted or entry.path in OURS or entry.path.endswith(f"/{SCOPE_FILE}")
        ]
        store.make_durable(memories, written)
        commits = adopt_history(found, branch)
        return _brought(found, commits)


def _refuse_unless_empty() -> None:
    memories = Path(settings.MEMORIES_FOLDER)
    if memories.exists() and (local.exists(memories) or next(store.markdown_files(memories), None) is not None):
        raise FolderNotEmpty()


def _brought(found: Fetched, commits: int) -> Brought:
    tree = found.tree
    return Brought(found.tip.decode(), commits, len(tree.documents), tree.ignored, tree.left_out)


def adopt_history(found: Fetched, branch: str) -> int:
    """The remote's history becomes the local one of a memories folder that has none; answers how many commits it has."""
    memories = Path(settings.MEMORIES_FOLDER)
    local.make(memories, branch)
    with local.locked(memories), local.opened(memories) as repo:
        _copy_history(found.staging, repo, found.tip)
        local.move_branch(repo, branch, None, found.tip, BY, "Bootstrap from a remote")
        return _commits_up_to(repo, found.tip)


def _commits_up_to(repo: Repo, tip: bytes) -> int:
    return sum(1 for _entry in repo.get_walker([ObjectID(tip)]))


def _copy_history(staging: Repo, repo: Repo, tip: bytes) -> None:
    def everything(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        return [ObjectID(tip)]

    staging.fetch(repo, determine_wants=everything)


def _write(file: Path, content: bytes) -> Path:
    """Into a folder that was empty a moment ago, at a path that was looked at: nothing can lie in the way."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as opened:
        opened.write(content)
    return file

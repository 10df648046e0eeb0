"""Cold start: an empty memories folder filled from a remote, with its whole history (GIT-067). No rows here.

The remote is fetched into a staging area and looked at as a whole; only then is a file written. What Git never had does not
come back by it: the database is made anew from the files afterwards.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from apps.base.transactions import outside_transactions
from apps.memories import store
from apps.memories.scopes import SCOPE_FILE
from apps.memory_git import local
from apps.memory_git.objects import Identity
from apps.memory_git.remote_errors import FolderNotEmpty, RemoteBranchMissing
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.client import Remote
from apps.memory_git.roots import prefix_in
from apps.memory_git.trees import OURS, Entry, entries_of, validated

BY = Identity("MemRelay", "memrelay@localhost")


@dataclass(frozen=True)
class Brought:
    commit: str
    commits: int
    documents: int
    ignored: list[str]  # Files of the remote that are no documents: left out.


@outside_transactions
def bring(address: RemoteAddress, access: Access, branch: str) -> Brought:
    """Fill the empty memories folder. Raises ``FolderNotEmpty``, ``RemoteBranchMissing``, ``UnsafeTree``, ``RemoteFailure``."""
    memories = Path(settings.MEMORIES_FOLDER)
    memories.mkdir(parents=True, exist_ok=True)
    if local.exists(memories) or next(store.markdown_files(memories), None) is not None:
        raise FolderNotEmpty()
    folder = Path(settings.STATE_FOLDER) / "git-staging" / "bootstrap.git"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    staging = Repo.init_bare(folder)
    try:
        return _brought(Remote(address, access), staging, branch, memories)
    finally:
        staging.close()
        shutil.rmtree(folder, ignore_errors=True)


def _brought(remote: Remote, staging: Repo, branch: str, memories: Path) -> Brought:
    ref = f"refs/heads/{branch}".encode()
    tip = remote.fetch(staging, [ref]).get(ref)
    if tip is None:
        raise RemoteBranchMissing(branch=branch, url=str(remote.address))
    commit = staging[ObjectID(tip)]
    assert isinstance(commit, Commit)  # noqa: S101 - a branch points to one
    tree = validated(staging.object_store, bytes(commit.tree))
    wanted = {f"{prefix_in('', one.scope_key)}{one.path}" for one in tree.documents}
    written = [
        _write(memories, entry, staging)
        for entry in entries_of(staging.object_store, bytes(commit.tree))
        if entry.path in wanted or entry.path in OURS or entry.path.endswith(f"/{SCOPE_FILE}")
    ]
    store.make_durable(memories, written)
    local.make(memories, branch)
    with local.locked(memories), local.opened(memories) as repo:
        _copy_history(staging, repo, tip)
        local.move_branch(repo, branch, None, tip, BY, f"Bootstrap from {remote.address}")
        commits = sum(1 for _entry in repo.get_walker([ObjectID(tip)]))
    return Brought(tip.decode(), commits, len(tree.documents), tree.ignored)


def _copy_history(staging: Repo, repo: Repo, tip: bytes) -> None:
    def everything(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        return [ObjectID(tip)]

    staging.fetch(repo, determine_wants=everything)


def _write(memories: Path, entry: Entry, staging: Repo) -> Path:
    """Into a folder that was empty a moment ago, at a path that was looked at: nothing can lie in the way."""
    blob = staging[ObjectID(entry.blob)]
    assert isinstance(blob, Blob)  # noqa: S101 - the tree was looked at
    file = memories / entry.path
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as opened:
        opened.write(blob.data)
    return file

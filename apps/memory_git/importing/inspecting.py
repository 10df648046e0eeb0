"""Looking at what a remote holds, in a staging area of its own: nothing of it reaches the live tree (GIT-067, GIT-068).

The staging repository borrows our objects, so that only what is foreign is fetched. What it brought stays there, for an
import that an administrator chooses; our own repository never sees it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from dulwich.objects import Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from apps.base.transactions import outside_transactions
from apps.memories.models import Memory, Status
from apps.memory_git.committing.gathering import held_by
from apps.memory_git.errors import UnsafeTree
from apps.memory_git.mirror.binding import usable_connection
from apps.memory_git.mirror.errors import ConnectionMissing, NotInspected, RepositoryUnbound
from apps.memory_git.mirror.pushing import is_ours, remote_of
from apps.memory_git.models import GitCommit, GitDeed, MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.repository.repositories import folder_of
from apps.memory_git.trees.documents import Document, Tree, validated

OURS, INSPECTED = Ref(b"refs/memrelay/ours"), Ref(b"refs/memrelay/inspected")
SECONDS = 600.0
MOST_COMMITS = 10_000
SHOWN = 500


@dataclass(frozen=True)
class Relation:
    """How the remote's branch stands to ours: equal, behind, ahead, diverged, unrelated or empty."""

    name: str
    common: str = ""  # The newest commit that both have.
    foreign: int = 0  # Commits there that are not ours.
    missing: int = 0  # Commits of ours that are not there.


def run(deed: GitDeed) -> dict[str, Any]:
    """Fetch and report. Changes nothing but the staging area."""
    repository = deed.repository
    connection = usable_connection()
    if connection is None:
        raise ConnectionMissing()
    if repository is None or not repository.remote_url:
        raise RepositoryUnbound(name=repository.name if repository else "")
    remote, ref = remote_of(repository, connection, seconds=SECONDS), f"refs/heads/{repository.branch}".encode()
    with _area(repository) as staging:
        theirs = remote.fetch(staging, [ref]).get(ref)
        told = {"remote_url": repository.remote_url, "branch": repository.branch, "local_commit": repository.head}
        if theirs is None:
            return {**told, "remote_commit": "", "relation": "empty", "documents": [], "problems": []}
        staging.refs[INSPECTED] = ObjectID(theirs)
        relation = _relation(repository, staging, theirs.decode())
        return {
            **told,
            "remote_commit": theirs.decode(),
            "relation": relation.name,
            "common_commit": relation.common,
            "foreign_commits": relation.foreign,
            "missing_commits": relation.missing,
            **_compared(repository, staging, theirs),
        }


@contextmanager
def inspected(repository: MemoryRepository, commit: str) -> Iterator[tuple[Repo, Tree]]:
    """The staging area and the tree of an inspected commit. Raises ``NotInspected``, ``UnsafeTree``."""
    folder = staging_folder(repository)
    if not folder.exists():
        raise NotInspected(commit=commit)
    with _opened(folder) as staging:
        found = staging.refs.read_ref(INSPECTED)
        if found is None or found.decode() != commit:
            raise NotInspected(commit=commit)
        tree = _commit(staging, found).tree
        yield staging, validated(staging.object_store, bytes(tree), scope_key=repository.scope_key)


def staging_folder(repository: MemoryRepository) -> Path:
    return Path(settings.STATE_FOLDER) / "git-staging" / f"{repository.pk}.git"


@outside_transactions
def forget(repository: MemoryRepository) -> None:
    """What an earlier remote brought is of no use any more."""
    shutil.rmtree(staging_folder(repository), ignore_errors=True)


def differing(repository: MemoryRepository, documents: list[Document]) -> dict[str, list[Document]]:
    """Documents by what an import would do: added, changed, or nothing at all."""
    known = held_by(repository, [document.stable_id for document in documents])
    alive = set(
        Memory.objects.exclude(status=Status.DELETED)
        .filter(stable_id__in=[document.stable_id for document in documents])
        .values_list("stable_id", flat=True)
    )
    found: dict[str, list[Document]] = {"added": [], "changed": [], "same": []}
    for document in documents:
        held = known.get(document.stable_id)
        if document.stable_id not in alive:
            found["added"].append(document)
        elif held is not None and held.blob.encode() == document.blob:
            found["same"].append(document)
        else:
            found["changed"].append(document)
    return found


def _compared(repository: MemoryRepository, staging: Repo, commit: bytes) -> dict[str, Any]:
    try:
        tree = validated(staging.object_store, bytes(_commit(staging, commit).tree), scope_key=repository.scope_key)
    except UnsafeTree as problem:
        return {
            "documents": [],
            "problems": [{name: str(value) for name, value in problem.facts.items()}],
            "compatible": False,
        }
    found = differing(repository, tree.documents)
    listed = [
        {"change": change, "scope": one.scope_key, "path": one.path, "resource_id": one.stable_id, "title": one.title}
        for change in ("added", "changed")
        for one in found[change]
    ]
    return {
        "documents": listed[:SHOWN],
        "problems": [],
        "compatible": True,
        "added": len(found["added"]),
        "changed": len(found["changed"]),
        "same": len(found["same"]),
        "ignored": tree.ignored[:SHOWN],
        **left_out(tree),
    }


def left_out(tree: Tree) -> dict[str, Any]:
    """The documents of a tree that are not taken in, as a result tells them."""
    return {"left_out": [one.told() for one in tree.left_out[:SHOWN]], "left_out_count": len(tree.left_out)}


def _relation(repository: MemoryRepository, staging: Repo, theirs: str) -> Relation:
    if theirs == repository.head:
        return Relation("equal", theirs)
    common, foreign = _nearest_of_ours(repository, staging, theirs)
    row = GitCommit.objects.filter(repository=repository, sha=common).first() if common else None
    if row is None:
        return Relation("unrelated", "", foreign, repository.position)
    missing = repository.position - row.position
    name = "behind" if not foreign else "diverged" if missing else "ahead"
    return Relation(name, common, foreign, missing)


def _nearest_of_ours(repository: MemoryRepository, staging: Repo, theirs: str) -> tuple[str, int]:
    """Walking back from the remote's end: the first commit that is ours, and how many foreign ones lie before it."""
    seen, waiting = set[str](), [theirs]
    while waiting and len(seen) < MOST_COMMITS:
        at = waiting.pop(0)
        if at in seen:
            continue
        if is_ours(repository, at):
            return at, len(seen)
        seen.add(at)
        waiting += [parent.decode() for parent in _commit(staging, at.encode()).parents]
    return "", len(seen)


@contextmanager
def _area(repository: MemoryRepository) -> Iterator[Repo]:
    """A bare repository of its own that reads our objects and writes only its own."""
    folder = staging_folder(repository)
    if not folder.exists():
        folder.mkdir(parents=True)
        Repo.init_bare(folder).close()
        with _opened(folder) as made, local.opened(folder_of(repository)) as ours:
            made.object_store.add_alternate_path(ours.object_store.path)
    with _opened(folder) as staging:
        if repository.head:
            staging.refs[OURS] = ObjectID(repository.head.encode())  # What need not be sent.
        yield staging


@contextmanager
def _opened(folder: Path) -> Iterator[Repo]:
    staging = Repo(folder)
    try:
        yield staging
    finally:
        staging.close()


def _commit(staging: Repo, commit: bytes) -> Commit:
    found = staging[ObjectID(commit)]
    if not isinstance(found, Commit):
        raise NotInspected(commit=commit.decode())
    return found

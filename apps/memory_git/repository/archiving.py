"""The repository of a deleted workspace moves out of the way, readable as before, until somebody purges it (GIT-065, GIT-066)."""

import os
import shutil
from pathlib import Path
from typing import Any

from apps.base import clock
from apps.base.transactions import short_transaction
from apps.memories.models import Memory, Status
from apps.memory_git.committing.outbox import UNFINISHED
from apps.memory_git.deeds import note
from apps.memory_git.errors import UnderOwnCommit
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    GitCommit,
    GitDeed,
    GitSyncJob,
    MemoryRepository,
    RepositoryStatus,
)
from apps.memory_git.repository import local
from apps.memory_git.repository.repositories import folder_of, repository_at
from apps.memory_git.repository.roots import archive_folder, folder_of_root
from apps.memory_git.restoring.snapshots import catch_up

PURGED_AT_ONCE = 500


def archive(deed: GitDeed) -> dict[str, Any]:
    """Commit the deletion first, then move the repository. Raises ``UnderOwnCommit`` while a commit still waits."""
    root = str(deed.arguments["root"])
    repository = repository_at(root)
    if repository is None:
        return {"archived": False}
    if Memory.objects.filter(scope=repository.scope_key).exclude(status=Status.DELETED).exists():
        return {"archived": False}  # It was not deleted after all.
    if not local.exists(archive_folder(repository.pk)):
        catch_up(repository)
        # The deletion is an operation that its job closes after the workspace has ended.
        if count := GitSyncJob.objects.filter(root=root, state__in=UNFINISHED).count():
            raise UnderOwnCommit(count=count)
    if local.exists(folder_of_root(root)):
        with local.locked(folder_of_root(root)):
            move_away(repository)
    else:
        move_away(repository)
    return {"archived": True, "repository_id": repository.pk}


def move_away(repository: MemoryRepository) -> None:
    """The caller holds the repository's lock. After a crash in between, the next attempt finds it moved and ends the rest."""
    source, target = folder_of_root(repository.root) / local.GIT, archive_folder(repository.pk) / local.GIT
    move_folder(source, target)
    repository.archived_at = clock.now()
    MemoryRepository.objects.filter(pk=repository.pk).update(
        archived_at=repository.archived_at, status=RepositoryStatus.READY, error="", error_code=""
    )
    for name, content in local.MANIFEST.items():
        file = folder_of_root(repository.root) / name
        if file.is_file() and not file.is_symlink() and file.read_bytes() == content:
            file.unlink()


def move_folder(source: Path, target: Path) -> None:
    """Rename, or across file systems copy whole and then remove. Nothing to do where that was done."""
    if not source.exists():
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.rename(source, target)
    except OSError:
        building = target.with_name(f"{target.name}.part")
        shutil.rmtree(building, ignore_errors=True)
        shutil.copytree(source, building, symlinks=True)
        os.rename(building, target)
        shutil.rmtree(source)


def purge(deed: GitDeed) -> dict[str, Any]:
    """Remove an archived history for good: its folder, then its rows, some at a time."""
    repository = deed.repository
    if repository is None:
        return {"purged": True}
    if repository.archived_at is None:
        return {"purged": False}
    if folder_of(repository).exists():
        shutil.rmtree(folder_of(repository))
    note(deed, total=repository.position)
    while ids := list(GitCommit.objects.filter(repository=repository).values_list("pk", flat=True)[:PURGED_AT_ONCE]):
        with short_transaction():
            DocumentVersion.objects.filter(commit__in=ids).delete()
            CommitScope.objects.filter(commit__in=ids).delete()
            GitCommit.objects.filter(pk__in=ids).delete()
        note(deed, done=deed.done + len(ids))
    with short_transaction():
        GitSyncJob.objects.filter(repository=repository).delete()
        repository.delete()
    return {"purged": True, "commits": deed.done}

"""Keeping a repository small: ``git gc`` where git is installed, else a pack of our own with the versions of a path together.

dulwich's own repacking is not used: it holds everything in memory and makes no deltas.
"""

import logging
import os
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db.models import F
from django.utils.translation import gettext_lazy as _
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, Tree
from dulwich.pack import UnpackedObject, deltas_from_sorted_objects, full_unpacked_object, write_pack_data
from dulwich.repo import Repo

from apps.base import clock
from apps.base.transactions import outside_transactions
from apps.memories.store import make_durable
from apps.memory_git.errors import RepositoryBroken
from apps.memory_git.models import GitDeed, GitSyncJob, JobState, MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.repository.objects import FOLDER, files_of
from apps.memory_git.repository.opening import sound
from apps.memory_git.repository.repositories import folder_of

LOOSE = 15_000  # Objects written since the last time: about 2,000 commits.
SECONDS = 1800
KEPT, AT_ONCE = timedelta(days=30), 500
CHAIN = 50  # So many deltas on each other; reading one undoes them all.
logger = logging.getLogger(__name__)


def grown() -> MemoryRepository | None:
    """A repository that has grown enough since it was packed."""
    return MemoryRepository.objects.filter(archived_at=None, loose__gte=LOOSE).order_by("-loose").first()


def run(deed: GitDeed) -> dict[str, Any]:
    repository = deed.repository
    if repository is None:
        return {}
    return maintain(repository)


@outside_transactions
def maintain(repository: MemoryRepository) -> dict[str, Any]:
    """Pack it under its lock. Commits wait meanwhile; memories do not."""
    folder = folder_of(repository)
    with sound(repository), local.locked(folder):
        before, seen = size_of(folder / local.GIT), repository.loose
        program = shutil.which("git")
        if program:
            _gc(program, folder, repository)
        else:
            with local.opened(folder) as repo:
                pack(repo, repository.branch)
        after = size_of(folder / local.GIT)
    MemoryRepository.objects.filter(pk=repository.pk).update(loose=F("loose") - seen, maintained_at=clock.now())
    _forget_old_jobs(repository)
    return {"bytes_before": before, "bytes_after": after, "with_git": bool(program)}


def _forget_old_jobs(repository: MemoryRepository) -> None:
    """What the outbox had to do long ago; the commits' own rows stay."""
    over = GitSyncJob.objects.filter(repository=repository, state__in=(JobState.COMPLETED, JobState.CANCELLED))
    while ids := list(over.filter(finished_at__lt=clock.now() - KEPT).values_list("pk", flat=True)[:AT_ONCE]):
        GitSyncJob.objects.filter(pk__in=ids).delete()


def _gc(program: str, folder: Path, repository: MemoryRepository) -> None:
    """No hook, no configuration of the machine's, no credential: nothing of the kind is needed."""
    environment = {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    arguments = ["-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-c", "gc.auto=0", "-c", "pack.threads=1"]
    try:
        done = subprocess.run(
            [program, *arguments, f"--git-dir={folder / local.GIT}", "gc", "--quiet"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RepositoryBroken(name=repository.name, problem=_("packing it took too long")) from None
    if done.returncode:
        logger.error("git gc of %s failed: %s", repository.name, done.stderr[-500:].decode("utf-8", "replace"))
        raise RepositoryBroken(name=repository.name, problem=_("git cannot pack it"))


def pack(repo: Repo, branch: str) -> None:
    """One pack of everything the branch reaches; then the loose objects and the older packs that it holds go."""
    store = repo.object_store
    assert isinstance(store, DiskObjectStore)  # noqa: S101 - a repository on disk has one
    tip = local.tip(repo, branch)
    if tip is None:
        return
    older = list(store.packs)
    commits, by_path = _reached(repo, tip)
    count = len(commits) + sum(len(shas) for shas in by_path.values())
    file, commit, abort = store.add_pack()
    try:
        write_pack_data(
            file.write, _ordered(store, commits, by_path), num_records=count, object_format=repo.object_format
        )
    except BaseException:
        abort()
        raise
    made = commit()
    if made is not None:  # Before anything that it replaces goes: a power cut must not find neither.
        make_durable(Path(os.fsdecode(store.path)), files_of(made), many=1)
    for old in older:
        if made is not None and old.name() != made.name() and all(sha in made for sha in old.index):
            store._remove_pack(old)
    for sha in list(store._iter_loose_objects()):
        if store.contains_packed(sha):
            store.delete_loose_object(sha)


def _reached(repo: Repo, tip: bytes) -> tuple[list[bytes], dict[tuple[int, bytes], list[bytes]]]:
    """Commits from the newest on, and trees and blobs by path, the newest version first."""
    commits: list[bytes] = []
    by_path: dict[tuple[int, bytes], list[bytes]] = {}
    seen: set[bytes] = set()
    waiting = [tip]
    while waiting:
        sha = waiting.pop()
        if sha in seen:
            continue
        seen.add(sha)
        commit = repo[ObjectID(sha)]
        assert isinstance(commit, Commit)  # noqa: S101 - the parent of a commit is one
        commits.append(sha)
        _visit(repo, bytes(commit.tree), by_path, seen)
        waiting += [bytes(parent) for parent in reversed(commit.parents)]
    return commits, by_path


def _visit(repo: Repo, tree: bytes, by_path: dict[tuple[int, bytes], list[bytes]], seen: set[bytes]) -> None:
    waiting = [(tree, b"")]
    while waiting:
        sha, path = waiting.pop()
        if sha in seen:
            continue
        seen.add(sha)
        by_path.setdefault((0, path), []).append(sha)
        found = repo[ObjectID(sha)]
        assert isinstance(found, Tree)  # noqa: S101 - what is entered as a folder is one
        for entry in found.iteritems():
            below, child = path + b"/" + entry.path, bytes(entry.sha)
            if entry.mode == FOLDER:
                waiting.append((child, below))
            elif child not in seen:
                seen.add(child)
                by_path.setdefault((1, below), []).append(child)


def _ordered(
    store: DiskObjectStore, commits: list[bytes], by_path: dict[tuple[int, bytes], list[bytes]]
) -> Iterator[UnpackedObject]:
    for sha in commits:
        yield full_unpacked_object(store[ObjectID(sha)])
    for key in sorted(by_path):
        shas = by_path[key]
        for start in range(0, len(shas), CHAIN):
            part = shas[start : start + CHAIN]
            if len(part) == 1:
                yield full_unpacked_object(store[ObjectID(part[0])])
            else:
                yield from deltas_from_sorted_objects(((store[ObjectID(sha)], None) for sha in part), window_size=1)


def size_of(folder: Path) -> int:
    """Bytes of all files below."""
    return sum((Path(current) / name).lstat().st_size for current, _names, files in os.walk(folder) for name in files)

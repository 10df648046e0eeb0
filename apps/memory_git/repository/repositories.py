"""Repositories by root: their rows and folders, made when they are first needed."""

import re
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError

from apps.base.ids import new_id
from apps.base.text import slug_for
from apps.base.transactions import short_transaction
from apps.memories.scopes import LIBRARY
from apps.memory_git.mirror.binding import bind, usable_connection
from apps.memory_git.models import MemoryRepository, RepositoryStatus, Strategy
from apps.memory_git.repository import local
from apps.memory_git.repository.objects import Identity
from apps.memory_git.repository.roots import archive_folder, folder_of_root
from apps.memory_git.switch import chosen
from apps.operations.caller import SHARED_PROFILE
from apps.profiles.models import Profile
from apps.workspaces.models import Project

SHORT_ID = 8


def repository_at(root: str) -> MemoryRepository | None:
    return MemoryRepository.objects.filter(root=root, archived_at=None).first()


def ensure(root: str, strategy: str, scope_key: str) -> MemoryRepository:
    """The repository of a root, in rows and on disk. Raises ``NestedRepository`` where somebody else's lies there."""
    repository = repository_at(root) or _entered(root, strategy, scope_key)
    folder = folder_of_root(root)
    if not local.exists(folder):
        memories = Path(settings.MEMORIES_FOLDER)
        local.refuse_nested(folder, memories, own=own_folders())
        local.make(folder, repository.branch)
        if repository.head:
            # Somebody removed it: what follows begins anew, over the rows of what was.
            MemoryRepository.objects.filter(pk=repository.pk).update(head="")
            repository.head = ""
    return repository


def own_folders() -> set[Path]:
    """Where repositories of ours lie."""
    return {folder_of_root(root) for root in _roots()}


def _roots() -> list[str]:
    return list(MemoryRepository.objects.filter(archived_at=None).values_list("root", flat=True))


def _entered(root: str, strategy: str, scope_key: str) -> MemoryRepository:
    repository = MemoryRepository(
        id=new_id("repo"),
        mode=strategy,
        scope_key="" if strategy == Strategy.SINGLE else scope_key,
        root=root,
        name=name_for(strategy, scope_key),
        branch=chosen().branch,
    )
    if connection := usable_connection():
        bind(repository, connection)
    try:
        with short_transaction():
            repository.save(force_insert=True)
    except IntegrityError:
        found = repository_at(root)
        if found is None:
            raise
        return found
    return repository


def name_for(strategy: str, scope_key: str) -> str:
    """What it is called at a remote, for good (GIT-019): plain letters, and a short id where names could meet."""
    if strategy == Strategy.SINGLE:
        return "memrelay-memories"
    kind, _slash, name = scope_key.partition("/")
    if scope_key == LIBRARY:
        return "memrelay-library"
    if kind == "global":
        if name == SHARED_PROFILE:
            return "memrelay-global"
        profile = Profile.objects.filter(pk=name).first()
        return _named(profile.name if profile else name, name)
    project = Project.objects.filter(pk=name).first()
    return _named(project.slug if project else name, name)


def _named(slug: str, identity: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", slug_for(slug).encode("ascii", "ignore").decode().lower()).strip("-")[:40]
    short = re.sub(r"[^a-z0-9]", "", identity.rpartition("_")[2].lower())[-SHORT_ID:]
    return "-".join(part for part in ("memrelay", plain, short) if part)


def folder_of(repository: MemoryRepository) -> Path:
    """Where its ``.git`` lies: at its root, or in the archive."""
    return archive_folder(repository.pk) if repository.archived_at else folder_of_root(repository.root)


def identity() -> Identity:
    settings_row = chosen()
    return Identity(settings_row.author_name, settings_row.author_email)


def mark(repository: MemoryRepository, status: str, *, error_code: str = "", error: str = "") -> None:
    """Say how a repository is; nothing is written where that is known."""
    if (repository.status, repository.error_code, repository.error) == (status, error_code, error):
        return
    repository.status, repository.error_code, repository.error = status, error_code, error[:500]
    repository.save(update_fields=["status", "error_code", "error"])


def mark_sound(repository: MemoryRepository) -> None:
    """The local side works (again); what the remote side says stays."""
    if repository.status == RepositoryStatus.LOCAL_ERROR:
        mark(repository, RepositoryStatus.READY)

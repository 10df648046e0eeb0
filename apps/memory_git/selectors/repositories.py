"""The local repositories and how each of them is. Reading goes on while Memory Git is off."""

from collections.abc import Collection, Sequence
from typing import Literal

from django.db.models import Count

from apps.memories.models import Scope
from apps.memories.scopes import may_see
from apps.memory_git.committing.outbox import waiting
from apps.memory_git.errors import RepositoryUnknown
from apps.memory_git.models import (
    GitDeed,
    MemoryRepository,
    RepositoryStatus,
)
from apps.memory_git.remotes.failures import known_failure
from apps.memory_git.schemas import (
    RepositoryListOut,
    RepositoryOrAll,
    RepositoryOut,
    RepositoryStatusOut,
)
from apps.memory_git.selectors.jobs import deed_out
from apps.memory_git.selectors.settings import settings_out
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation

SHOWN_JOBS = 20
Worktree = Literal["clean", "uncommitted", "outside_changes", "none"]


@operation(needs=Right.READ, answers=RepositoryListOut)
def memory_repository_list(caller: Caller) -> RepositoryListOut:
    """List the local memory repositories, those of deleted workspaces too."""
    row = chosen()
    rows = MemoryRepository.objects.order_by("archived_at", "name", "pk")
    return RepositoryListOut(
        enabled=row.enabled,
        strategy=row.strategy,
        repositories=repositories_out([found for found in rows if sees(caller, found)]),
    )


@operation(needs=Right.READ, answers=RepositoryStatusOut)
def memory_repository_status(caller: Caller, *, repository_id: RepositoryOrAll = "") -> RepositoryStatusOut:
    """Say how Memory Git is: what waits to be committed or pushed, what is red, which jobs run.

    The state is disabled where it is not switched on; that is no fault.
    """
    row = chosen()
    rows = [repository_for(caller, repository_id)] if repository_id else list(MemoryRepository.objects.order_by("name"))
    shown = [found for found in rows if sees(caller, found) and (repository_id or found.archived_at is None)]
    jobs = waiting() if caller.administers else waiting().none()
    if repository_id:
        jobs = waiting().filter(root=shown[0].root)
    deeds = GitDeed.objects.order_by("-created_at") if caller.administers else GitDeed.objects.none()
    return RepositoryStatusOut(
        state=_state(row.enabled, shown),
        enabled=row.enabled,
        strategy=row.strategy,
        preparing=settings_out().preparing,
        waiting=jobs.count(),
        oldest_waiting_at=jobs.order_by("created_at").values_list("created_at", flat=True).first(),
        repositories=repositories_out(shown),
        jobs=[deed_out(deed) for deed in deeds[:SHOWN_JOBS]],
    )


def repository_for(caller: Caller, repository_id: str) -> MemoryRepository:
    """The only door to a repository. Raises ``RepositoryUnknown`` where the caller may not see its scope."""
    found = MemoryRepository.objects.filter(pk=repository_id).first()
    if found is None or not sees(caller, found):
        raise RepositoryUnknown(repository_id=repository_id)
    return found


def sees(caller: Caller, repository: MemoryRepository) -> bool:
    """The one that holds everything is everybody's; of what it holds, each sees their own scopes."""
    return not repository.scope_key or may_see(caller, repository.scope_key)


def told_error(row: MemoryRepository) -> str:
    """What is wrong, in the reader's language where it is about the remote."""
    failure = known_failure(row.error_code, {"url": row.remote_url})
    return str(failure) if failure is not None and "{" not in str(failure) else row.error


def repository_out(row: MemoryRepository) -> RepositoryOut:
    return repositories_out([row])[0]


def repositories_out(rows: Sequence[MemoryRepository]) -> list[RepositoryOut]:
    counted = waiting().order_by().values_list("root").annotate(count=Count("pk"))
    waits: dict[str, int] = dict(counted.filter(root__in=[row.root for row in rows])) if rows else {}
    edited = list(Scope.objects.filter(outside_pending=True).values_list("key", flat=True))
    return [_repository(row, waits.get(row.root, 0), edited) for row in rows]


def _repository(row: MemoryRepository, waits: int, edited: Collection[str]) -> RepositoryOut:
    waits = waits if row.archived_at is None else 0
    worktree: Worktree = "uncommitted" if waits else "clean"
    if any(row.scope_key in ("", scope_key) for scope_key in edited):
        worktree = "outside_changes"
    return RepositoryOut(
        repository_id=row.pk,
        name=row.name,
        mode=row.mode,
        scope=row.scope_key,
        root=row.root,
        branch=row.branch,
        status=row.status,
        error_code=row.error_code,
        error=told_error(row),
        commit=row.head,
        commits=row.position,
        waiting=waits,
        worktree=worktree if row.archived_at is None else "none",
        remote_url=row.remote_url,
        push_to_create=row.push_to_create,
        pushed_commit=row.pushed_commit,
        pushed_at=row.pushed_at,
        behind=row.behind,
        remote_reachable=row.remote_reachable,
        created_at=row.created_at,
        archived_at=row.archived_at,
    )


def _state(enabled: bool, repositories: Sequence[MemoryRepository]) -> str:
    if not enabled:
        return "disabled"
    red = [row.status for row in repositories if row.status != RepositoryStatus.READY]
    return red[0] if red else RepositoryStatus.READY.value

"""How the server is doing, as far as a caller may see it. Figures come from indexes, so that a page can poll them."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from django_q.models import OrmQ

from apps.accounts.selectors import tokens_for
from apps.base import clock
from apps.base.days import local
from apps.instance.attention import attention_for
from apps.instance.condition import health_of
from apps.instance.schemas import (
    Counts,
    DashboardOut,
    JobLine,
    LatestCheckpoint,
    Queue,
    Storage,
    WorkspaceLine,
)
from apps.memories.models import FileIntent, FolderJob, Memory, Resource, Scope, Status
from apps.memories.reading import item_of
from apps.memories.scopes import global_scope, may_see, project_scope
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.models import Profile
from apps.workspaces.selectors import projects_for

TEXT_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Tally:
    """How many documents of one kind a scope holds in one state, and when the last of them changed."""

    scope: str
    resource: str
    status: str
    count: int
    last: datetime


def dashboard_of(caller: Caller, limit: int) -> DashboardOut:
    tallies = _tallies(caller)
    runs_the_server = caller.administers and caller.project_id is None
    return DashboardOut(
        version=settings.VERSION,
        health=health_of(caller),
        counts=_counts(caller, tallies),
        queue=_queue() if runs_the_server else None,
        storage=_storage() if runs_the_server else None,
        attention=attention_for(lambda key: may_see(caller, key)),
        workspaces=_workspaces(caller, tallies, limit),
        latest_memories=[item_of(memory, caller) for memory in _latest(caller, Resource.MEMORY, limit)],
        latest_checkpoints=_checkpoints(caller, limit),
        jobs=_jobs(caller, limit),
        outside_changes_pending=any(
            may_see(caller, key) for key in Scope.objects.filter(outside_pending=True).values_list("key", flat=True)
        ),
    )


def _tallies(caller: Caller) -> list[Tally]:
    """One pass over the index ``memory_list``, no row read."""
    rows = (
        Memory.objects.order_by()
        .values("scope", "resource", "status")
        .annotate(count=Count("pk"), last=Max("updated_at"))
    )
    return [
        Tally(row["scope"], row["resource"], row["status"], row["count"], row["last"])
        for row in rows
        if may_see(caller, row["scope"])
    ]


def _counts(caller: Caller, tallies: Iterable[Tally]) -> Counts:
    counted: dict[tuple[str, str], int] = {}
    for tally in tallies:
        key = tally.resource, tally.status
        counted[key] = counted.get(key, 0) + tally.count
    spaces = Profile.objects.filter(enabled=True)
    return Counts(
        memories=counted.get((Resource.MEMORY, Status.ACTIVE), 0),
        checkpoints=counted.get((Resource.CHECKPOINT, Status.ACTIVE), 0),
        curated=counted.get((Resource.CURATED, Status.ACTIVE), 0),
        archived=sum(count for (_resource, status), count in counted.items() if status == Status.ARCHIVED),
        deleted=sum(count for (_resource, status), count in counted.items() if status == Status.DELETED),
        workspaces=projects_for(caller).filter(archived_at=None).count(),
        memory_spaces=(
            spaces if caller.administers else spaces.filter(pk__in=[caller.profile, SHARED_PROFILE])
        ).count(),
        tokens=_tokens(caller) if caller.administers else None,
    )


def _tokens(caller: Caller) -> int:
    usable = Q(expires_at=None) | Q(expires_at__gt=clock.now())
    return tokens_for(caller).filter(usable, revoked_at=None).count()


def _queue() -> Queue:
    waiting = dict(FileIntent.objects.order_by().values_list("state").annotate(count=Count("pk")))
    return Queue(
        bells=OrmQ.objects.count(),
        files_waiting=waiting.get(FileIntent.OPEN, 0),
        files_blocked=waiting.get(FileIntent.BLOCKED, 0),
    )


def _storage() -> Storage:
    database = Path(settings.DATABASES["default"]["NAME"])
    parts = [database, database.with_name(f"{database.name}-wal")]
    return Storage(
        database_bytes=sum(part.stat().st_size for part in parts if part.is_file()),
        free_bytes=shutil.disk_usage(settings.DATA_FOLDER).free,
    )


def _workspaces(caller: Caller, tallies: Iterable[Tally], limit: int) -> list[WorkspaceLine]:
    """Those where something happened last, then those that are new."""
    counted: dict[str, int] = {}
    last: dict[str, datetime] = {}
    for tally in tallies:
        last[tally.scope] = max(last.get(tally.scope, tally.last), tally.last)
        if (tally.resource, tally.status) == (Resource.MEMORY, Status.ACTIVE):
            counted[tally.scope] = tally.count
    active = sorted((key for key in last if key.startswith("project/")), key=lambda key: last[key], reverse=True)
    ids = [key.removeprefix("project/") for key in active[: limit * 2]]
    open_ones = projects_for(caller).filter(archived_at=None)
    projects = [*open_ones.filter(pk__in=ids), *open_ones.exclude(pk__in=ids).order_by("-created_at")[:limit]]
    lines = [
        WorkspaceLine(
            project_id=project.pk,
            name=project.name,
            workspace_type=project.workspace_type,
            memories=counted.get(project_scope(project.pk), 0),
            last_activity=last.get(project_scope(project.pk)),
        )
        for project in projects
    ]
    lines.sort(key=lambda line: line.last_activity.timestamp() if line.last_activity else 0.0, reverse=True)
    return lines[:limit]


def _latest(caller: Caller, resource: Resource, limit: int) -> list[Memory]:
    """The last changed documents that the caller may see, read from an index from its end."""
    rows = Memory.objects.filter(resource=resource, status=Status.ACTIVE, withheld=False).select_related("checkpoint")
    rows = rows.order_by("-updated_at", "-pk")
    if caller.project_id is None:
        hidden = [key for key in Scope.objects.values_list("key", flat=True) if not may_see(caller, key)]
        return list(rows.exclude(scope__in=hidden)[:limit])
    near = [project_scope(caller.project_id), global_scope(caller.profile), global_scope(SHARED_PROFILE)]
    found = [memory for key in dict.fromkeys(near) for memory in rows.filter(scope=key)[:limit]]
    return sorted(found, key=lambda memory: (memory.updated_at, memory.pk), reverse=True)[:limit]


def _checkpoints(caller: Caller, limit: int) -> list[LatestCheckpoint]:
    return [
        LatestCheckpoint(
            checkpoint_id=memory.stable_id,
            title=memory.title,
            important=memory.checkpoint.important,
            completed=memory.checkpoint.completed[:TEXT_CHARACTERS],
            scope=memory.scope_id,
            project_id=memory.project_id,
            created_at=local(memory.created_at, caller.zone),
        )
        for memory in _latest(caller, Resource.CHECKPOINT, limit)
    ]


def _jobs(caller: Caller, limit: int) -> list[JobLine]:
    """What runs or waits, then what ended last."""
    under_way = Q(state__in=[FolderJob.State.RUNNING, FolderJob.State.WAITING, FolderJob.State.PAUSED])
    rows: list[QuerySet[FolderJob]] = [
        FolderJob.objects.filter(under_way).order_by("-created_at"),
        FolderJob.objects.exclude(under_way).order_by("-created_at"),
    ]
    jobs = [job for part in rows for job in part[: limit * 4] if may_see(caller, job.scope_key)]
    return [
        JobLine(
            job_id=job.pk,
            kind=job.kind,
            state=job.state,
            scope=job.scope_key,
            done=job.done,
            total=job.total,
            error=job.error,
            updated_at=job.updated_at,
        )
        for job in jobs[:limit]
    ]

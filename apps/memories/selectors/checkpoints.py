"""Checkpoints: one, the latest, and lists."""

from datetime import datetime

from django.db.models import Q, QuerySet

from apps.base.days import local
from apps.base.paging import cursor_of, position_of
from apps.memories import documents
from apps.memories.doors import memory_for, scope_for, visible_scopes
from apps.memories.errors import CheckpointUnknown, MemoryUnknown
from apps.memories.models import Checkpoint, Memory, Resource, Status
from apps.memories.reading import current
from apps.memories.schemas import (
    CheckpointItem,
    CheckpointListOut,
    CheckpointOut,
    ImportantOnly,
    LatestCheckpointOut,
    Limit,
    MemoryRef,
    PageCursor,
    ProjectRef,
    ScopeRef,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation

FIELDS = ("completed", "reason", "key_changes", "verification", "problems", "solutions", "next_steps")


@operation(needs=Right.READ, answers=CheckpointOut)
def checkpoint_get(caller: Caller, *, checkpoint_id: MemoryRef) -> CheckpointOut:
    """Read one checkpoint."""
    try:
        memory = memory_for(caller, checkpoint_id, resources=[Resource.CHECKPOINT])
    except MemoryUnknown:
        raise CheckpointUnknown(checkpoint_id=checkpoint_id) from None
    return checkpoint_out(caller, memory)


@operation(needs=Right.READ, answers=LatestCheckpointOut)
def checkpoint_latest(caller: Caller, *, project_id: ProjectRef = "", scope: ScopeRef = "") -> LatestCheckpointOut:
    """Read the latest checkpoint of a workspace: where work stopped and what comes next."""
    latest = latest_checkpoint(scope_for(caller, scope, project_id))
    return LatestCheckpointOut(checkpoint=checkpoint_out(caller, latest) if latest else None)


@operation(needs=Right.READ, answers=CheckpointListOut)
def checkpoint_list(
    caller: Caller,
    *,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    important: ImportantOnly = False,
    limit: Limit = 20,
    cursor: PageCursor = "",
) -> CheckpointListOut:
    """List the checkpoints of a workspace, the newest first; without one, those of every workspace."""
    named = scope or project_id or caller.project_id
    rows = _checkpoints(*([scope_for(caller, scope, project_id)] if named else visible_scopes(caller)))
    if important:
        rows = rows.filter(checkpoint__important=True)
    if cursor:
        stamp, key = position_of(cursor, str, int)
        at = datetime.fromisoformat(stamp)
        rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=key))
    page = list(rows[: limit + 1])
    return CheckpointListOut(
        checkpoints=[CheckpointItem(**_fields(caller, memory)) for memory in page[:limit]],
        next_cursor=cursor_of(page[limit - 1].created_at.isoformat(), page[limit - 1].pk) if len(page) > limit else "",
    )


def latest_checkpoint(scope_key: str) -> Memory | None:
    return _checkpoints(scope_key).first()


def checkpoint_out(caller: Caller, memory: Memory) -> CheckpointOut:
    read = current(memory)
    fresh = _checkpoints(read.memory.scope_id).get(pk=read.memory.pk)
    return CheckpointOut(
        **_fields(caller, fresh),
        body=documents.body_text(read.document),
        broken=fresh.checkpoint.broken,
        warnings=[*read.warnings, *(["headings_broken"] if fresh.checkpoint.broken else [])],
    )


def _checkpoints(*scope_keys: str) -> QuerySet[Memory]:
    return (
        Memory.objects.filter(scope__in=scope_keys, resource=Resource.CHECKPOINT, status=Status.ACTIVE)
        .select_related("checkpoint")
        .order_by("-created_at", "-pk")
    )


def _fields(caller: Caller, memory: Memory) -> dict[str, object]:
    checkpoint: Checkpoint = memory.checkpoint
    return {
        "checkpoint_id": memory.stable_id,
        "memory_id": memory.stable_id,
        "title": memory.title,
        "important": checkpoint.important,
        "scope": memory.scope_id,
        "project_id": memory.project_id,
        "path": memory.path,
        "revision": memory.revision,
        "created_at": local(memory.created_at, caller.zone),
        "updated_at": local(memory.updated_at, caller.zone),
        **{name: getattr(checkpoint, name) for name in FIELDS},
    }

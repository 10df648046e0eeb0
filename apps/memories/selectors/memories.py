"""One memory, and lists of them."""

from datetime import datetime

from django.db.models import Q, QuerySet

from apps.base.days import bound
from apps.base.paging import cursor_of, position_of
from apps.base.text import fold
from apps.memories.doors import memory_for, scope_for, visible_scopes
from apps.memories.models import Memory, Scope
from apps.memories.reading import current, item_of, shown
from apps.memories.schemas import (
    AnyKind,
    Limit,
    MemoryListOut,
    MemoryOut,
    MemoryRef,
    PageCursor,
    ProjectRef,
    ResourceName,
    ScopeRef,
    StatusName,
    TagFilter,
    TimeFrom,
    TimeTo,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=MemoryOut)
def memory_get(caller: Caller, *, memory_id: MemoryRef) -> MemoryOut:
    """Read a memory's full text, newest edits outside included."""
    return shown(current(memory_for(caller, memory_id)), caller)


@operation(needs=Right.READ, answers=MemoryListOut)
def memory_list(
    caller: Caller,
    *,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    kind: AnyKind = "",
    tags: TagFilter = [],  # noqa: B006 - read, never changed
    status: StatusName = "active",
    resource: ResourceName = "memory",
    updated_from: TimeFrom = "",
    updated_to: TimeTo = "",
    limit: Limit = 20,
    cursor: PageCursor = "",
) -> MemoryListOut:
    """List memories, the last changed first, without their texts."""
    keys = (
        [scope_for(caller, scope, project_id)] if scope or project_id or caller.project_id else visible_scopes(caller)
    )
    rows = Memory.objects.filter(scope__in=keys)
    if status != "any":
        rows = rows.filter(status=status)
    if resource != "any":
        rows = rows.filter(resource=resource)
    if kind:
        rows = rows.filter(kind=kind)
    for tag in tags:
        rows = rows.filter(tag_rows__tag_key=fold(tag)[:200])
    if since := bound(updated_from, caller.zone, "updated_from"):
        rows = rows.filter(updated_at__gte=since)
    if until := bound(updated_to, caller.zone, "updated_to", end=True):
        rows = rows.filter(updated_at__lte=until)
    page = _page(rows, cursor, limit)
    more = page[limit:]
    last = page[limit - 1] if more else None
    return MemoryListOut(
        memories=[item_of(memory, caller) for memory in page[:limit]],
        next_cursor=cursor_of(last.updated_at.isoformat(), last.pk) if last else "",
        outside_changes_pending=Scope.objects.filter(key__in=keys, outside_pending=True).exists(),
    )


def _page(rows: QuerySet[Memory], cursor: str, limit: int) -> list[Memory]:
    if cursor:
        stamp, key = position_of(cursor, str, int)
        at = datetime.fromisoformat(stamp)
        rows = rows.filter(Q(updated_at__lt=at) | Q(updated_at=at, pk__lt=key))
    return list(rows.order_by("-updated_at", "-pk")[: limit + 1])

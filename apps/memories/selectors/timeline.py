"""What happened in a scope, step by step."""

from collections import defaultdict

from apps.base.days import bound, local
from apps.base.paging import cursor_of, position_of
from apps.memories.doors import scope_for
from apps.memories.models import MemoryRevision, Resource, ScopeCommit
from apps.memories.schemas import (
    Limit,
    PageCursor,
    ProjectRef,
    ScopeRef,
    TimeFrom,
    TimelineChange,
    TimelineEntry,
    TimelineOut,
    TimeTo,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation

CHANGES_SHOWN = 10


@operation(needs=Right.READ, answers=TimelineOut)
def timeline_get(
    caller: Caller,
    *,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    since: TimeFrom = "",
    until: TimeTo = "",
    limit: Limit = 20,
    cursor: PageCursor = "",
) -> TimelineOut:
    """Show what happened in a workspace, the newest first: every commit with its first ten changes, and checkpoints."""
    rows = ScopeCommit.objects.filter(scope=scope_for(caller, scope, project_id)).select_related("operation")
    if start := bound(since, caller.zone, "since"):
        rows = rows.filter(at__gte=start)
    if end := bound(until, caller.zone, "until", end=True):
        rows = rows.filter(at__lte=end)
    if cursor:
        rows = rows.filter(version__lt=position_of(cursor, int)[0])
    page = list(rows.order_by("-version")[: limit + 1])
    changes = _changes(page[:limit])
    return TimelineOut(
        entries=[_entry(caller, commit, changes[commit.pk]) for commit in page[:limit]],
        next_cursor=cursor_of(page[limit - 1].version) if len(page) > limit else "",
    )


def _changes(commits: list[ScopeCommit]) -> dict[int, list[TimelineChange]]:
    changes: dict[int, list[TimelineChange]] = defaultdict(list)
    rows = MemoryRevision.objects.filter(commit__in=commits).select_related("memory").defer("document").order_by("pk")
    for row in rows:
        changes[row.commit_id].append(
            TimelineChange(
                memory_id=row.memory.stable_id,
                title=row.title,
                resource=row.memory.resource,
                action=row.action,
                revision=row.number,
            )
        )
    return changes


def _entry(caller: Caller, commit: ScopeCommit, changes: list[TimelineChange]) -> TimelineEntry:
    is_checkpoint = any(change.resource == Resource.CHECKPOINT and change.action == "save" for change in changes)
    return TimelineEntry(
        at=local(commit.at, caller.zone),
        entry="checkpoint" if is_checkpoint else "change",
        scope=commit.scope_id,
        version=commit.version,
        operation=commit.operation.name,
        operation_id=commit.operation_id,
        actor=commit.operation.actor,
        origin=commit.operation.origin,
        reason=commit.operation.reason,
        total=len(changes),
        changes=changes[:CHANGES_SHOWN],
    )

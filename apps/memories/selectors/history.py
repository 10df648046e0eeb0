"""What a memory was: its revisions, one of them, and what changed between two."""

from apps.base.days import local
from apps.base.paging import cursor_of, position_of
from apps.memories import documents
from apps.memories.differences import difference
from apps.memories.doors import memory_for
from apps.memories.errors import RevisionUnknown
from apps.memories.models import Memory, MemoryRevision
from apps.memories.reading import current
from apps.memories.schemas import (
    DifferenceOut,
    HistoryOut,
    Limit,
    MemoryRef,
    OldRevision,
    PageCursor,
    RevisionItem,
    RevisionOut,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=HistoryOut)
def memory_history(caller: Caller, *, memory_id: MemoryRef, limit: Limit = 50, cursor: PageCursor = "") -> HistoryOut:
    """List the revisions of a memory, the newest first: who, when, what and why. Deleted memories have theirs too."""
    memory = memory_for(caller, memory_id, deleted=True)
    rows = MemoryRevision.objects.filter(memory=memory).select_related("commit").defer("document").order_by("-number")
    if cursor:
        rows = rows.filter(number__lt=position_of(cursor, int)[0])
    page = list(rows[: limit + 1])
    return HistoryOut(
        memory_id=memory.stable_id,
        title=memory.title,
        current=memory.revision,
        revisions=[RevisionItem(**_revision(row, caller)) for row in page[:limit]],
        next_cursor=cursor_of(page[limit - 1].number) if len(page) > limit else "",
    )


@operation(needs=Right.READ, answers=RevisionOut)
def memory_revision_get(caller: Caller, *, memory_id: MemoryRef, revision: OldRevision) -> RevisionOut:
    """Read the text a memory had at one revision."""
    memory = memory_for(caller, memory_id, deleted=True)
    row = revision_of(memory, revision)
    document = bytes(row.document)
    said = documents.read_facts(document, fallback_title=row.title)
    return RevisionOut(
        memory_id=memory.stable_id,
        scope=memory.scope_id,
        resource=memory.resource,
        kind=said.kind,
        note_type=said.note_type,
        summary=said.summary,
        tags=list(said.tags),
        body=documents.body_text(document),
        **_revision(row, caller),
    )


@operation(needs=Right.READ, answers=DifferenceOut)
def memory_diff(
    caller: Caller, *, memory_id: MemoryRef, from_revision: OldRevision, to_revision: OldRevision | None = None
) -> DifferenceOut:
    """Show what changed between two revisions of a memory; without ``to_revision``, up to now."""
    memory = memory_for(caller, memory_id, deleted=True)
    if to_revision is None:
        memory = current(memory).memory if memory.status != "deleted" else memory
    newer = memory.revision if to_revision is None else to_revision
    old, new = revision_of(memory, from_revision), revision_of(memory, newer)
    shown = difference(
        documents.body_text(bytes(old.document)),
        documents.body_text(bytes(new.document)),
        f"revision {old.number}",
        f"revision {new.number}",
    )
    return DifferenceOut(
        memory_id=memory.stable_id,
        from_revision=old.number,
        to_revision=new.number,
        difference=shown.text,
        added=shown.added,
        removed=shown.removed,
        truncated=shown.truncated,
    )


def revision_of(memory: Memory, number: int) -> MemoryRevision:
    """One revision's row. Raises ``RevisionUnknown``."""
    row = MemoryRevision.objects.select_related("commit").filter(memory=memory, number=number).first()
    if row is None:
        raise RevisionUnknown(memory_id=memory.stable_id, revision=number)
    return row


def _revision(row: MemoryRevision, caller: Caller) -> dict[str, object]:
    return {
        "revision": row.number,
        "action": row.action,
        "title": row.title,
        "status": row.status,
        "path": row.path,
        "actor": row.actor,
        "origin": row.origin,
        "reason": row.reason,
        "warning": row.warning,
        "scope_version": row.commit.version,
        "operation_id": row.commit.operation_id,
        "at": local(row.at, caller.zone),
    }

"""Searching: the words in the index, the place in the text."""

from apps.base.days import bound, local
from apps.base.rows import rows_where
from apps.changes.selectors import head
from apps.memories.doors import outside_pending, searched_scopes
from apps.memories.models import Memory
from apps.memories.reading import newest_bodies
from apps.memories.schemas import (
    AnyKind,
    Limit,
    PageCursor,
    ProjectRef,
    Query,
    ResourceName,
    ScopeRef,
    SearchHit,
    SearchOut,
    StatusName,
    TagFilter,
    TimeFrom,
    TimeTo,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.search.cursors import Cursor, Reason, decode, encode, query_hash
from apps.search.excerpts import excerpt
from apps.search.filters import SearchFilters
from apps.search.query import Hit, search_text


@operation(needs=Right.READ, answers=SearchOut)
def memory_search(
    caller: Caller,
    *,
    query: Query,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    kind: AnyKind = "",
    tags: TagFilter = [],  # noqa: B006 - read, never changed
    status: StatusName = "active",
    resource: ResourceName = "any",
    updated_from: TimeFrom = "",
    updated_to: TimeTo = "",
    limit: Limit = 10,
    cursor: PageCursor = "",
) -> SearchOut:
    """Find memories, checkpoints and curated documents by words, best first.

    With a workspace it looks there, in the library and in your own and the shared space.
    """
    keys = searched_scopes(caller, scope, project_id)
    asked = query_hash(
        query, {"scopes": keys, "k": kind, "t": tags, "s": status, "r": resource, "u": [updated_from, updated_to]}
    )
    now_at = head()
    start = decode(cursor, asked) if cursor else Cursor(asked, 0, now_at)
    found = search_text(
        query,
        SearchFilters(
            keys,
            resources=None if resource == "any" else (resource,),
            statuses=None if status == "any" else (status,),
            kinds=(kind,) if kind else None,
            tags=tags or None,
            updated_from=bound(updated_from, caller.zone, "updated_from"),
            updated_to=bound(updated_to, caller.zone, "updated_to", end=True),
        ),
        limit=limit,
        offset=start.offset,
    )
    reason = found.reason or _doubt(keys, stale=start.is_stale(now_at))
    return SearchOut.model_construct(
        results=_hits(caller, query, found.hits, keys),
        complete=found.complete and reason is None,
        reason=reason.value if reason else None,
        next_cursor=encode(Cursor(asked, start.offset + limit, start.head)) if found.more else "",
    )


def _doubt(keys: list[str], *, stale: bool) -> Reason | None:
    if stale:
        return Reason.CURSOR_STALE
    if outside_pending(keys):
        return Reason.OUTSIDE_CHANGES_PENDING
    return None


def _hits(caller: Caller, query: str, hits: list[Hit], scope_keys: list[str]) -> list[SearchHit]:
    """The hits with their rows and the place of the match; a row that went meanwhile, or elsewhere, is left out."""
    ids = [hit.stable_id for hit in hits]
    if not ids:
        return []
    rows = rows_where(Memory, f"stable_id IN ({', '.join(['%s'] * len(ids))})", ids)
    rows = [row for row in rows if row.scope_id in scope_keys]
    if not rows:
        return []
    memories = {memory.stable_id: memory for memory in rows}
    texts = newest_bodies(rows)
    return [_hit(caller, query, memories[key], texts.get(memories[key].pk, "")) for key in ids if key in memories]


def _hit(caller: Caller, query: str, memory: Memory, body: str) -> SearchHit:
    shown = excerpt(body, query)
    return SearchHit.model_construct(
        memory_id=memory.stable_id,
        title=memory.title,
        excerpt=shown.text,
        marks=list(shown.marks),
        resource=memory.resource,
        kind=memory.kind,
        tags=memory.tags,
        status=memory.status,
        scope=memory.scope_id,
        project_id=memory.project_id,
        path=memory.path,
        revision=memory.revision,
        updated_at=local(memory.updated_at, caller.zone),
    )

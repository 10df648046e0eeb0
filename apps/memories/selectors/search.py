"""Searching: by words and by meaning, the place of the match in the text, several wordings of one thing as one hit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings

from apps.base.days import bound, local
from apps.changes.selectors import head
from apps.memories.doors import outside_pending, searched_scopes
from apps.memories.reading import Text, newest_texts
from apps.memories.schemas import (
    AnyKind,
    Explain,
    Limit,
    PageCursor,
    ProjectRef,
    Query,
    ResourceName,
    ScopeRef,
    SearchHit,
    SearchMode,
    SearchOut,
    StatusName,
    TagFilter,
    TimeFrom,
    TimeTo,
    WhyOut,
)
from apps.memories.scopes import project_of
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.search.cursors import MAX_DEPTH, Cursor, Reason, decode, encode, query_hash
from apps.search.errors import CursorInvalid
from apps.search.excerpts import excerpt
from apps.search.explain import matched_words
from apps.search.filters import SearchFilters
from apps.search.folding import FOLDED_AT_MOST, Fold, folded, suspects, words_of
from apps.search.hybrid import DEEPEST, HybridHit, Mode, search_hybrid
from apps.search.likeness import said
from apps.search.query import search_text
from apps.search.ranking import FIRST

HOLDS_MUCH = (
    0.35  # A hit that holds this share of the query shows where its words stand, any other one its nearest piece.
)
SPARE = 5  # Read beyond the page, since some of its hits may turn out to be one thing in other words.


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
    mode: SearchMode = "hybrid",
    explain: Explain = False,
    limit: Limit = settings.SEARCH_LIMIT,
    cursor: PageCursor = "",
) -> SearchOut:
    """Find memories, checkpoints and curated documents by words and meaning, best first.

    With a workspace it looks there, in the library and in your own and the shared space.
    """
    keys = searched_scopes(caller, scope, project_id)
    told = {"scopes": keys, "k": kind, "t": tags, "s": status, "r": resource, "u": [updated_from, updated_to]}
    now_at = head()

    def digest(of: Mode) -> str:
        return query_hash(query, {**told, "m": of.value})

    used, start = _start(cursor, Mode(mode), digest, now_at)
    filters = SearchFilters(
        keys,
        resources=None if resource == "any" else (resource,),
        statuses=None if status == "any" else (status,),
        kinds=(kind,) if kind else None,
        tags=tags or None,
        updated_from=bound(updated_from, caller.zone, "updated_from"),
        updated_to=bound(updated_to, caller.zone, "updated_to", end=True),
    )
    shelf = _Shelf(keys)
    search = _by_words if used is Mode.TEXT else _by_meaning_too
    page = search(query, filters, used, start.offset, limit, shelf)
    reason = _doubt(keys, page.reason, stale=start.is_stale(now_at))
    return SearchOut.model_construct(
        results=_hits(caller, query, page, shelf, explain=explain),
        complete=reason is None,
        reason=reason.value if reason else None,
        mode=page.mode.value,
        next_cursor=encode(Cursor(digest(page.mode), start.offset + limit, start.head)) if page.more else "",
    )


class _Shelf:
    """What was read of documents for one search, each once: what words alone would show while meaning is looked up."""

    def __init__(self, scope_keys: Sequence[str]) -> None:
        self.scope_keys = scope_keys
        self.words: dict[int, frozenset[str]] = {}
        self._texts: dict[str, Text] = {}

    def fill(self, expected: Mapping[int, str]) -> None:
        """Read documents ahead: by key their stable ids."""
        self.texts(expected.values())
        self.words |= words_of(list(expected))

    def texts(self, stable_ids: Iterable[str]) -> Mapping[str, Text]:
        """The texts of these, among others; those that lie in no searched scope are missing."""
        missing = [stable_id for stable_id in stable_ids if stable_id not in self._texts]
        if missing:
            self._texts |= newest_texts(missing, self.scope_keys)
        return self._texts


@dataclass(frozen=True, slots=True)
class _Page:
    """``also``: by document the ids of those that say the same."""

    hits: Sequence[HybridHit]
    more: bool
    mode: Mode
    reason: Reason | None
    also: Mapping[int, list[str]] = field(default_factory=dict)


def _start(cursor: str, mode: Mode, digest: Callable[[Mode], str], now_at: int) -> tuple[Mode, Cursor]:
    """Where the page begins. A search that had to go by words alone goes on so, whatever has come up meanwhile."""
    if not cursor:
        return mode, Cursor("", 0, now_at)
    try:
        return mode, decode(cursor, digest(mode))
    except CursorInvalid:
        return Mode.TEXT, decode(cursor, digest(Mode.TEXT))


def _by_words(query: str, filters: SearchFilters, _mode: Mode, offset: int, limit: int, _shelf: _Shelf) -> _Page:
    found = search_text(query, filters, limit=limit, offset=offset)
    return _Page([HybridHit.of_words(hit) for hit in found.hits], found.more, Mode.TEXT, found.reason)


def _by_meaning_too(query: str, filters: SearchFilters, mode: Mode, offset: int, limit: int, shelf: _Shelf) -> _Page:
    end = min(offset + limit, MAX_DEPTH)
    for wanted in (end + SPARE, DEEPEST):
        found = search_hybrid(query, filters, mode=mode, wanted=wanted, meanwhile=shelf.fill)
        if found.mode is Mode.TEXT:
            page = _by_words(query, filters, Mode.TEXT, offset, limit, shelf)
            return replace(page, reason=found.reason or page.reason)
        hits = {hit.document_id: hit for hit in found.hits}
        shown = _without_twins(hits, filters, end, shelf)
        if len(shown) > end or len(hits) < wanted:
            break  # A page follows, or there are no more hits. Otherwise so many were twins that more are needed.
    is_deep = end == MAX_DEPTH and len(shown) > end
    return _Page(
        [hits[fold.document_id] for fold in shown[offset:end]],
        len(shown) > end and not is_deep,
        mode,
        Reason.DEPTH_LIMIT if is_deep else found.reason,
        {fold.document_id: [hits[key].stable_id for key in fold.also] for fold in shown[offset:end] if fold.also},
    )


def _without_twins(hits: Mapping[int, HybridHit], filters: SearchFilters, end: int, shelf: _Shelf) -> list[Fold]:
    """Hits that say the same fold into the best of them; who narrows a search wants to see all that passes.

    Of pages so far as ``end`` it does not matter how far the hits are compared, since what comes later changes nothing before it.
    """
    order = list(hits)
    if not (filters.is_scope_only and settings.SEARCH_FOLD):
        return [Fold(key) for key in order]
    folds: list[Fold] = []
    for most in (end + SPARE, FOLDED_AT_MOST):
        folds = _folded(hits, order[:most], shelf)
        if len(folds) > end or most >= FOLDED_AT_MOST:
            break  # Enough of them, or all that are ever compared.
    return [*folds, *map(Fold, order[most:])]


def _folded(hits: Mapping[int, HybridHit], order: Sequence[int], shelf: _Shelf) -> list[Fold]:
    alike = suspects(order, shelf.words)
    if not alike:
        return [Fold(key) for key in order]
    looked_at = {*alike, *(other for others in alike.values() for other in others)}
    texts = shelf.texts(hits[key].stable_id for key in looked_at)
    found = ((key, texts.get(hits[key].stable_id)) for key in looked_at)
    wordings = {key: said(f"{text.title}\n{text.body}") for key, text in found if text is not None}
    return folded(order, alike, wordings.get)


def _doubt(keys: list[str], of_page: Reason | None, *, stale: bool) -> Reason | None:
    """Of several doubts the gravest. Vectors to come are the mildest: a store that is written to always has some."""
    if of_page not in (None, Reason.VECTORS_PENDING):
        return of_page
    if stale:
        return Reason.CURSOR_STALE
    return of_page or (Reason.OUTSIDE_CHANGES_PENDING if outside_pending(keys) else None)


def _hits(caller: Caller, query: str, page: _Page, shelf: _Shelf, *, explain: bool) -> list[SearchHit]:
    """The hits with their texts and the place of the match; one that went meanwhile, or elsewhere, is left out."""
    texts = shelf.texts(hit.stable_id for hit in page.hits)
    words = matched_words(query, [hit.document_id for hit in page.hits]) if explain else None
    shown = []
    for hit in page.hits:
        if (text := texts.get(hit.stable_id)) is not None:
            answer = _hit(caller, query, hit, text)
            answer.also = list(page.also.get(hit.document_id, ()))
            if words is not None:
                answer.score, answer.why = round(hit.score, 4), _why(hit, words[hit.document_id])
            shown.append(answer)
    return shown


def _hit(caller: Caller, query: str, hit: HybridHit, text: Text) -> SearchHit:
    near = hit.near
    is_by_meaning = near is not None and near.end > 0 and hit.share < HOLDS_MUCH and hit.revision == text.revision
    shown = excerpt(text.body, query, piece=(near.start, near.end) if near is not None and is_by_meaning else None)
    return SearchHit.model_construct(
        memory_id=text.stable_id,
        title=text.title,
        excerpt=shown.text,
        marks=list(shown.marks),
        resource=text.resource,
        kind=text.kind,
        tags=text.tags,
        status=text.status,
        scope=text.scope_key,
        project_id=project_of(text.scope_key),
        path=text.path,
        revision=text.revision,
        updated_at=local(text.updated_at, caller.zone),
        also=[],  # Said, since pydantic takes long over a default that has to be made.
        score=None,
        why=None,
    )


def _why(hit: HybridHit, words: list[str]) -> WhyOut:
    near, parts = hit.near, hit.parts
    return WhyOut.model_construct(
        match=hit.match.value,
        words=words,
        text=round(hit.share, 4),
        similarity=round(near.cosine, 4) if near else None,
        closeness=round(near.z, 4) if near else None,
        language=near.language if near else "",
        own=round(parts.own, 4) if parts else None,
        neighbours=round(parts.neighbours, 4) if parts else 0.0,
        thread=round(parts.thread, 4) if parts else 0.0,
        shape=round(parts.shape, 4) if parts else 0.0,
        first=hit.match.value if parts and hit.match in FIRST else "",
    )

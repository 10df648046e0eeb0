# ruff: noqa: S608 (Only constants of this room are put together; whatever was typed is a parameter.)
"""Asking the text index: one ladder from all words to any word, filters before the limit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.base.rows import fetched
from apps.search.cursors import MAX_DEPTH, Reason
from apps.search.errors import EmptyQuery
from apps.search.expressions import Ask, Match, Rung, any_of, understand
from apps.search.filters import SearchFilters
from apps.search.index import RANK

_FACTS = "d.id, d.stable_id, d.resource, d.scope_key, d.revision"
# CROSS JOIN keeps this order: the words lead, and a document is only looked up by its key. Sorting here keeps the best
# few; ORDER BY rank lets FTS5 prepare a statement of its own and sort them all (twice as slow for a rare word).
_RANKED = f"""
    SELECT {_FACTS}, {RANK.replace("(", "(search_text, ")} AS score
    FROM search_text CROSS JOIN search_document d ON d.id = search_text.rowid
    WHERE search_text MATCH %s AND {{filters}} ORDER BY score, d.id LIMIT %s
"""
_TITLED = f"""
    SELECT {_FACTS}, 0.0 FROM search_document d INDEXED BY search_document_title
    WHERE d.title_key = %s AND {{filters}} ORDER BY d.updated_at DESC, d.id LIMIT %s
"""
_BOUNDED_COUNT = "SELECT count(*) FROM (SELECT 1 FROM search_text WHERE search_text MATCH %s LIMIT %s)"

# Ranking costs a microsecond or two for each row and word. A question of common words would rank half of a large store,
# so it is asked by its rarer words, as many as stay within so many rows, and by these few at least.
ROWS_TO_RANK = 4_000
LEAST_WORDS = 3
# Where the words were found together already, though apart, any of them only fills the page: that may cost less still.
ROWS_TO_FILL = 400


@dataclass(frozen=True, slots=True)
class Hit:
    """``score`` is BM25 (higher is better) and compares only within the same ``match``."""

    document_id: int
    stable_id: str
    resource: str
    scope_key: str
    revision: int
    score: float
    match: Match


@dataclass(frozen=True, slots=True)
class TextHits:
    """One page. ``more`` says that a next page exists; ``mode`` is how the best hit was found."""

    hits: list[Hit]
    more: bool
    complete: bool
    reason: Reason | None
    mode: Match | None


def search_text(query: str, filters: SearchFilters, *, limit: int = 10, offset: int = 0) -> TextHits:
    """The documents that hold the words of ``query``, best first, at most ``MAX_DEPTH`` deep.

    All words first; any word after them where the page is not full, unless the words stood in a row somewhere.
    """
    ask = understand(query)
    if ask is None:
        raise EmptyQuery
    return _page(ask, filters, limit, offset)


def _page(ask: Ask, filters: SearchFilters, limit: int, offset: int) -> TextHits:
    end = min(offset + limit, MAX_DEPTH)
    found = _climb(ask, filters, end + 1)  # One more tells whether a page follows.
    rebuilding = is_rebuilding()
    hits = list(found.values())
    more = len(hits) > end
    reason = None
    if more and end == MAX_DEPTH:
        more, reason = False, Reason.DEPTH_LIMIT
    elif rebuilding:
        reason = Reason.INDEX_REBUILDING
    elif ask.is_shortened:
        reason = Reason.QUERY_SHORTENED
    mode = hits[0].match if hits else None
    return TextHits(hits[offset:end], more, reason is None, reason, Match.ALL_WORDS if mode is Match.TITLE else mode)


def _climb(ask: Ask, filters: SearchFilters, wanted: int) -> dict[int, Hit]:
    found: dict[int, Hit] = {}
    where, values = filters.where()
    if ask.title_key:
        _take(fetched(_TITLED.format(filters=where), [ask.title_key, *values, wanted]), found, Match.TITLE, wanted)
    ranked = _RANKED.format(filters=where)
    stood_in_a_row = False
    for rung in ask.rungs:
        if len(found) >= wanted:
            break
        # Who types words that stand in a row somewhere looks for that place: texts that hold but one of them are noise.
        if found and (rung.is_last_resort or (stood_in_a_row and rung.match is Match.ANY_WORD)):
            continue
        if found and len(rung.alternatives) > 1:
            rung = _by_rarer_words(rung, least=1, rows_to_rank=ROWS_TO_FILL)
        elif len(rung.alternatives) > LEAST_WORDS:
            rung = _by_rarer_words(rung, least=LEAST_WORDS, rows_to_rank=ROWS_TO_RANK)
        _take(fetched(ranked, [rung.expression, *values, wanted]), found, rung.match, wanted)
        stood_in_a_row = stood_in_a_row or (rung.is_in_a_row and bool(found))
    return found


def _by_rarer_words(rung: Rung, *, least: int, rows_to_rank: int) -> Rung:
    if newest_document() <= rows_to_rank:
        return rung
    counted = rarer_words(counts(rung.alternatives, rows_to_rank), least=least, rows_to_rank=rows_to_rank)
    return any_of([alternative for alternative, _ in counted] or rung.alternatives[:1])


def newest_document() -> int:
    """The highest key, which is about how many documents there are and costs no counting."""
    [(newest,)] = fetched("SELECT max(id) FROM search_document", [])
    return int(newest or 0)


def counts(alternatives: Sequence[str], most: int) -> list[tuple[str, int]]:
    """In how many documents each of the words stands, counted to ``most``."""
    counted = []
    for alternative in alternatives:
        [(count,)] = fetched(_BOUNDED_COUNT, [alternative, most])
        counted.append((alternative, int(count)))
    return counted


def rarer_words(counted: Sequence[tuple[str, int]], *, least: int, rows_to_rank: int) -> list[tuple[str, int]]:
    """The rarest words that occur at all: ``least`` of them, and as many more as stay within so many rows."""
    known = sorted(((word, count) for word, count in counted if count), key=lambda pair: (pair[1], pair[0]))
    rows = 0
    for number, (_, count) in enumerate(known):
        rows += count
        if number >= least and rows > rows_to_rank:
            return known[:number]
    return known


def _take(rows: Iterable[tuple[Any, ...]], found: dict[int, Hit], match: Match, wanted: int) -> None:
    for key, stable_id, resource, scope_key, revision, rank in rows:
        if key not in found and len(found) < wanted:
            found[key] = Hit(key, stable_id, resource, scope_key, revision, -rank, match)


def is_rebuilding() -> bool:
    [(is_one,)] = fetched("SELECT EXISTS (SELECT 1 FROM search_rebuild)", [])
    return bool(is_one)

# ruff: noqa: S608 (Only constants of this room are put together; whatever was typed is a parameter.)
"""What the words of a query find for a search that also goes by meaning: exact hits, and scores that can be added up.

BM25 has no scale of its own. Divided by what a document would get that holds every word of the query, it tells how much of the
query was found, from 0 to about 1, and can be weighed against how near the meaning is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.base.rows import fetched
from apps.search.expressions import Ask, Match
from apps.search.filters import SearchFilters
from apps.search.index import RANK
from apps.search.query import LEAST_WORDS, ROWS_TO_RANK, counts, is_rebuilding, newest_document, rarer_words

SCORES_KEPT = 1_000  # Neighbours of a hit are looked up among these.
CODES_AT_MOST = 20  # Documents that hold the identifiers asked for come first, where they are few.
FEW_DOCUMENTS = 50
_OF_FEW = 0.7  # What a document that holds all words has of the most that bm25 could give, about.
_SATURATION = 2.2  # BM25's k1 + 1: what one word gives at most, times its rarity.

_SCORED = f"""
    SELECT d.id, {RANK.replace("(", "(search_text, ")} AS score
    FROM search_text CROSS JOIN search_document d ON d.id = search_text.rowid
    WHERE search_text MATCH %s AND {{filters}} ORDER BY score, d.id LIMIT %s
"""
_TITLED = """
    SELECT d.id FROM search_document d INDEXED BY search_document_title
    WHERE d.title_key = %s AND {filters} ORDER BY d.updated_at DESC, d.id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class TextSide:
    """``shares`` by document: how much of the query it holds. ``exact`` by document, best first, none twice."""

    shares: dict[int, float]
    exact: dict[int, Match]
    rebuilding: bool


NO_WORDS = TextSide({}, {}, rebuilding=False)


def text_side(ask: Ask, filters: SearchFilters, most: int) -> TextSide:
    """At most ``most`` exact hits of a kind, and the documents with most of the query's rarer words."""
    where, values = filters.where()
    ranked = _SCORED.format(filters=where)
    exact: dict[int, Match] = {}
    if ask.title_key:
        titled = fetched(_TITLED.format(filters=where), [ask.title_key, *values, most])
        exact = dict.fromkeys((key for (key,) in titled), Match.TITLE)
    is_one_word = ask.alternatives == (ask.in_a_row,)  # Then what holds it is ranked but once.
    in_a_row = fetched(ranked, [ask.in_a_row, *values, SCORES_KEPT if is_one_word else most])
    for key, _ in in_a_row[:most]:
        exact.setdefault(key, Match.IN_A_ROW)
    for key in _with_codes(ask, ranked, values):
        exact.setdefault(key, Match.CODE)
    shares = _shares(ask, ranked, values, in_a_row if is_one_word else None)
    return TextSide(shares, exact, is_rebuilding())


def _with_codes(ask: Ask, ranked: str, values: Sequence[Any]) -> list[int]:
    """Documents that hold the codes of the query. Where many do, the codes tell no more than other words."""
    if not ask.codes:
        return []
    found = [key for key, _ in fetched(ranked, [" AND ".join(ask.codes), *values, CODES_AT_MOST + 1])]
    return found if len(found) <= CODES_AT_MOST else []


def _shares(ask: Ask, ranked: str, values: Sequence[Any], known: Sequence[tuple[Any, ...]] | None) -> dict[int, float]:
    """``known`` are the scores, where all words of the query have been asked for already."""
    documents = newest_document()
    if documents < FEW_DOCUMENTS:
        return _shares_of_few(ask, ranked, values, documents)
    counted = counts(ask.alternatives, ROWS_TO_RANK)
    asked = rarer_words(counted, least=LEAST_WORDS, rows_to_rank=ROWS_TO_RANK)
    if not asked:
        return {}
    if known is None:
        known = fetched(ranked, [" OR ".join(word for word, _ in asked), *values, SCORES_KEPT])
    # A word that occurs nowhere takes its part of the share away: what is asked for is not there.
    absent = [0 for _, count in counted if not count]
    whole = _SATURATION * sum(_rarity(documents, count) for count in [*absent, *(count for _, count in asked)])
    return {key: -rank / whole for key, rank in known}


def _shares_of_few(ask: Ask, ranked: str, values: Sequence[Any], documents: int) -> dict[int, float]:
    """In a store of a few documents a word that half of them hold is worth nothing to bm25, so they are counted here."""
    held: dict[int, float] = {}
    whole = 0.0
    for word in ask.alternatives:
        found = [key for key, _ in fetched(ranked, [word, *values, SCORES_KEPT])]
        worth = math.log(1 + (documents - len(found) + 0.5) / (len(found) + 0.5))
        whole += worth
        for key in found:
            held[key] = held.get(key, 0.0) + worth
    order = sorted(held, key=lambda key: (-held[key], -key))
    return {key: _OF_FEW * held[key] / whole for key in order}


def _rarity(documents: int, holding: int) -> float:
    """The weight that FTS5's bm25 gives to a word, by how many documents hold it."""
    return max(math.log((documents - holding + 0.5) / (holding + 0.5)), 1e-6)

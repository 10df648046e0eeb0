"""Searching by words and by meaning at once.

Each side gives a number with a scale: how much of the query a document holds (``candidates.py``), and by how many standard
deviations its best piece is nearer to the query than the pieces of its language are on average. Their sum ranks, so that
languages merge and neither side's noise gets a say by mere rank. What was said just before and after in the same thread
adds a share (``threads.py``). Exact hits stay first. What moved the figures and what did not: docs/search.md.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings

from apps.base.rows import fetched
from apps.search.candidates import NO_WORDS, TextSide, text_side
from apps.search.cursors import MAX_DEPTH, Reason
from apps.search.errors import EmptyQuery
from apps.search.expressions import Ask, Match, understand
from apps.search.filters import SearchFilters
from apps.search.query import Hit
from apps.search.ranking import (
    KEPT_IN_SIGHT,
    OWN_LANGUAGE,
    Candidate,
    Parts,
    Ranked,
    Weights,
    in_order,
    kept_in_sight,
    least_meaning,
    meaning_score,
    own_score,
)
from apps.search.threads import surroundings
from apps.search.vectors import asking
from apps.search.vectors.asking import Asking
from apps.search.vectors.near import NearDocument
from apps.search.vectors.pieces import language_of

POOL = 60  # So many of the best by themselves, and their neighbours, are ranked in full; the others follow as they are.
EXPECTED = 15  # So many of the best by words are likely to be shown.
DEEPEST = MAX_DEPTH + 20  # Some may be one thing in other words.

# NOT INDEXED leaves the primary key: SQLite would rather walk through the scope's whole index than look up sixty keys.
# The keys as one value make one statement of it however many they are, which SQLite then prepares but once.
_FACTS = """
    SELECT d.id, d.stable_id, d.resource, d.scope_key, d.revision, d.thread, d.length, d.asks
    FROM json_each(%s) AS k CROSS JOIN search_document d NOT INDEXED ON d.id = k.value WHERE {filters}
"""


class Mode(StrEnum):
    HYBRID = "hybrid"
    TEXT = "text"
    SEMANTIC = "semantic"


class HybridHit(NamedTuple):
    """``near`` is the best piece of the document by meaning, where it has vectors; ``share`` how much of the query it holds."""

    document_id: int
    stable_id: str
    resource: str
    scope_key: str
    revision: int
    match: Match
    score: float
    share: float = 0.0
    near: NearDocument | None = None
    parts: Parts | None = None

    @classmethod
    def of_words(cls, hit: Hit) -> "HybridHit":
        """A hit of the text index alone."""
        return cls(hit.document_id, hit.stable_id, hit.resource, hit.scope_key, hit.revision, hit.match, hit.score)


@dataclass(frozen=True, slots=True)
class HybridHits:
    """Best first; ``mode`` is what was searched by."""

    hits: list[HybridHit]
    mode: Mode
    reason: Reason | None


class _Facts(NamedTuple):
    stable_id: str
    resource: str
    scope_key: str
    revision: int
    candidate: Candidate


def _nothing(_: Mapping[int, str]) -> None: ...


def search_hybrid(
    query: str,
    filters: SearchFilters,
    *,
    mode: Mode = Mode.HYBRID,
    wanted: int = 10,
    meanwhile: Callable[[Mapping[int, str]], None] = _nothing,
) -> HybridHits:
    """The best of what ``query`` says or means, ``wanted`` of them and perhaps some more.

    Where there is time while meaning is looked up, ``meanwhile`` is told what words alone would show first: by document its
    stable id.

    Without vectors (switched off, still starting, out of order) there are no hits: ``mode`` is then text, which the caller
    is to ask for instead, and ``reason`` says what is the matter. It is also text where a code is asked for that stands
    nowhere as it is.
    """
    if not any(map(str.isalnum, query)) and understand(query) is None:
        raise EmptyQuery  # Before anybody is asked what signs mean.
    begun = asking.begin(query, filters.scope_keys)  # Meaning is looked for while the words are cut and looked up.
    try:
        ask = understand(query)
        if ask is None:
            raise EmptyQuery
        return _answer(ask, filters, mode, wanted, begun, meanwhile)
    finally:
        begun.close()


def _answer(
    ask: Ask,
    filters: SearchFilters,
    mode: Mode,
    wanted: int,
    begun: Asking,
    meanwhile: Callable[[Mapping[int, str]], None],
) -> HybridHits:
    if not begun.is_on or begun.reason is not None:
        return HybridHits([], Mode.TEXT, begun.reason)
    words = text_side(ask, filters, DEEPEST) if mode is Mode.HYBRID else NO_WORDS
    if mode is Mode.HYBRID and ask.is_code and not (words.exact or words.shares or words.rebuilding):
        return HybridHits([], Mode.TEXT, None)  # What means much the same as a code is another code.
    # How deep it is looked does not depend on the page, or one hit would have another place on each.
    depth = settings.SEARCH_DEPTH
    for checked in (False, True):  # The second time only where one of them turns out to have gone or changed.
        begun.ask(filters, also=_most(words.shares, depth), limit=depth, checked=checked)
        search = _Search(filters, begun, words, mode)
        expected = search.look_ahead()
        if begun.is_at_work and not checked:
            meanwhile(expected)
        near = begun.answer()
        if not near.available:
            return HybridHits([], Mode.TEXT, near.reason)
        hits = search.best(near.documents, wanted)
        if not search.met_fallen:
            break
    if len(hits) < wanted and search.near_hits >= depth:  # Else there is nothing near further off.
        hits += search.further(begun.finish(filters, limit=DEEPEST).documents)
    return HybridHits(hits, mode, _reason(ask, words, near.reason))


def _reason(ask: Ask, words: TextSide, reason: Reason | None) -> Reason | None:
    if words.rebuilding:
        return Reason.INDEX_REBUILDING
    return Reason.QUERY_SHORTENED if ask.is_shortened else reason


def _most(shares: Mapping[int, float], most: int) -> list[int]:
    """The first ones: they come in their order."""
    return [key for key, _ in zip(shares, range(most), strict=False)]


class _Search:
    """One search under way: what each side found, and what was looked up about it."""

    def __init__(self, filters: SearchFilters, begun: Asking, words: TextSide, mode: Mode) -> None:
        self.language = language_of(begun.query)
        self.filters = filters
        self.begun = begun
        self.words = words
        self.near: dict[int, NearDocument] = {}
        self.near_hits = 0
        self.met_fallen = False  # Whether something near has gone, changed or been filtered out since.
        self._nearest: frozenset[int] = frozenset()
        self._facts: dict[int, _Facts] = {}
        self.ranked: set[int] = set()  # What has had its chance to be a hit.
        self._scores: dict[int, float] = {}
        self.weights = Weights(
            settings.SEARCH_TEXT_WEIGHT if mode is Mode.HYBRID else 0.0, settings.SEARCH_THREAD_WEIGHT
        )

    def look_ahead(self) -> dict[int, str]:
        """Look up what will be asked of the best by words; the stable ids of the very best."""
        best = list(dict.fromkeys([*self.words.exact, *_most(self.words.shares, POOL)]))[:POOL]
        self._look_facts_up(best)
        return {key: self._facts[key].stable_id for key in best[:EXPECTED] if key in self._facts}

    def best(self, near: Iterable[NearDocument], wanted: int) -> list[HybridHit]:
        """The order does not depend on how many are wanted, so that pages fit together."""
        self.near = {one.document_id: one for one in near}
        self._nearest = frozenset(self.near)
        found = {key for key, one in self.near.items() if self._is_near(one)}
        self.near_hits = len(found)
        # Of what has words alone no more than these can be among the first: what is near may be rated below them.
        found.update(self.words.exact, _most(self.words.shares, POOL + len(self.near)))
        first = dict.fromkeys([*self._by_themselves(found)[:POOL], *_most(self.words.shares, KEPT_IN_SIGHT)])
        near_by, pool = self._with_neighbours(list(first))
        known = set(pool)
        others: list[int] = []
        if wanted > len(pool):
            found.update(_most(self.words.shares, DEEPEST))
            others = self._by_themselves(found - known)[: DEEPEST - len(pool)]
        hits = {hit.document_id: hit for hit in self._in_order(pool, near_by)}
        exact = sum(1 for key in hits if key in self.words.exact)
        self.ranked = found | known
        order = kept_in_sight(list(hits), {key: hit.share for key, hit in hits.items() if hit.share}, exact)
        return [*(hits[key] for key in order), *self._in_order(others, {})]

    def _by_themselves(self, keys: Iterable[int]) -> list[int]:
        return sorted(keys, key=lambda key: (key in self.words.exact, self._own(key), key), reverse=True)

    def further(self, near: Iterable[NearDocument]) -> list[HybridHit]:
        """What lies further off by meaning alone, behind all that was ranked."""
        unranked = [one for one in near if one.document_id not in self.ranked and self._is_near(one)]
        self._learn(unranked)
        return self._in_order([one.document_id for one in unranked], {})

    def _is_near(self, one: NearDocument) -> bool:
        return one.z >= least_meaning(settings.SEARCH_MEANING_FLOOR, one.among)

    def _with_neighbours(self, pool: list[int]) -> tuple[dict[int, dict[int, int]], list[int]]:
        self._look_facts_up(pool)
        in_threads = [key for key in pool if key in self._facts and self._facts[key].candidate.thread[1]]
        near_by = surroundings(in_threads) if in_threads and self.weights.threads else {}
        if near_by:
            pool = list(dict.fromkeys([*pool, *_next_to(near_by)]))
            near_by |= surroundings([key for key in pool if key not in near_by])
            self._look_up({key for neighbours in near_by.values() for key in neighbours})
        return near_by, pool

    def _in_order(self, keys: Sequence[int], near_by: Mapping[int, Mapping[int, int]]) -> list[HybridHit]:
        self._look_facts_up(keys)
        self._drop_fallen(keys)
        facts = {key: self._facts[key] for key in keys if key in self._facts}
        own = {key: self._own(key) for key in [*facts, *(key for near in near_by.values() for key in near)]}
        order = in_order([one.candidate for one in facts.values()], own, near_by, self.weights)
        return [self._hit(facts[one.document_id], one) for one in order]

    def _own(self, key: int) -> float:
        if key not in self._scores:
            self._scores[key] = self._score(key)
        return self._scores[key]

    def _score(self, key: int) -> float:
        near = self.near.get(key)
        meaning = None
        if near is not None:
            z = near.z + OWN_LANGUAGE if near.language == self.language else near.z
            meaning = meaning_score(z, near.among)
        return own_score(self.words.shares.get(key, 0.0), meaning, self.weights)

    def _learn(self, near: Iterable[NearDocument]) -> None:
        for one in near:
            self.near[one.document_id] = one
            self._scores.pop(one.document_id, None)

    def _look_up(self, neighbours: Iterable[int]) -> None:
        """How near the neighbours are that neither side brought. They count whatever the filters say, in the same scopes."""
        unknown = [key for key in neighbours if key not in self.near]
        if unknown:
            self._learn(self.begun.scores(unknown, SearchFilters(self.filters.scope_keys)))

    def _look_facts_up(self, keys: Iterable[int]) -> None:
        """Of those that pass the filters now."""
        unknown = [key for key in keys if key not in self._facts]
        if not unknown:
            return
        where, values = self.filters.where()
        rows = fetched(_FACTS.format(filters=where), [json.dumps(unknown), *values])
        for key, stable_id, resource, scope_key, revision, thread, length, asks in rows:
            candidate = Candidate(key, (scope_key, thread), length, asks, self.words.exact.get(key))
            self._facts[key] = _Facts(stable_id, resource, scope_key, revision, candidate)

    def _drop_fallen(self, keys: Iterable[int]) -> None:
        """A piece of an older revision does not count."""
        for key in keys:
            near, facts = self.near.get(key), self._facts.get(key)
            if near is not None and (facts is None or near.revision != facts.revision):
                del self.near[key]
                self._scores.pop(key, None)
                self.met_fallen = self.met_fallen or key in self._nearest

    def _hit(self, facts: _Facts, one: Ranked) -> HybridHit:
        key = one.document_id
        share = self.words.shares.get(key, 0.0)
        match = facts.candidate.exact or (Match.ANY_WORD if share else Match.MEANING)
        return HybridHit(
            key, facts.stable_id, facts.resource, facts.scope_key, facts.revision, match, one.parts.score, share,
            self.near.get(key), one.parts,
        )  # fmt: skip


def _next_to(near_by: Mapping[int, Mapping[int, int]]) -> Iterable[int]:
    """The documents just before and after: an answer may stand beside the words that were asked for."""
    return (key for neighbours in near_by.values() for key, distance in neighbours.items() if abs(distance) == 1)

"""The order of what was found by words and by meaning. Pure; the figures behind the numbers are in docs/search.md."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from apps.search.expressions import Match

# What a document borrows from its neighbours in the thread, by their distance; -1 is the one just before it.
BORROWED: Mapping[int, float] = {-1: 0.3, -2: 0.15, 1: 0.2, 2: 0.1}
OF_THE_THREAD = 0.3  # What it borrows from the best of its thread.
OWN_LANGUAGE = 0.3  # For a text in the language of the query: where languages are level, the reader's own comes first.
# The best by words alone stand among the first, whatever meaning says: it errs where many texts are of the same kind.
IN_SIGHT, KEPT_IN_SIGHT = 10, 2
LENGTH, TELLING_CHARACTERS = 0.5, 300  # A short text says little, and its vector is a chance hit more often.
STANDS_OUT = 0.75  # So far below what chance brings a text begins to stand out.
MANY_TEXTS = 100  # From so many passages on the floor is what the setting says.
ASKS = 1.0  # A text that asks is seldom the answer.

# Exact hits come before all others, in this order.
FIRST = {Match.TITLE: 2, Match.IN_A_ROW: 1, Match.CODE: 1}


@dataclass(frozen=True, slots=True)
class Weights:
    """``text`` weighs words against meaning; ``threads`` scales what is borrowed, 0 turns it off."""

    text: float = 24.0
    threads: float = 1.0


class Candidate(NamedTuple):
    document_id: int
    thread: tuple[str, str]  # Its scope and the name of the thread; the name is empty where there is none.
    length: int
    asks: int
    exact: Match | None = None


class Parts(NamedTuple):
    """What a score is made of."""

    own: float
    neighbours: float
    thread: float
    shape: float

    @property
    def score(self) -> float:
        return self.own + self.neighbours + self.thread + self.shape


class Ranked(NamedTuple):
    document_id: int
    parts: Parts


@lru_cache(maxsize=64)
def chance(among: int) -> float:
    """The ``z`` that the nearest of so many texts has by chance, about."""
    return math.sqrt(2 * math.log(max(among, 1)))


def meaning_score(z: float, among: int) -> float:
    """``z``, and more where it stands out of what chance brings among so many: then it is likely the answer."""
    outstanding = max(0.0, z - chance(max(among, 2)) + STANDS_OUT)
    return z + outstanding * outstanding


def least_meaning(floor: float, among: int) -> float:
    """The least ``z`` of a hit that holds none of the words. Few texts cannot stand out as far as many."""
    return floor * min(1.0, chance(among) / chance(MANY_TEXTS)) ** 2


def own_score(share: float, meaning: float | None, weights: Weights) -> float:
    """The square of the share: a word or two that occur by chance hardly count, most of the query counts much."""
    return (meaning or 0.0) + weights.text * share * share


def in_order(
    candidates: Sequence[Candidate],
    own: Mapping[int, float],
    near_by: Mapping[int, Mapping[int, int]],
    weights: Weights,
) -> list[Ranked]:
    """Best first: exact hits, then by score. ``own`` holds the neighbours' scores too."""
    borrowed = {
        key: weights.threads * sum(BORROWED[distance] * own.get(near, 0.0) for near, distance in neighbours.items())
        for key, neighbours in near_by.items()
    }
    best: dict[tuple[str, str], float] = {}
    for one in candidates:
        if one.thread[1]:
            together = own[one.document_id] + borrowed.get(one.document_id, 0.0)
            best[one.thread] = max(best.get(one.thread, 0.0), together)
    ranked = [
        (
            one,
            Ranked(
                one.document_id,
                Parts(
                    own=own[one.document_id],
                    neighbours=borrowed.get(one.document_id, 0.0),
                    thread=weights.threads * OF_THE_THREAD * best.get(one.thread, 0.0),
                    shape=shape_score(one.length, one.asks),
                ),
            ),
        )
        for one in candidates
    ]
    ranked.sort(
        key=lambda pair: (
            -FIRST.get(pair[0].exact, 0) if pair[0].exact else 0,
            -pair[1].parts.score,
            -pair[0].document_id,
        )
    )
    return [one for _, one in ranked]


def shape_score(length: int, asks: int) -> float:
    """0 for a text of some length that states something, below it otherwise."""
    told = min(length or TELLING_CHARACTERS, TELLING_CHARACTERS)  # 0 is a document that is all title.
    return LENGTH * math.log(told / TELLING_CHARACTERS) - ASKS * asks / 100


def kept_in_sight(order: Sequence[int], shares: Mapping[int, float], first: int) -> list[int]:
    """The order with the best by words lifted to the last of the first places, behind the ``first`` exact hits."""
    best = sorted(shares, key=lambda key: -shares[key])[:KEPT_IN_SIGHT]
    behind = [key for key in best if key in order[max(IN_SIGHT, first) :]]
    if not behind or first >= IN_SIGHT:
        return list(order)
    others = [key for key in order if key not in behind]
    place = max(first, IN_SIGHT - len(behind))
    return [*others[:place], *behind, *others[place:]]

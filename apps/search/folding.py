# ruff: noqa: S608 (Only constants of this room are put together; the keys are parameters.)
"""Folding what says the same: of several wordings of one thing a search shows the best, and names the others.

Comparing texts costs, so the index's own words tell first which documents might be alike at all. Whether they are, and
whether they contradict each other, ``likeness`` decides.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from apps.base.rows import fetched
from apps.search.likeness import Said, likeness, says_the_same

FOLDED_AT_MOST = 60  # Of the best hits; further down nobody minds.
_CHARACTERS = 300  # Beginnings tell which texts may be alike; whether they are, the whole texts do.
_MAY_SHARE = 0.6  # Of all words of both, as the index holds them.
_LEAST = _MAY_SHARE / (1 + _MAY_SHARE)  # Of the sum of both sizes: so many words they must share.
_BITS = tuple(1 << number for number in range(256))  # Each word sets one of these.
_SHARE = 0.6  # Of all telling words of both. A text that only repeats a part of another one says less, and stays.
_WORDS = f"SELECT rowid, substr(title || ' ' || body, 1, {_CHARACTERS}) FROM search_text WHERE rowid IN ({{marks}})"


@dataclass(slots=True)
class Fold:
    """A document to show, and those that say the same, best first."""

    document_id: int
    also: list[int] = field(default_factory=list)


def words_of(document_ids: Sequence[int]) -> dict[int, frozenset[str]]:
    """The words of their beginnings, by which ``suspects`` compares them."""
    rows = fetched(_WORDS.format(marks=", ".join(["%s"] * len(document_ids))), document_ids) if document_ids else ()
    return {key: frozenset(text.split()) for key, text in rows}


def suspects(
    document_ids: Sequence[int], read: Mapping[int, frozenset[str]] = MappingProxyType({})
) -> dict[int, list[int]]:
    """By document those before it that share most of its words; only documents that have some.

    ``read`` are words that the caller has already (``words_of``).
    """
    first = document_ids[:FOLDED_AT_MOST]
    if len(first) < 2:
        return {}
    words = {**read, **words_of([key for key in first if key not in read])}
    known = [key for key in first if key in words]
    marks = {key: _mark(words[key]) for key in known}
    found = {}
    for place, key in enumerate(known):
        if before := _alike_before(key, known[:place], words, marks):
            found[key] = before
    return found


def _alike_before(
    key: int, others: Sequence[int], words: Mapping[int, frozenset[str]], marks: Mapping[int, int]
) -> list[int]:
    """Most pairs go by their marks alone: a bit that the other lacks is at least one word that it lacks."""
    mine, mark, size = words[key], marks[key], len(words[key])
    spare = size - _LEAST * size
    near = [other for other in others if (mark & ~marks[other]).bit_count() <= spare - _LEAST * len(words[other])]
    return [other for other in near if _may_be_alike(words[other], mine)]


def _mark(words: frozenset[str]) -> int:
    mark = 0
    for word in words:
        mark |= _BITS[hash(word) & 255]
    return mark


def _may_be_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= _MAY_SHARE * (len(one) + len(other) - shared)


def _is_the_same(one: Said, other: Said) -> bool:
    return likeness(one, other) >= _SHARE and says_the_same(one, other)


def folded(
    document_ids: Sequence[int], alike: Mapping[int, Sequence[int]], said_by: Callable[[int], Said | None]
) -> list[Fold]:
    """In the order given. Each goes to the first shown one that says the same; what comes later changes nothing before it."""
    shown: dict[int, Fold] = {}
    for key in document_ids:
        text = said_by(key) if key in alike else None
        home = None
        if text is not None:
            for other in alike[key]:
                if other in shown and (theirs := said_by(other)) is not None and _is_the_same(theirs, text):
                    home = shown[other]
                    break
        if home is None:
            shown[key] = Fold(key)
        else:
            home.also.append(key)
    return list(shown.values())

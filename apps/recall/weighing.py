"""How well a memory fits a message (OHM-065, made definite here). Pure.

Each clue that a memory holds adds its rareness, from 0 to 1, times where it stands: 1.3 in a tag, 1 in title or summary,
0.35 in the body. Without a telling clue in title, summary or tags nothing counts. So one rare tag passes the threshold
of 1.2, or two rare words of a summary; one common tag, a lone word of a summary, or a body alone do not.
"""

from collections.abc import Mapping, Sequence
from math import log

from apps.recall.clues import Clue
from apps.recall.finding import Words
from apps.recall.rareness import rareness

IN_TAGS, IN_HEAD, IN_BODY = 1.3, 1.0, 0.35
TELLING = 0.5  # The least share of a clue that may stand for itself.
USAGE, USED_OFTEN = 0.05, 50


def rareness_of(clues: Sequence[Clue], frequency: Mapping[str, int], total: int) -> dict[str, float]:
    return {clue.text: rareness(frequency[clue.text], total) for clue in clues}


def held(clues: Sequence[Clue], words: Words) -> dict[str, float]:
    """The clues a memory holds, each with the weight of the best place it stands in."""
    found: dict[str, float] = {}
    for clue in clues:
        text = f" {clue.text} "
        weight = (
            IN_TAGS if text in words.tags else IN_HEAD if text in words.head else IN_BODY if text in words.body else 0
        )
        if weight:
            found[clue.text] = weight
    return found


def score(clues: Sequence[Clue], found: Mapping[str, float], rare: Mapping[str, float]) -> float:
    total, is_pointed = 0.0, False
    for clue in clues:
        if weight := found.get(clue.text):
            share = clue.share / 2 if clue.after in found else clue.share
            total += share * weight * rare[clue.text]
            is_pointed = is_pointed or (weight >= IN_HEAD and clue.share >= TELLING)
    return total if is_pointed else 0.0


def favour(uses: int) -> float:
    """What a memory gains by having been of use to this caller before: at most a twentieth."""
    return 1 + USAGE * min(1.0, log(1 + uses) / log(1 + USED_OFTEN))

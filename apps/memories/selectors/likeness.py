"""What is known already that is like a text: memories on the same matter, and one that says the same.

Bounded, since every save asks: by the hash of the words, then among a few memories that share telling words.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from apps.memories.documents import text_key
from apps.memories.schemas import DuplicateOut, Likeness, RelatedOut
from apps.search.telling import Lookalike, bodies, lookalikes, said
from apps.search.tokens import segment

MOST_RELATED = 3
LOOKED_AT = 16
COMPARED = 2  # Texts read and compared in a save; somebody who asks for duplicates only is worth more of them.
COMPARED_AT_LEISURE = 6
FEW_WORDS = 3  # A head of fewer words says too little of what the text is about.
BEGINNING = 300  # Characters of a text that may tell what it is about.
WORDS_OF_BEGINNING = 12
COMPARED_WORDS = 400
SAME_MATTER = 0.6  # Of the words of title, tags and summary: from here on the texts are compared.
NEARLY_SAME = 0.75  # Of the pairs of neighbouring words.

_SAME_TEXT = """
    SELECT stable_id, title FROM memories_memory
    WHERE text_key = %s AND scope_id IN ({marks}) AND +resource = 'memory' AND +status = 'active' AND NOT withheld
        AND stable_id <> %s
    ORDER BY updated_at DESC LIMIT 1
"""
_TITLES = """
    SELECT stable_id, title FROM memories_memory
    WHERE stable_id IN ({marks}) AND status = 'active' AND NOT withheld
"""


@dataclass(frozen=True)
class Alike:
    """What a text is like."""

    related: list[RelatedOut] = field(default_factory=list)
    duplicate: DuplicateOut | None = None


@dataclass(frozen=True)
class Text:
    """What is compared: a memory that is about to be saved, or one that is there (then ``memory_id`` is its id)."""

    title: str
    body: str
    summary: str = ""
    tags: Sequence[str] = ()
    memory_id: str = ""


def duplicate_of(scope_keys: Collection[str], title: str, body: str) -> DuplicateOut | None:
    """A memory of these scopes that says the same or nearly the same, whatever its title."""
    return alike(Text(title, body), scope_keys, at_leisure=True).duplicate


def alike(text: Text, scope_keys: Collection[str], *, at_leisure: bool = False) -> Alike:
    """What the scopes know that the text is like. ``at_leisure``: somebody waits for this and not for a save."""
    if not scope_keys:
        return Alike()
    duplicate = _same_text(text, scope_keys)
    headed = said(text.title, " ".join(text.tags), text.summary)
    if at_leisure or len(headed) < FEW_WORDS:
        headed += said(text.body[:BEGINNING])[:WORDS_OF_BEGINNING]
    found = [one for one in lookalikes(headed, scope_keys, limit=LOOKED_AT) if one.stable_id != text.memory_id]
    if not found:
        return Alike(duplicate=duplicate)
    words = frozenset(headed)
    ranked = sorted(found, key=lambda one: -_shared(words, one.words))
    near = None if duplicate else _nearly_same(text, words, ranked, at_leisure)
    related = [one.stable_id for one in ranked if words & one.words][: MOST_RELATED + 1]
    titles = _titles([*related, *([near] if near else [])])
    if near in titles:
        duplicate = DuplicateOut(memory_id=near, title=titles[near], likeness=Likeness.NEARLY_SAME)
    others = [key for key in related if key in titles and not (duplicate and duplicate.memory_id == key)]
    return Alike([RelatedOut(memory_id=key, title=titles[key]) for key in others[:MOST_RELATED]], duplicate)


def _same_text(text: Text, scope_keys: Collection[str]) -> DuplicateOut | None:
    key = text_key(text.body)
    if not key:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_SAME_TEXT.format(marks=_marks(scope_keys)), [key, *scope_keys, text.memory_id])
        found = cursor.fetchone()
    return DuplicateOut(memory_id=found[0], title=found[1], likeness=Likeness.SAME_TEXT) if found else None


def _nearly_same(text: Text, words: frozenset[str], ranked: Sequence[Lookalike], at_leisure: bool) -> str | None:
    if at_leisure:
        compared = ranked[:COMPARED_AT_LEISURE]
    else:
        compared = [one for one in ranked[:COMPARED] if _shared(words, one.words) >= SAME_MATTER]
    own = _pairs(segment(text.body).words.split()) if compared else frozenset()
    if not own:
        return None
    theirs = bodies([one.document_id for one in compared])
    likeness = {one.stable_id: _shared(own, _pairs(theirs.get(one.document_id, []))) for one in compared}
    best = max(likeness, key=lambda key: likeness[key])
    return best if likeness[best] >= NEARLY_SAME else None


def _pairs(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    words = words[:COMPARED_WORDS]
    return frozenset(zip(words, [*words[1:], ""], strict=True))


def _shared(one: frozenset[Any], other: frozenset[Any]) -> float:
    """The part of both that they share."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _titles(memory_ids: Sequence[str]) -> dict[str, str]:
    if not memory_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_TITLES.format(marks=_marks(memory_ids)), memory_ids)
        return dict(cursor.fetchall())


def _marks(values: Collection[str]) -> str:
    return ", ".join(["%s"] * len(values))

"""What is known already that is like a text: memories on the same matter, and one that says the same.

Bounded, since every save asks: by the hash of the words, then among a few memories that share telling words.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.base.rows import fetched, rows_where
from apps.memories.documents import text_key
from apps.memories.doors import memory_for, scopes_around
from apps.memories.models import Memory
from apps.memories.reading import newest_bodies
from apps.memories.schemas import AlikeOut, DuplicateOut, Likeness, MemoryRef, RelatedOut
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.search.telling import Lookalike, bodies, head_of, lookalikes, said
from apps.search.tokens import segment

MOST_RELATED = 3
LOOKED_AT = 8
COMPARED = 2  # Texts read and compared in a save; somebody who asks for duplicates only is worth more of them.
COMPARED_AT_LEISURE = 6
FEW_WORDS = 3  # A head of fewer words says too little of what the text is about.
BEGINNING = 300  # Characters of a text that may tell what it is about.
WORDS_OF_BEGINNING = 12
COMPARED_WORDS = 400
SAME_MATTER = 0.6  # Of the words of titles and of the tags: from here on the texts are compared.
NEARLY_SAME = 0.8  # Of the pairs of neighbouring words of the shorter text, which is at least half of the longer.

ECHOED = re.compile(r'<memory id="(mem_\w{26})"')  # As recall writes it; no other text looks like this.

_KNOWN = """
    SELECT stable_id, title, 0 FROM memories_memory WHERE stable_id IN ({ids}) AND status = 'active' AND NOT withheld
    UNION ALL
    SELECT * FROM (
        SELECT stable_id, title, 1 FROM memories_memory
        WHERE text_key = %s AND scope_id IN ({scopes}) AND +resource = 'memory' AND +status = 'active' AND NOT withheld
            AND stable_id <> %s
        ORDER BY updated_at DESC LIMIT 1
    )
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


@operation(needs=Right.READ, answers=AlikeOut)
def memory_alike(caller: Caller, *, memory_id: MemoryRef) -> AlikeOut:
    """Find what a memory is like: one that may say the same already, and others on the same matter."""
    memory = memory_for(caller, memory_id)
    if memory.withheld:  # Nothing is looked up by words that hold a secret.
        return AlikeOut(memory_id=memory.stable_id)
    body = newest_bodies([memory])[memory.pk]
    text = Text(memory.title, body, memory.summary, memory.tags, memory.stable_id)
    found = alike(text, scopes_around(caller, memory.scope_id), at_leisure=True)
    return AlikeOut(memory_id=memory.stable_id, duplicate=found.duplicate, related=found.related)


def duplicate_of(scope_keys: Collection[str], title: str, body: str) -> DuplicateOut | None:
    """A memory of these scopes that says the same or nearly the same, whatever its title."""
    return alike(Text(title, body), scope_keys, at_leisure=True).duplicate


def alike(text: Text, scope_keys: Collection[str], *, at_leisure: bool = False) -> Alike:
    """What the scopes know that the text is like. ``at_leisure``: somebody waits for this and not for a save."""
    if not scope_keys:
        return Alike()
    if echo := _echo(text, scope_keys):
        return Alike(duplicate=echo)
    asked = said(text.title, *text.tags, text.summary)
    if at_leisure or len(asked) < FEW_WORDS:
        asked += said(text.body[:BEGINNING])[:WORDS_OF_BEGINNING]
    found = [one for one in lookalikes(asked, scope_keys, limit=LOOKED_AT) if one.stable_id != text.memory_id]
    head = head_of(text.title, text.tags)
    ranked = sorted(((_shared(head, one.words), one) for one in found), key=lambda pair: -pair[0])
    near = _nearly_same(text, ranked, at_leisure)
    related = [one.stable_id for likeness, one in ranked if likeness][: MOST_RELATED + 1]
    titles, same = _known(text, scope_keys, [*related, *([near] if near else [])])
    duplicate = None
    if same or near in titles:
        key = same or near or ""
        likeness = Likeness.SAME_TEXT if same else Likeness.NEARLY_SAME
        duplicate = DuplicateOut(memory_id=key, title=titles[key], likeness=likeness)
    others = [key for key in related if key in titles and not (duplicate and duplicate.memory_id == key)]
    return Alike([RelatedOut(memory_id=key, title=titles[key]) for key in others[:MOST_RELATED]], duplicate)


def _echo(text: Text, scope_keys: Collection[str]) -> DuplicateOut | None:
    """The memory that a recalled block names, where somebody saves what recall has laid beside a message."""
    found = ECHOED.search(text.body)
    if not found or found[1] == text.memory_id:
        return None
    known = rows_where(Memory, "stable_id = %s AND status = 'active'", [found[1]])
    if not known or known[0].withheld or known[0].scope_id not in scope_keys:
        return None
    return DuplicateOut(memory_id=known[0].stable_id, title=known[0].title, likeness=Likeness.NEARLY_SAME)


def _known(text: Text, scope_keys: Collection[str], memory_ids: Sequence[str]) -> tuple[dict[str, str], str | None]:
    """The titles of those memories that are there, and a memory with the very same text."""
    key = text_key(text.body)
    statement = _KNOWN.format(ids=_marks(memory_ids), scopes=_marks(scope_keys))
    rows = fetched(statement, [*memory_ids, key, *scope_keys, text.memory_id])
    same = next((stable_id for stable_id, _title, is_same in rows if is_same and key), None)
    return {stable_id: title for stable_id, title, _is_same in rows}, same


def _nearly_same(text: Text, ranked: Sequence[tuple[float, Lookalike]], at_leisure: bool) -> str | None:
    if at_leisure:
        compared = [one for _likeness, one in ranked[:COMPARED_AT_LEISURE]]
    else:
        compared = [one for likeness, one in ranked[:COMPARED] if likeness >= SAME_MATTER]
    own = _pairs(segment(text.body).words.split()) if compared else frozenset()
    if not own:
        return None
    theirs = bodies([one.document_id for one in compared])
    likeness = {one.stable_id: _covered(own, _pairs(theirs.get(one.document_id, []))) for one in compared}
    best = max(likeness, key=lambda key: likeness[key])
    return best if likeness[best] >= NEARLY_SAME else None


def _pairs(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    words = words[:COMPARED_WORDS]
    return frozenset(zip(words, [*words[1:], ""], strict=True))


def _covered(one: frozenset[Any], other: frozenset[Any]) -> float:
    """The part of the shorter that the longer holds too; one much shorter covers little, whatever it says."""
    shorter, longer = sorted([len(one), len(other)])
    return len(one & other) / max(shorter, longer / 2, 1)


def _shared(one: frozenset[Any], other: frozenset[Any]) -> float:
    """The part of both that they share."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _marks(values: Collection[str]) -> str:
    return ", ".join(["%s"] * len(values))

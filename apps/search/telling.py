"""The words that tell what a text is about: those few others have. A bounded look, cheap enough for every save.

Common words are remembered for a while, so that a save counts only words that nobody has used lately.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from apps.base.rows import fetched
from apps.base.text import fold
from apps.search.expressions import COMMON, COMMON_CHARACTERS
from apps.search.stems import stem
from apps.search.tokens import segment

COUNTED_TO = 256  # A word of more documents than this tells little.
ROWS_LOOKED_AT = 64
WORDS_COUNTED = 4  # Of one text, at most.
WORDS_ASKED = 3
REMEMBERED = 50_000
RARE_SECONDS, COMMON_SECONDS = 60, 600

_COUNT = "(SELECT count(*) FROM (SELECT 1 FROM search_text WHERE search_text MATCH %s LIMIT %s))"
# CROSS JOIN: the words lead. The newest come first, which is the order FTS5 walks in, so that it stops at the limit.
_NEWEST = """
    SELECT d.id, d.stable_id, d.title_key, d.tags
    FROM search_text t CROSS JOIN search_document d ON d.id = t.rowid
    WHERE search_text MATCH %s AND d.scope_key IN ({marks}) AND d.status = 'active' AND d.resource = 'memory'
    ORDER BY t.rowid DESC LIMIT %s
"""
_IDLE = frozenset(stem(word) for word in COMMON) | COMMON
_counted: dict[str, tuple[int, float]] = {}  # A word's documents, and until when to believe that.


@dataclass(frozen=True, slots=True)
class Lookalike:
    """A document that shares telling words with a text."""

    document_id: int
    stable_id: str
    words: frozenset[str]  # Of its title, and its tags.


def said(*texts: str) -> list[str]:
    """The words of texts that may tell something, each once, in reading order."""
    words = segment("\n".join(texts)).words.split()
    return [word for word in dict.fromkeys(words) if _may_tell(word)]


def _may_tell(word: str) -> bool:
    """Neither short nor idle, and no number: those stand in everything that is dated or counted."""
    is_word = len(word) > 1 and not word.isdigit() and word not in _IDLE
    return is_word and (word.isascii() or not COMMON_CHARACTERS.intersection(word))


def lookalikes(words: Iterable[str], scope_keys: Collection[str], *, limit: int) -> list[Lookalike]:
    """Active memories of these scopes that hold the rarest of the words, the newest first."""
    expression = _expression(_by_rarity(words))
    if not expression:
        return []
    rows = fetched(_NEWEST.format(marks=", ".join(["%s"] * len(scope_keys))), [expression, *scope_keys, limit])
    return [
        Lookalike(key, stable_id, frozenset([*filter(_may_tell, title.split()), *filter(None, tags.split("\n"))]))
        for key, stable_id, title, tags in rows
    ]


def head_of(title: str, tags: Iterable[str]) -> frozenset[str]:
    """What a text is compared by with a ``Lookalike``."""
    return frozenset([*filter(_may_tell, segment(title).words[:200].split()), *(fold(tag.strip()) for tag in tags)])


def bodies(document_ids: Sequence[int]) -> dict[int, list[str]]:
    """The words of documents' texts, as the index holds them."""
    marks = ", ".join(["%s"] * len(document_ids))
    rows = fetched(f"SELECT rowid, body FROM search_text WHERE rowid IN ({marks})", document_ids)  # noqa: S608
    return {key: body.split() for key, body in rows}


def forget() -> None:
    """For tests, whose stores come and go."""
    _counted.clear()


def _expression(counted: Sequence[tuple[int, str]]) -> str:
    """Any of the rarest words; where even the rarest has many documents, together with one of the next."""
    rare: list[str] = []
    rows = 0
    for count, word in counted[:WORDS_ASKED]:
        rows += count
        if rows > ROWS_LOOKED_AT:
            break
        rare.append(f'"{word}"')
    if rare or not counted:
        return " OR ".join(rare)
    rarest, *others = (f'"{word}"' for _count, word in counted[:WORDS_ASKED])
    return f"{rarest} AND ({' OR '.join(others)})" if others else rarest


def _by_rarity(words: Iterable[str]) -> list[tuple[int, str]]:
    """The words that others have and not too many, the rarest first."""
    now = time.monotonic()
    counts: dict[str, int] = {}
    unknown: list[str] = []
    for word in words:
        count, until = _counted.get(word, (0, 0.0))
        if until > now:
            counts[word] = count
        elif len(unknown) < WORDS_COUNTED:
            unknown.append(word)
    if unknown:
        counts |= _count(unknown, now)
    return sorted((count, word) for word, count in counts.items() if 0 < count <= COUNTED_TO)


def _count(words: Sequence[str], now: float) -> dict[str, int]:
    values = [value for word in words for value in (f'"{word}"', COUNTED_TO + 1)]
    [found] = fetched("SELECT " + ", ".join([_COUNT] * len(words)), values)
    counts = dict(zip(words, found, strict=True))
    if len(_counted) > REMEMBERED:
        _counted.clear()
    for word, count in counts.items():
        if count:  # What nobody has said yet may be said any moment, and not to find it costs nothing.
            _counted[word] = count, now + (COMMON_SECONDS if count > COUNTED_TO else RARE_SECONDS)
    return counts

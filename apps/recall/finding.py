"""Asking the text index which memories a message's clues stand in. Every question reads a bounded number of rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import nlargest

from django.db import connection
from django.db.backends.utils import CursorWrapper

from apps.recall.clues import Clue
from apps.recall.rareness import rareness
from apps.search.expressions import COMMON
from apps.search.filters import SearchFilters

# A clue that more of the newest documents hold than this brings no memory to mind by itself; it still adds to one that
# another clue has found.
ROWS_A_CLUE = 1_000
ROWS_IN_ALL = 8_000
LOOKED_AT = 64  # So many candidates are read and weighed in full.
BODY_READ = 8_000
BAG_READ = 400
SHARED = 0.5  # Of the smaller bag: of less nobody could tell that they say the same.

_HOLDERS = """
    SELECT d.id FROM (SELECT rowid AS id FROM search_text WHERE search_text MATCH %s ORDER BY rowid DESC LIMIT %s) found
    LEFT JOIN search_document d ON d.id = found.id AND {filters}
"""
_COUNTED = "SELECT count(*) FROM search_document d WHERE {filters}"
_WORDS = """
    SELECT d.id, d.stable_id, t.title, t.tags, t.summary, substr(t.body, 1, {read})
    FROM search_document d CROSS JOIN search_text t ON t.rowid = d.id WHERE d.{column} IN ({marks})
"""


@dataclass(frozen=True, slots=True)
class Words:
    """A candidate as the index holds it, each text with a blank at both ends."""

    key: int
    stable_id: str
    head: str  # Title and summary.
    tags: str
    body: str

    def bag(self) -> frozenset[str]:
        """The words of its beginning, to see at once whether another one could be like it."""
        return frozenset(self.head.split()).union(self.body[:BAG_READ].split()) - COMMON


def may_be_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SHARED * min(len(one), len(other))


@dataclass
class Found:
    """``frequency``: how many of the ``total`` memories a caller sees hold a clue in title, summary or tags."""

    total: int
    frequency: dict[str, int]
    candidates: list[Words] = field(default_factory=list)


def find(clues: Sequence[Clue], scope_keys: Sequence[str]) -> Found:
    """The memories whose title, summary or tags hold the most telling of the clues."""
    with connection.cursor() as cursor:
        found = Found(_total(cursor, scope_keys), {})
        filters, values = SearchFilters(scope_keys, resources=["memory"]).where()
        holders: dict[str, list[int]] = {}
        room = ROWS_IN_ALL
        for clue in clues:
            if room <= 0:
                break
            expression = f"{{title tags summary}} : {clue.phrase}"
            cursor.execute(_HOLDERS.format(filters=filters), [expression, ROWS_A_CLUE, *values])
            rows = cursor.fetchall()
            room -= len(rows)
            holders[clue.text] = [key for (key,) in rows if key is not None]
            # Of more rows than were looked at nobody knows how many there are: at least twice as many, say.
            found.frequency[clue.text] = len(holders[clue.text]) * (2 if len(rows) == ROWS_A_CLUE else 1)
        best = _best(clues, holders, found)
        rows = {words.key: words for words in _words(cursor, "id", best)}
        found.candidates = [rows[key] for key in best if key in rows]
    return found


def _total(cursor: CursorWrapper, scope_keys: Sequence[str]) -> int:
    filters, values = SearchFilters(scope_keys).where()
    cursor.execute(_COUNTED.format(filters=filters), values)
    return int(cursor.fetchone()[0])


def _best(clues: Sequence[Clue], holders: dict[str, list[int]], found: Found) -> list[int]:
    worth: dict[int, float] = defaultdict(float)
    for clue in clues:
        gain = clue.share * rareness(found.frequency.get(clue.text, found.total), found.total)
        for key in holders.get(clue.text, ()):
            worth[key] += gain
    return nlargest(LOOKED_AT, worth, key=lambda key: (worth[key], key))


def words_of(stable_ids: Sequence[str]) -> list[Words]:
    """Some documents as the index holds them, in no order."""
    with connection.cursor() as cursor:
        return _words(cursor, "stable_id", stable_ids)


def _words(cursor: CursorWrapper, column: str, keys: Sequence[int] | Sequence[str]) -> list[Words]:
    if not keys:
        return []
    marks = ", ".join(["%s"] * len(keys))
    cursor.execute(_WORDS.format(read=BODY_READ, column=column, marks=marks), list(keys))
    return [
        Words(key, stable_id, f" {title} / {summary} ", f" {tags} ", f" {body} ")
        for key, stable_id, title, tags, summary, body in cursor.fetchall()
    ]

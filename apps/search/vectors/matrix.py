# ruff: noqa: S608 (Only constants of this room are put together; whatever was asked is a parameter.)
"""The nearest passages to a question: exact, over all vectors of the scopes that are searched.

Lives in the embedder process, as a cache of the rows: before each answer what is new is read, after it every hit is
held against the database, and who is gone, changed or filtered out there gives way to the next one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.search.filters import SearchFilters
from apps.search.vectors.blocks import LANGUAGES, Block, Column, Floats, Rows
from apps.search.vectors.near import NearDocument

READ_AT_ONCE = 4_000
ASKED_AT_ONCE = 400
FEW = 20  # Passages of a language that tell how near its texts are to a question; of fewer, all languages do.
LEAST_SPREAD = 0.02
ROUNDS = 20

_NEWER = """
    SELECT p.id, p.document_id, p.revision, p.start, p."end", p.language, p.vector, d.scope_key, d.status
    FROM search_passage p CROSS JOIN search_document d ON d.id = p.document_id AND d.revision = p.revision
    WHERE p.id > %s AND p.id <= %s AND p.model_id = %s ORDER BY p.id
"""
_STANDING = """
    SELECT p.id, {where} FROM search_passage p
    CROSS JOIN search_document d ON d.id = p.document_id AND d.revision = p.revision
    WHERE p.id IN ({marks}) AND p.model_id = %s
"""
_CODES = {language: code for code, language in enumerate(LANGUAGES)}

Row = tuple[Any, ...]


class Matrix:
    """All vectors of one model, a block a scope."""

    def __init__(self, model_id: int, dimensions: int) -> None:
        self.model_id, self.dimensions = model_id, dimensions
        self.blocks: dict[str, Block] = {}
        self._home: dict[int, str] = {}  # In which block a document lies.
        self._last = 0
        self._lock = RLock()

    @property
    def passages(self) -> int:
        return sum(block.count - block.dead for block in self.blocks.values())

    # Keeping up.

    def refresh(self) -> None:
        """Read the passages that came since the last time."""
        with self._lock, connection.cursor() as cursor:
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = 'search_passage'")
            newest = (cursor.fetchone() or (0,))[0]
            if newest == self._last:
                return
            if newest < self._last:  # Keys only grow: another database lies there now.
                self.blocks, self._home, self._last = {}, {}, 0
            cursor.execute(_NEWER, [self._last, newest, self.model_id])
            for rows in _whole_documents(iter(lambda: cursor.fetchmany(READ_AT_ONCE), [])):
                self._take(rows)
            self._last = newest

    def _take(self, rows: Sequence[Row]) -> None:
        """Add rows; what was there of their documents is of before, since a document is embedded as a whole."""
        rows = [row for row in rows if len(row[6]) == self.dimensions * 2]
        known = {self._home[row[1]] for row in rows if row[1] in self._home}
        documents = np.fromiter({row[1] for row in rows}, np.int64)
        for scope in known:
            self.blocks[scope].bury_documents(documents)
        by_scope: dict[str, list[Row]] = {}
        for row in rows:
            by_scope.setdefault(row[7], []).append(row)
        for scope, some in by_scope.items():
            ids, owners, revisions, starts, ends, languages, vectors, _, statuses = zip(*some, strict=True)
            block = self.blocks.setdefault(scope, Block(self.dimensions))
            block.add(
                {
                    "id": np.array(ids), "document": np.array(owners), "revision": np.array(revisions),
                    "start": np.array(starts), "end": np.array(ends), "alive": np.ones(len(some), np.bool_),
                    "language": np.array([_CODES.get(language, 2) for language in languages], np.int8),
                    "active": np.array([status == "active" for status in statuses], np.bool_),
                },
                np.frombuffer(b"".join(vectors), np.float16).reshape(len(some), -1).astype(np.float32),
            )  # fmt: skip
            block.compact()
            self._home.update(dict.fromkeys(owners, scope))

    # Answering.

    def nearest(
        self, question: Floats, filters: SearchFilters, *, also: Sequence[int] = (), limit: int = 200
    ) -> list[NearDocument]:
        """One passage a document, best z first; at least half of ``limit`` of each language that has as many.

        Documents in ``also`` come too, whatever their rank, if the filters let them pass.
        """
        with self._lock:
            self.refresh()
            field = _Field(
                [self.blocks[key] for key in dict.fromkeys(filters.scope_keys) if key in self.blocks], question
            )
            field.admit(filters)
            rows = field.chosen(also, limit)
            for _ in range(ROUNDS):
                if not self._drop_fallen(field, rows, filters):
                    break
                rows = field.chosen(also, limit)
            return field.near(rows[field.allowed[rows]])

    def _drop_fallen(self, field: "_Field", rows: Rows, filters: SearchFilters) -> int:
        """Hold hits against the database; how many of them do not count."""
        where, values = filters.where()
        keys = [int(key) for key in field.of("id", rows)]
        passing: dict[int, bool] = {}
        with connection.cursor() as cursor:
            for some in (keys[place : place + ASKED_AT_ONCE] for place in range(0, len(keys), ASKED_AT_ONCE)):
                statement = _STANDING.format(where=where, marks=", ".join(["%s"] * len(some)))
                cursor.execute(statement, [*values, *some, self.model_id])
                passing.update((key, bool(passes)) for key, passes in cursor.fetchall())
        fallen = [row for row, key in zip(rows, keys, strict=True) if not passing.get(key)]
        field.allowed[fallen] = False
        field.bury([int(row) for row, key in zip(rows, keys, strict=True) if key not in passing])
        return len(fallen)


def _whole_documents(batches: Iterator[list[Row]]) -> Iterator[list[Row]]:
    """The same rows, never one document's in two batches: the second would bury the first."""
    held: list[Row] = []
    for batch in batches:
        held += batch
        last = held[-1][1]
        place = len(held)
        while place and held[place - 1][1] == last:
            place -= 1
        if place:
            yield held[:place]
            held = held[place:]
    if held:
        yield held


@dataclass
class _Part:
    block: Block
    begin: int  # Where its rows begin among all that are searched.
    rows: Rows | None  # Which of its rows these are; nothing where all.

    def of(self, column: Column) -> Column:
        return column if self.rows is None else column[self.rows]


class _Field:
    """The living rows of the searched blocks, and how near each is to the question."""

    def __init__(self, blocks: Sequence[Block], question: Floats) -> None:
        self.parts: list[_Part] = []
        near: list[Floats] = []
        begin = 0
        for block in blocks:
            rows = np.flatnonzero(block.column("alive")) if block.dead else None
            part = _Part(block, begin, rows)
            near.append(part.of(block.vectors @ question))
            self.parts.append(part)
            begin += len(near[-1])
        self.cosines: Floats = near[0] if len(near) == 1 else np.concatenate([np.empty(0, np.float32), *near])
        self.documents = self._gathered("document", np.int64)
        self.languages = self._gathered("language", np.int8)
        self.z = _scaled(self.cosines, self.languages)
        self.allowed: NDArray[np.bool_] = np.zeros(begin, np.bool_)

    def _gathered(self, name: str, kind: type[np.generic]) -> Column:
        columns = [part.of(part.block.column(name)) for part in self.parts]
        return columns[0] if len(columns) == 1 else np.concatenate([np.empty(0, kind), *columns])

    def admit(self, filters: SearchFilters) -> None:
        """Filters come before the ranking: only what passes them is looked at."""
        if filters.is_scope_only:
            self.allowed = self._gathered("active", np.bool_).copy()
            return
        where, values = filters.where()
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT d.id FROM search_document d WHERE {where}", values)
            passing = np.fromiter((key for (key,) in cursor.fetchall()), np.int64)
        if len(passing) and len(self.documents):
            table = np.zeros(int(max(self.documents.max(), passing.max())) + 1, np.bool_)
            table[passing] = True
            self.allowed = table[self.documents]

    def chosen(self, also: Sequence[int], limit: int) -> Rows:
        """The best row of each document that is to be shown, best first."""
        best: dict[int, int] = {}
        allowed = np.flatnonzero(self.allowed)
        found = list(self._best_documents(allowed, limit))
        for code in range(len(LANGUAGES)):
            found += self._best_documents(allowed[self.languages[allowed] == code], limit // 2)
        if also:
            found += list(allowed[np.isin(self.documents[allowed], np.asarray(also, np.int64))])
        for row in found:
            known = best.setdefault(int(self.documents[row]), int(row))
            if self.z[row] > self.z[known]:
                best[int(self.documents[row])] = int(row)
        rows = np.fromiter(best.values(), np.intp, len(best))
        return rows[np.argsort(-self.z[rows], kind="stable")]

    def _best_documents(self, rows: Rows, most: int) -> Iterator[int]:
        """The best row of each of the ``most`` best documents among ``rows``."""
        wanted = most * 4
        while most and len(rows):
            top = rows
            if wanted < len(rows):
                top = rows[np.argpartition(-self.z[rows], wanted)[:wanted]]
            top = top[np.argsort(-self.z[top], kind="stable")]
            _, firsts = np.unique(self.documents[top], return_index=True)
            if len(firsts) >= most or wanted >= len(rows):
                yield from (int(row) for row in top[np.sort(firsts)[:most]])
                return
            wanted *= 4

    def of(self, name: str, rows: Rows) -> Column:
        """A column of some rows, without gathering it for all."""
        values = np.empty(len(rows), np.int64)
        for part in self.parts:
            column = part.of(part.block.column(name))
            inside = (rows >= part.begin) & (rows < part.begin + len(column))
            values[inside] = column[rows[inside] - part.begin]
        return values

    def bury(self, rows: Sequence[int]) -> None:
        for part in self.parts:
            size = part.block.count if part.rows is None else len(part.rows)
            inside = np.array([row - part.begin for row in rows if part.begin <= row < part.begin + size], np.intp)
            if len(inside):
                part.block.bury(inside if part.rows is None else part.rows[inside])

    def near(self, rows: Rows) -> list[NearDocument]:
        revisions, starts, ends = (self.of(name, rows) for name in ("revision", "start", "end"))
        return [
            NearDocument(
                int(self.documents[row]), int(revision), int(start), int(end), float(self.cosines[row]), float(self.z[row]),
                LANGUAGES[int(self.languages[row])],
            )
            for row, revision, start, end in zip(rows, revisions, starts, ends, strict=True)
        ]  # fmt: skip


def _scaled(cosines: Floats, languages: Column) -> Floats:
    """How far each cosine stands out among those of its language, since a model likes its own language best."""
    z = np.zeros_like(cosines)
    for code in range(len(LANGUAGES)):
        same = np.flatnonzero(languages == code)
        if len(same):
            some = cosines[same]
            told = some if len(some) >= FEW else cosines
            z[same] = (some - told.mean()) / max(float(told.std()), LEAST_SPREAD)
    return z

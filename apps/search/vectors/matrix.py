# ruff: noqa: S608 (Only constants of this room are put together; whatever was asked is a parameter.)
"""The nearest passages to a question, exactly, over all vectors of the scopes that are searched.

Lives in the embedder process, as a cache of the rows: before each answer what is new is read, after it every hit is held
against the database, and who is gone, changed or filtered out there gives way to the next one. Blocks too large to keep
exact vectors are ranked by their eight bits, and only what is shown is compared exactly.
"""

import time
from collections.abc import Sequence
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
SAMPLED = 16  # One of so many scores is looked at to see where the best begin.

_NEWER = """
    SELECT p.id, p.document_id, p.revision, p.start, p."end", p.language, p.vector, d.scope_key, d.status
    FROM search_passage p CROSS JOIN search_document d ON d.id = p.document_id AND d.revision = p.revision
    WHERE p.id > %s AND p.id <= %s AND p.model_id = %s ORDER BY p.id LIMIT %s
"""
_STANDING = "SELECT d.id, d.revision, {where} FROM search_document d WHERE d.id IN ({marks})"
_VECTORS = "SELECT id, vector FROM search_passage WHERE id IN ({marks})"
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

    def refresh(self, seconds: float = 60.0) -> bool:
        """Read the passages that came since the last time; whether all of them could be read in so many seconds.

        In small parts, the lock let go in between: who has a question goes on with what another one began.
        """
        deadline = time.monotonic() + seconds
        while not self._read_some():
            if time.monotonic() > deadline:
                return False
        return True

    def _read_some(self) -> bool:
        """Whether that was all there is."""
        with self._lock, connection.cursor() as cursor:
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = 'search_passage'")
            newest = (cursor.fetchone() or (0,))[0]
            if newest == self._last:
                return True
            if newest < self._last:  # Keys only grow: another database lies there now.
                self.blocks, self._home, self._last = {}, {}, 0
            limit = READ_AT_ONCE
            while True:
                cursor.execute(_NEWER, [self._last, newest, self.model_id, limit])
                rows = cursor.fetchall()
                if len(rows) < limit:
                    self._take(rows)
                    self._last = newest
                    return True
                if whole := _whole_documents(rows):
                    self._take(whole)
                    self._last = whole[-1][0]
                    return False
                limit *= 2

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
                np.frombuffer(b"".join(vectors), np.float16).reshape(len(some), -1),
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
        self.refresh()
        with self._lock:
            field = _Field(
                [self.blocks[key] for key in dict.fromkeys(filters.scope_keys) if key in self.blocks], question
            )
            field.admit(filters)
            rows = field.chosen(also, limit)
            for _ in range(ROUNDS):
                if not self._drop_fallen(field, rows, filters):
                    break
                rows = field.chosen(also, limit)
            return self._compared(field, rows[field.allowed[rows]])

    def _compared(self, field: "_Field", rows: Rows) -> list[NearDocument]:
        """What is shown, with exact cosines also where only the database has the vectors."""
        if not field.is_exact and len(rows):
            ids = field.of("id", rows).tolist()
            vectors: dict[int, bytes] = {}
            with connection.cursor() as cursor:
                for some in (ids[place : place + ASKED_AT_ONCE] for place in range(0, len(ids), ASKED_AT_ONCE)):
                    cursor.execute(_VECTORS.format(marks=", ".join(["%s"] * len(some))), some)
                    vectors.update(cursor.fetchall())
            rows = rows[[key in vectors for key in ids]]
            joined = b"".join(bytes(vectors[key]) for key in ids if key in vectors)
            halves = np.frombuffer(joined, np.float16).reshape(len(rows), self.dimensions)
            field.cosines[rows] = halves.astype(np.float32) @ field.question
            rows = rows[np.argsort(-field.z(rows), kind="stable")]
        return field.near(rows)

    def _drop_fallen(self, field: "_Field", rows: Rows, filters: SearchFilters) -> int:
        """Hold hits against the database; how many of them do not count."""
        where, values = filters.where()
        documents = field.of("document", rows)
        known: dict[int, tuple[int, bool]] = {}
        with connection.cursor() as cursor:
            for place in range(0, len(documents), ASKED_AT_ONCE):
                some = documents[place : place + ASKED_AT_ONCE].tolist()
                cursor.execute(_STANDING.format(where=where, marks=", ".join(["%s"] * len(some))), [*values, *some])
                known.update((key, (revision, bool(passes))) for key, revision, passes in cursor.fetchall())
        told = [known.get(document, (0, False)) for document in documents.tolist()]
        stands = np.array([revision for revision, _ in told], np.int64) == field.of("revision", rows)
        passes = stands & np.array([passes for _, passes in told], np.bool_)
        field.allowed[rows[~passes]] = False
        field.bury(rows[~stands])
        return int(np.count_nonzero(~passes))


def _whole_documents(rows: Sequence[Row]) -> Sequence[Row]:
    """Without the last document, of which there may be more: the rest of it would bury what was read."""
    place = len(rows)
    while place and rows[place - 1][1] == rows[-1][1]:
        place -= 1
    return rows[:place]


@dataclass
class _Part:
    block: Block
    begin: int  # Where its rows begin among all that are searched.
    rows: Rows | None  # Which of its rows these are; nothing where all.

    @property
    def size(self) -> int:
        return self.block.count if self.rows is None else len(self.rows)

    def of(self, column: Column) -> Column:
        return column if self.rows is None else column[self.rows]

    def own(self, rows: Rows) -> Rows:
        """Rows of the whole as rows of the block."""
        inside = rows - self.begin
        return inside if self.rows is None else self.rows[inside]


class _Field:
    """The living rows of the searched blocks, and how near each is to the question.

    ``z`` says how far a cosine stands out among those of its language, since a model likes its own language best.
    """

    def __init__(self, blocks: Sequence[Block], question: Floats) -> None:
        self.parts: list[_Part] = []
        self.question = question
        begin = 0
        for block in blocks:
            part = _Part(block, begin, np.flatnonzero(block.column("alive")) if block.dead else None)
            self.parts.append(part)
            begin += part.size
        self.languages = self._gathered("language", np.int8)
        self.allowed: NDArray[np.bool_] = np.zeros(begin, np.bool_)
        self.is_exact = all(block.is_exact for block in blocks)
        # Two cosines of the scan that differ by more than this are in the right order.
        self.doubt = np.float32(2 * max((block.error for block in blocks), default=0.0) if self.is_exact else 0.0)
        self.cosines: Floats = _joined([part.of(part.block.scan(question)) for part in self.parts], np.float32)
        self.by_language = self._rows_by_language()
        self._means, self._spreads = _measures(self.cosines, self.by_language)

    def _compare(self, rows: Rows) -> None:
        """Put exact cosines in place of those of the scan."""
        for part in self.parts if self.is_exact else ():
            inside = rows[(rows >= part.begin) & (rows < part.begin + part.size)]
            if len(inside):
                self.cosines[inside] = part.block.exact(part.own(inside), self.question)

    def _rows_by_language(self) -> list[Rows]:
        if len(self.parts) == 1 and self.parts[0].rows is None:
            return self.parts[0].block.by_language()
        return [np.flatnonzero(self.languages == code) for code in range(len(LANGUAGES))]

    def _of_language(self, code: int) -> Rows:
        rows = self.by_language[code]
        return rows[self.allowed[rows]]

    def _documents_among(self, documents: Sequence[int]) -> Rows:
        if not documents:
            return np.empty(0, np.intp)
        wanted = np.isin(self._gathered("document", np.int64), np.asarray(documents, np.int64))
        return np.flatnonzero(wanted & self.allowed)

    def _gathered(self, name: str, kind: type[np.generic]) -> Column:
        return _joined([part.of(part.block.column(name)) for part in self.parts], kind)

    def admit(self, filters: SearchFilters) -> None:
        """Filters come before the ranking: only what passes them is looked at."""
        if filters.is_scope_only:
            self.allowed = self._gathered("active", np.bool_).copy()
            return
        where, values = filters.where()
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT d.id FROM search_document d WHERE {where}", values)
            passing = np.fromiter((key for (key,) in cursor.fetchall()), np.int64)
        documents = self._gathered("document", np.int64)
        if len(passing) and len(documents):
            table = np.zeros(int(max(documents.max(), passing.max())) + 1, np.bool_)
            table[passing] = True
            self.allowed = table[documents]

    def z(self, rows: Rows) -> Floats:
        languages = self.languages[rows]
        scaled: Floats = (self.cosines[rows] - self._means[languages]) / self._spreads[languages]
        return scaled

    def chosen(self, also: Sequence[int], limit: int) -> Rows:
        """The best row of each document that is to be shown, best first."""
        by_language = [self._best(code, limit) for code in range(len(LANGUAGES))] if limit else []
        overall = self._unique(np.concatenate([np.empty(0, np.intp), *by_language]))[:limit]
        found = [overall, *(rows[: limit // 2] for rows in by_language)]
        asked = self._documents_among(also)
        self._compare(asked)
        return self._unique(np.concatenate([*found, asked]))

    def _best(self, code: int, most: int) -> Rows:
        """The best rows of one language, of ``most`` documents where there are so many; best first.

        Whoever might be among them, so far as the scan can be off, is compared exactly.
        """
        theirs = self._of_language(code)
        scores = self.cosines[theirs]
        wanted = most * 4
        while True:
            rows = theirs[_top(scores, wanted)]
            best = self._unique(rows)
            if len(best) >= most or len(rows) < wanted:
                break
            wanted *= 4
        if len(best) > most:
            rows = theirs[scores >= self.cosines[best[most - 1]] - self.doubt]
        self._compare(rows)
        return self._unique(rows)[:most]

    def _unique(self, rows: Rows) -> Rows:
        """The best row of each document, best first."""
        rows = rows[np.argsort(-self.z(rows), kind="stable")]
        _, firsts = np.unique(self.of("document", rows), return_index=True)
        return rows[np.sort(firsts)]

    def of(self, name: str, rows: Rows) -> Column:
        """A column of some rows, without gathering it for all."""
        values = np.empty(len(rows), np.int64)
        for part in self.parts:
            inside = np.flatnonzero((rows >= part.begin) & (rows < part.begin + part.size))
            values[inside] = part.block.column(name)[part.own(rows[inside])]
        return values

    def bury(self, rows: Rows) -> None:
        for part in self.parts:
            inside = rows[(rows >= part.begin) & (rows < part.begin + part.size)]
            if len(inside):
                part.block.bury(part.own(inside))

    def near(self, rows: Rows) -> list[NearDocument]:
        columns = [self.of(name, rows).tolist() for name in ("document", "revision", "start", "end")]
        cosines, z = self.cosines[rows].tolist(), self.z(rows).tolist()
        languages = [LANGUAGES[code] for code in self.languages[rows]]
        return [NearDocument(*values) for values in zip(*columns, cosines, z, languages, strict=True)]


def _joined(columns: Sequence[Column], kind: type[np.generic]) -> Column:
    return columns[0] if len(columns) == 1 else np.concatenate([np.empty(0, kind), *columns])


def _top(scores: Floats, wanted: int) -> Rows:
    """The places of at least the ``wanted`` highest scores, if there are so many. A sample says where to cut."""
    if len(scores) > wanted * SAMPLED:
        sample = scores[::SAMPLED]
        cut = np.partition(sample, -wanted // SAMPLED * 2 - 1)[-wanted // SAMPLED * 2 - 1]
        rows = np.flatnonzero(scores >= cut)
        if len(rows) >= wanted:
            return rows
    if len(scores) > wanted:
        return np.argpartition(scores, -wanted)[-wanted:]
    return np.arange(len(scores))


def _measures(cosines: Floats, by_language: Sequence[Rows]) -> tuple[Floats, Floats]:
    """Mean and spread of the cosines by language; of few, what holds for all languages together."""
    middle = cosines.mean() if len(cosines) else np.float32(0)  # Around it, so that the squares stay small.
    around = [cosines[rows] - middle for rows in by_language]
    counts = np.array([len(some) for some in around], np.float32)
    sums = np.array([some.sum() for some in around], np.float32)
    squares = np.array([some @ some for some in around], np.float32)
    if 0 < counts.sum():
        few = counts < FEW
        total = (counts.sum(), sums.sum(), squares.sum())
        counts[few], sums[few], squares[few] = total
    counts = np.maximum(counts, 1)
    means = sums / counts
    spreads = np.sqrt(np.maximum(squares / counts - means * means, np.float32(LEAST_SPREAD**2)))
    return means + middle, spreads

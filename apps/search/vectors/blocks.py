"""The vectors of one scope, one beside the other in memory, so that a question to a scope reads that scope only.

A scan reads eight bits a number: a quarter of the memory to go through, and faster than the floats themselves. How far
that may be off is known for each block, so that whoever ranks knows which rows to compare exactly.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.search.vectors.packed import Packed, Question, rounding

SCANNERS = 2  # Threads that scan packed rows: what else runs on a small server wants the other cores.
LANGUAGES = ("zh", "en", "other")
FIRST_ROWS = 64
GROWTH = 1.5  # Growing copies all there is; rarely, then.
DEAD_SHARE, DEAD_ROWS = 0.25, 256
EXACT_ROWS = 200_000  # A block of more keeps no exact vectors in memory.
SCANNED_AT_ONCE = 512  # Rows that fit into the nearest cache as floats.
PACKED_ROWS = 16_384  # Packing costs about a microsecond a row, and so only what stays is packed.
COLUMNS: dict[str, type[np.generic]] = {
    "id": np.int64, "document": np.int64, "revision": np.int64, "start": np.int32, "end": np.int32,
    "language": np.int8, "active": np.bool_, "alive": np.bool_,
}  # fmt: skip
CODES, SCALES, HALVES = "codes", "scales", "halves"

Column = NDArray[Any]
Columns = Mapping[str, Column]
Rows = NDArray[np.intp]
Floats = NDArray[np.float32]


@cache
def _scanners() -> ThreadPoolExecutor:
    """Made at the first scan, so that no process which merely imports this has threads."""
    return ThreadPoolExecutor(SCANNERS, "scan")


class Block:
    """Rows are only added; one that is gone from the database stays as a dead row until the next compaction."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.count = self.dead = 0
        self.error = 0.0  # No cosine of the scan is further off than this, for questions of unit length.
        self._columns: dict[str, Column] = {name: np.empty(FIRST_ROWS, kind) for name, kind in COLUMNS.items()}
        self._columns[CODES] = np.empty((FIRST_ROWS, dimensions), np.int8)
        self._columns[SCALES] = np.empty(FIRST_ROWS, np.float32)
        self._columns[HALVES] = np.empty((FIRST_ROWS, dimensions), np.float16)
        self._packed: list[Packed] = []
        self._by_language: list[Rows] = []

    @property
    def is_exact(self) -> bool:
        return HALVES in self._columns

    def column(self, name: str) -> Column:
        return self._columns[name][: self.count]

    def by_language(self) -> list[Rows]:
        """The rows of each language, dead ones too; looked up again once rows were added."""
        if sum(map(len, self._by_language)) != self.count:
            languages = self.column("language")
            self._by_language = [np.flatnonzero(languages == code) for code in range(len(LANGUAGES))]
        return self._by_language

    def scan(self, question: Floats) -> Floats:
        """The cosines of all rows, each at most ``error`` off."""
        codes = self.column(CODES)
        near = np.empty(self.count, np.float32)
        packed = len(self._packed) * PACKED_ROWS
        cut = Question(question)
        for number, dots in enumerate(_scanners().map(lambda one: one.dots(cut), self._packed)):
            near[number * PACKED_ROWS : (number + 1) * PACKED_ROWS] = dots
        floats = np.empty((SCANNED_AT_ONCE, self.dimensions), np.float32)
        for begin in range(packed, self.count, SCANNED_AT_ONCE):
            some = codes[begin : begin + SCANNED_AT_ONCE]
            np.copyto(floats[: len(some)], some)
            np.dot(floats[: len(some)], question, out=near[begin : begin + len(some)])
        near *= self.column(SCALES)
        return near

    def exact(self, rows: Rows, question: Floats) -> Floats:
        """The cosines of some rows."""
        near: Floats = self.column(HALVES)[rows].astype(np.float32) @ question
        return near

    def add(self, columns: Columns, halves: NDArray[np.float16]) -> None:
        end = self.count + len(halves)
        if end > len(self._columns[CODES]):
            self._make_room(max(end, int(self.count * GROWTH)))
        vectors = halves.astype(np.float32)
        scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-12)) / np.float32(127)
        codes = np.rint(vectors / scales[:, None])
        off = np.linalg.norm(vectors - codes * scales[:, None], axis=1)
        self.error = max(self.error, float(off.max(initial=0.0)) + rounding(self.dimensions))
        for name, column in {**columns, CODES: codes, SCALES: scales, HALVES: halves}.items():
            if name in self._columns:
                self._columns[name][self.count : end] = column
        self.count = end
        self._pack()

    def _pack(self) -> None:
        codes = self.column(CODES)
        while (end := (len(self._packed) + 1) * PACKED_ROWS) <= self.count:
            self._packed.append(Packed(codes[end - PACKED_ROWS : end]))

    def bury(self, rows: Rows) -> None:
        """Let rows count no more."""
        self.column("alive")[rows] = False
        self.dead = self.count - int(np.count_nonzero(self.column("alive")))

    def bury_documents(self, documents: Column) -> None:
        self.bury(np.flatnonzero(np.isin(self.column("document"), documents)))

    def compact(self) -> None:
        """Put dead rows away where they are many."""
        if self.dead < max(DEAD_ROWS, self.count * DEAD_SHARE):
            return
        alive = self.column("alive")
        self._columns = {name: self.column(name)[alive] for name in self._columns}
        self.count, self.dead = len(self._columns[CODES]), 0
        self._packed, self._by_language = [], []
        self._pack()

    def _make_room(self, rows: int) -> None:
        if rows > EXACT_ROWS * GROWTH:
            self._columns.pop(HALVES, None)
        for name, column in self._columns.items():
            longer = np.empty((rows, *column.shape[1:]), column.dtype)
            longer[: self.count] = column[: self.count]
            self._columns[name] = longer

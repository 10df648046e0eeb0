"""The vectors of one scope in one language, one beside the other in memory: a question reads only what it is about.

A scan reads eight bits a number: a quarter of the memory to go through, and faster than the floats themselves. The bits tell how
a vector differs from the middle of its block, since what all texts have in common would take most of them. How far a scan may
be off is known for each block, so that whoever ranks knows which rows to compare exactly.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.search.vectors.packed import Packed, Question, rounding

FIRST_ROWS = 64
GROWTH = 1.5  # Growing copies all there is; rarely, then.
DEAD_SHARE, DEAD_ROWS = 0.25, 256
EXACT_ROWS = 200_000  # A block of more keeps no exact vectors in memory.
CODED_AT_ONCE = 4_096
# Packing costs about a microsecond a row, and so only what stays is packed: some rows first, then many of these as one.
PACKED_ROWS = (512, 2_048, 16_384)
COLUMNS: dict[str, type[np.generic]] = {
    "id": np.int64, "document": np.int32, "revision": np.int64, "start": np.int32, "end": np.int32,
    "active": np.bool_, "alive": np.bool_,
}  # fmt: skip
CODES, SCALES, HALVES = "codes", "scales", "halves"

Column = NDArray[Any]
Columns = Mapping[str, Column]
Rows = NDArray[np.intp]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Part:
    """Something to do, and for how many rows."""

    rows: int
    do: Callable[[], None]


class Block:
    """Rows are only added; one that is gone from the database stays as a dead row until the next compaction."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.count = self.dead = 0
        self.added = 0  # Rows that ever came.
        self.error = 0.0  # No product of the scan is further off than this, for directions of unit length.
        self.middle: Floats = np.zeros(dimensions, np.float32)
        self.longest = 0.0  # Of all vectors, from the middle.
        self._columns: dict[str, Column] = {name: np.empty(FIRST_ROWS, kind) for name, kind in COLUMNS.items()}
        self._columns[CODES] = np.empty((FIRST_ROWS, dimensions), np.int8)
        self._columns[SCALES] = np.empty(FIRST_ROWS, np.float32)
        self._columns[HALVES] = np.empty((FIRST_ROWS, dimensions), np.float16)
        self._packed: list[Packed] = []
        self._places: dict[int, list[range]] = {}  # Where the rows of a document are, as far as they are not buried.

    @property
    def is_exact(self) -> bool:
        return HALVES in self._columns

    def column(self, name: str) -> Column:
        return self._columns[name][: self.count]

    def exact(self, rows: Rows) -> Floats:
        """Some vectors as they are. Only where ``is_exact``."""
        vectors: Floats = self.column(HALVES)[rows].astype(np.float32)
        return vectors

    def about(self, rows: Rows) -> Floats:
        """Some vectors, as they are or as well as the codes tell."""
        if self.is_exact:
            return self.exact(rows)
        vectors: Floats = self.column(CODES)[rows] * self.column(SCALES)[rows, None] + self.middle
        return vectors

    def add(self, columns: Columns, halves: NDArray[np.float16]) -> None:
        begin, end = self.count, self.count + len(halves)
        if end > len(self._columns[CODES]):
            self._make_room(max(end, int(self.count * GROWTH)))
        for name, column in {**columns, HALVES: halves}.items():
            if name in self._columns:
                self._columns[name][begin:end] = column
        self.count = end
        self.added += len(halves)
        self._find_places(begin)
        if begin == 0:
            self.middle = halves.mean(axis=0, dtype=np.float32)
        self._code(begin, halves)
        self._pack()

    def bury(self, rows: Rows) -> None:
        """Let rows count no more."""
        self.column("alive")[rows] = False
        self.dead = self.count - int(np.count_nonzero(self.column("alive")))

    def bury_documents(self, documents: Sequence[int]) -> None:
        self.bury(self.rows_of(documents))
        for document in documents:
            self._places.pop(document, None)

    def rows_of(self, documents: Sequence[int]) -> Rows:
        places = [place for document in documents for place in self._places.get(document, ())]
        return np.concatenate([np.arange(place.start, place.stop) for place in places] or [np.empty(0, np.intp)])

    def _find_places(self, begin: int) -> None:
        """Remember where documents are, from a row on. Rows of one document mostly lie side by side."""
        documents = self.column("document")[begin:]
        starts = np.flatnonzero(np.diff(documents, prepend=-1)) + begin
        for document, start, end in zip(
            self.column("document")[starts].tolist(), starts.tolist(), [*starts[1:].tolist(), self.count], strict=True
        ):
            self._places.setdefault(document, []).append(range(start, end))

    def compact(self) -> None:
        """Put dead rows away where they are many."""
        if self.dead < max(DEAD_ROWS, self.count * DEAD_SHARE):
            return
        alive = self.column("alive")
        self._columns = {name: self.column(name)[alive] for name in self._columns}
        self.count, self.dead, self._packed, self._places = len(self._columns[CODES]), 0, [], {}
        self._find_places(0)
        self._code_anew()
        self._pack()

    def _make_room(self, rows: int) -> None:
        self._code_anew()  # While there are few, their middle is soon another one.
        if rows > EXACT_ROWS * GROWTH:
            self._columns.pop(HALVES, None)
        for name, column in self._columns.items():
            longer = np.empty((rows, *column.shape[1:]), column.dtype)
            longer[: self.count] = column[: self.count]
            self._columns[name] = longer
        self._pack()

    # Eight bits a number.

    def _code_anew(self) -> None:
        if not self.is_exact or not self.count:
            return
        halves = self.column(HALVES)
        self.middle = halves.mean(axis=0, dtype=np.float32)
        self.error, self.longest, self._packed = 0.0, 0.0, []
        for begin in range(0, self.count, CODED_AT_ONCE):
            self._code(begin, halves[begin : begin + CODED_AT_ONCE])

    def _code(self, begin: int, halves: NDArray[np.float16]) -> None:
        vectors = halves.astype(np.float32) - self.middle
        scales = np.maximum(np.abs(vectors).max(axis=1), np.float32(1e-12)) / np.float32(127)
        codes = np.rint(vectors / scales[:, None])
        self._columns[CODES][begin : begin + len(codes)] = codes
        self._columns[SCALES][begin : begin + len(codes)] = scales
        off = np.linalg.norm(vectors - codes * scales[:, None], axis=1)
        self.longest = max(self.longest, float(np.linalg.norm(vectors, axis=1).max(initial=0.0)))
        self.error = max(self.error, float(off.max(initial=0.0)) + self.longest * rounding(self.dimensions))

    def _pack(self) -> None:
        packed = sum(one.rows for one in self._packed)
        while packed + PACKED_ROWS[0] <= self.count:
            rows = PACKED_ROWS[0]
            for more in PACKED_ROWS[1:]:
                smaller = [one.rows for one in self._packed if one.rows < more]  # The last ones, behind the larger.
                if sum(smaller) + rows < more:
                    break
                self._packed = self._packed[: len(self._packed) - len(smaller)]
                packed -= sum(smaller)
                rows = more
            some = slice(packed, packed + rows)
            self._packed.append(Packed(self.column(CODES)[some], self.column(SCALES)[some]))
            packed += rows

    # Scanning.

    def parts(self, question: Question, near: Floats) -> Iterator[Part]:
        """What has to be done, in any order, to have the score of each row for the question in ``near``."""
        offset = np.float32(self.middle @ question.direction) - question.level
        begin = 0
        for packed in self._packed:
            rows = slice(begin, begin + packed.rows)
            yield Part(packed.rows, partial(packed.score, question, offset, near[rows]))
            begin += packed.rows
        if begin < self.count:
            yield Part(self.count - begin, partial(self._score_loose, begin, question, offset, near[begin:]))

    def _score_loose(self, begin: int, question: Question, offset: np.float32, out: Floats) -> None:
        """The same as ``Packed.score``, for the rows from ``begin`` on, which are not packed yet."""
        np.dot(self.column(CODES)[begin:].astype(np.float32), question.direction, out=out)
        out *= self.column(SCALES)[begin:]
        out += offset

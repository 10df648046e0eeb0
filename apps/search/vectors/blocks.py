"""The vectors of one scope, one beside the other in memory, so that a question to a scope reads that scope only."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.search.vectors import coarse
from apps.search.vectors.coarse import Signs, signs_of

LANGUAGES = ("zh", "en", "other")
FIRST_ROWS = 64
GROWTH = 1.5  # Growing copies all there is; rarely, then.
DEAD_SHARE, DEAD_ROWS = 0.25, 256
COLUMNS: dict[str, type[np.generic]] = {
    "id": np.int64, "document": np.int64, "revision": np.int64, "start": np.int32, "end": np.int32,
    "language": np.int8, "active": np.bool_, "alive": np.bool_,
}  # fmt: skip

Column = NDArray[Any]
Columns = Mapping[str, Column]
Rows = NDArray[np.intp]
Floats = NDArray[np.float32]


class Block:
    """Rows are only added; one that is gone from the database stays as a dead row until the next compaction.

    A block that is only ever looked at coarsely keeps its vectors in half the room.
    """

    def __init__(self, dimensions: int) -> None:
        self.count = self.dead = 0
        self._vectors: NDArray[np.floating] = np.empty((FIRST_ROWS, dimensions), np.float32)
        self._signs: Signs | None = None
        self._columns = {name: np.empty(FIRST_ROWS, kind) for name, kind in COLUMNS.items()}

    @property
    def vectors(self) -> NDArray[np.floating]:
        return self._vectors[: self.count]

    @property
    def signs(self) -> Signs:
        """Made when they are first needed, and kept up from then on."""
        known = 0 if self._signs is None else len(self._signs)
        if self._signs is None or known < self.count:
            fresh = signs_of(self.vectors[known:])
            self._signs = fresh if self._signs is None else np.concatenate([self._signs, fresh])
        return self._signs

    def near(self, rows: Rows, question: Floats) -> Floats:
        """The cosines of some rows."""
        some: Floats = self.vectors[rows].astype(np.float32, copy=False)
        return some @ question

    def column(self, name: str) -> Column:
        return self._columns[name][: self.count]

    def add(self, columns: Columns, vectors: Floats) -> None:
        end = self.count + len(vectors)
        if end > len(self._vectors):
            self._make_room(max(end, int(len(self._vectors) * GROWTH)))
        self._vectors[self.count : end] = vectors
        for name, column in columns.items():
            self._columns[name][self.count : end] = column
        self.count = end

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
        self._vectors = self.vectors[alive]
        self._columns = {name: self.column(name)[alive] for name in COLUMNS}
        self.count, self.dead, self._signs = len(self._vectors), 0, None

    def _make_room(self, rows: int) -> None:
        kind = np.float32 if self.count <= coarse.COARSE_ABOVE else np.float16
        vectors = np.empty((rows, self._vectors.shape[1]), kind)
        vectors[: self.count] = self.vectors
        self._vectors = vectors
        for name, column in self._columns.items():
            longer = np.empty(rows, column.dtype)
            longer[: self.count] = column[: self.count]
            self._columns[name] = longer

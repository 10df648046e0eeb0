"""The nearest passages to a question, exactly, over all vectors of the scopes that are searched.

Lives in the embedder process, as a cache of the rows: before each answer what is new is read, after it every hit is held
against the database, and who is gone, changed or filtered out there gives way to the next one. Blocks too large to keep
exact vectors are ranked by their eight bits, and only what is shown is compared exactly.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

from apps.base.rows import fetched
from apps.search.filters import SearchFilters
from apps.search.vectors.blocks import Block, Floats
from apps.search.vectors.field import Field, Found, Searched
from apps.search.vectors.near import NearDocument
from apps.search.vectors.whitening import Whitening, whitenings

READ_AT_ONCE = 4_000
ROUNDS = 20
LANGUAGES = ("zh", "en", "other")
SAMPLE = 10_000  # So many vectors of a language tell how all of them spread.
RENEWED_AFTER = 0.5
WHITENINGS_KEPT = 16  # One for each set of scopes that is searched together, two megabytes each.

_NEWER = """
    SELECT p.id, p.document_id, p.revision, p.start, p."end", p.language, p.vector, d.scope_key, d.status
    FROM search_passage p CROSS JOIN search_document d ON d.id = p.document_id AND d.revision = p.revision
    WHERE p.id > %s AND p.id <= %s AND p.model_id = %s ORDER BY p.id LIMIT %s
"""
# The keys as one value make one statement of it however many they are, which SQLite then prepares but once.
_STANDING = """
    SELECT d.id, d.revision, {where} FROM json_each(%s) AS k CROSS JOIN search_document d NOT INDEXED ON d.id = k.value
"""
_VECTORS = "SELECT p.id, p.vector FROM json_each(%s) AS k CROSS JOIN search_passage p ON p.id = k.value"

Row = tuple[Any, ...]
Place = tuple[str, str]  # A scope and a language.


@dataclass(frozen=True, slots=True)
class _Taken:
    """``came`` is how many texts of each language had ever come then."""

    of_language: list[Whitening]
    came: list[int]


class Matrix:
    """All vectors of one model, a block a scope and language."""

    def __init__(self, model_id: int, dimensions: int) -> None:
        self.model_id, self.dimensions = model_id, dimensions
        self._whitenings: OrderedDict[tuple[str, ...], _Taken] = OrderedDict()
        self._lock = RLock()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.blocks: dict[Place, Block] = {}
        self._home: dict[int, str] = {}  # In which scope a document lies.
        self._fallen: set[int] = set()  # Documents that did not pass when they were held against the database.
        self._last = 0
        self._whitenings.clear()

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
        with self._lock:
            found = fetched("SELECT seq FROM sqlite_sequence WHERE name = 'search_passage'", [])
            newest = found[0][0] if found else 0
            if newest == self._last:
                return True
            if newest < self._last:  # Keys only grow: another database lies there now.
                self._begin_anew()
            limit = READ_AT_ONCE
            while True:
                rows = fetched(_NEWER, [self._last, newest, self.model_id, limit])
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
        documents = list({row[1] for row in rows})
        self._fallen.difference_update(documents)
        for scope, language in self.blocks:
            if scope in known:
                self.blocks[scope, language].bury_documents(documents)
        by_place: dict[Place, list[Row]] = {}
        for row in rows:
            by_place.setdefault((row[7], row[5] if row[5] in LANGUAGES else LANGUAGES[-1]), []).append(row)
        for place, some in by_place.items():
            ids, owners, revisions, starts, ends, _, vectors, _, statuses = zip(*some, strict=True)
            block = self.blocks.setdefault(place, Block(self.dimensions))
            block.add(
                {
                    "id": np.array(ids), "document": np.array(owners), "revision": np.array(revisions),
                    "start": np.array(starts), "end": np.array(ends), "alive": np.ones(len(some), np.bool_),
                    "active": np.array([status == "active" for status in statuses], np.bool_),
                },
                np.frombuffer(b"".join(vectors), np.float16).reshape(len(some), -1),
            )  # fmt: skip
            block.compact()
            self._home.update(dict.fromkeys(owners, place[0]))

    # Answering.

    def field(self, vector: Floats, scope_keys: Sequence[str]) -> Field:
        """These scopes, scanned for a question."""
        with self._lock:
            return Field(self._searched(scope_keys), vector)

    def nearest(
        self,
        vector: Floats,
        filters: SearchFilters,
        *,
        also: Sequence[int] = (),
        limit: int = 200,
        ahead: Field | None = None,
        checked: bool = True,
    ) -> list[NearDocument]:
        """One passage a document, best z first; at least half of ``limit`` of each language that has as many.

        Of what was read so far (``refresh``). Documents in ``also`` come too, whatever their rank, if the filters let them
        pass. ``ahead`` is what was scanned for the same question before; it serves where nothing has come since.
        Who looks the documents up anyway need not have them ``checked``: one that is gone, changed or filtered out since
        may then stand where another one should, unless it did so before.
        """
        with self._lock:
            searched = self._searched(filters.scope_keys)
            field = ahead if ahead is not None and ahead.is_of(searched) else Field(searched, vector, scanned=limit > 0)
            field.admit(filters)
            found = field.chosen(also, limit)
            for _ in range(ROUNDS if checked or not self._fallen.isdisjoint(found["document"].tolist()) else 0):
                if not self._drop_fallen(field, found, filters):
                    break
                found = field.chosen(also, limit)
            if field.is_exact:
                return field.near(found)
            vectors = _stored(field.of("id", found).tolist(), self.dimensions)
            return field.near(field.compare_with(found, vectors), vectors)

    def _searched(self, scope_keys: Sequence[str]) -> list[Searched]:
        keys = tuple(key for key in dict.fromkeys(scope_keys) if any((key, each) in self.blocks for each in LANGUAGES))
        blocks = [[self.blocks[key, each] for key in keys if (key, each) in self.blocks] for each in LANGUAGES]
        whitenings = self._whitenings_of(keys, blocks) if keys else []
        every = zip(LANGUAGES, blocks, whitenings, strict=True) if keys else ()
        return [Searched(language, some, whitening) for language, some, whitening in every if some]

    def _whitenings_of(self, keys: tuple[str, ...], blocks: Sequence[Sequence[Block]]) -> list[Whitening]:
        """Of these scopes together, and taken anew once half as many texts again have come, or half of them went."""
        counts = [sum(block.count - block.dead for block in some) for some in blocks]
        came = [sum(block.added for block in some) for some in blocks]
        known = self._whitenings.get(keys)
        if known is None or any(
            now - then > one.rows * RENEWED_AFTER or count < one.rows * RENEWED_AFTER
            for one, then, now, count in zip(known.of_language, known.came, came, counts, strict=True)
        ):
            samples = [_sample(some, self.dimensions) for some in blocks]
            known = _Taken(whitenings(samples, counts), came)
        self._whitenings[keys] = known
        self._whitenings.move_to_end(keys)
        if len(self._whitenings) > WHITENINGS_KEPT:
            self._whitenings.popitem(last=False)
        return known.of_language

    def _drop_fallen(self, field: Field, found: Found, filters: SearchFilters) -> int:
        """Hold hits against the database; how many of them do not count."""
        where, values = filters.where()
        documents, revisions = found["document"].tolist(), field.of("revision", found).tolist()
        rows = fetched(_STANDING.format(where=where), [*values, json.dumps(documents)])
        known = {key: (revision, passes) for key, revision, passes in rows}
        told = [known.get(document, (0, 0)) for document in documents]
        fallen = [place for place, revision in enumerate(revisions) if told[place] != (revision, 1)]
        self._fallen.difference_update(documents)
        if fallen:
            self._fallen.update(documents[place] for place in fallen)
            bury = np.array([told[place][0] != revisions[place] for place in fallen], np.bool_)
            field.forget(found[fallen], bury=bury)
        return len(fallen)


def _sample(blocks: Sequence[Block], dimensions: int) -> Floats:
    """Living vectors, evenly over all blocks, as many as tell how they spread."""
    rows = [np.flatnonzero(block.column("alive")) for block in blocks]
    step = max(1, -(-sum(map(len, rows)) // SAMPLE))
    return np.concatenate([
        np.empty((0, dimensions), np.float32),
        *(block.about(some[::step]) for block, some in zip(blocks, rows, strict=True)),
    ])  # fmt: skip


def _stored(ids: Sequence[int], dimensions: int) -> dict[int, Floats]:
    """The vectors of passages, from the database."""
    vectors: dict[int, Floats] = {}
    for key, stored in fetched(_VECTORS, [json.dumps(list(ids))]):
        if len(stored) == dimensions * 2:
            vectors[key] = np.frombuffer(bytes(stored), np.float16).astype(np.float32)
    return vectors


def _whole_documents(rows: Sequence[Row]) -> Sequence[Row]:
    """Without the last document, of which there may be more: the rest of it would bury what was read."""
    place = len(rows)
    while place and rows[place - 1][1] == rows[-1][1]:
        place -= 1
    return rows[:place]

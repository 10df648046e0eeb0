"""What one question is held against: the living rows of the searched scopes, and how far each stands out for it.

All rows are scanned, language by language; whoever might be among the best, so far as the scan can be off, is compared exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.search.filters import SearchFilters
from apps.search.vectors.blocks import Block, Column, Floats, Rows, scan
from apps.search.vectors.near import NearDocument
from apps.search.vectors.packed import Question
from apps.search.vectors.whitening import Whitening

SAMPLED = 16  # One of so many scores is looked at to see where the best begin.
HIDDEN = np.float32(-np.inf)  # The score of a row that does not pass.
# Rows found: the place of their part, their place in its block, and what is ranked by.
FOUND = np.dtype([("part", np.int32), ("row", np.int64), ("document", np.int64), ("score", np.float32)])

Found = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Searched:
    """The blocks of one language."""

    language: str
    blocks: Sequence[Block]
    whitening: Whitening

    @property
    def rows(self) -> int:
        return sum(block.count - block.dead for block in self.blocks)


class _Part:
    """One block under the question. A score says by how many standard deviations a row is nearer than the average one."""

    def __init__(self, block: Block, searched: Searched, question: Question, level: np.float32) -> None:
        self.block, self.searched, self.question, self.level = block, searched, question, level
        self.came = block.added  # Whatever moves its rows adds some.
        self.scores: Floats = np.zeros(block.count, np.float32)
        # Two scores of the scan that differ by more than this are in the right order.
        self.doubt = np.float32(2 * block.error * question.length if block.is_exact else 0.0)

    def admit(self, passing: NDArray[np.bool_] | None) -> None:
        """Hide what does not count. ``passing`` tells by document; without it, all that is active passes."""
        if passing is None:
            passes = self.block.column("active") & self.block.column("alive")
        else:
            passes = passing[np.minimum(self.block.column("document"), len(passing) - 1)] & self.block.column("alive")
        if not passes.all():
            self.scores = np.where(passes, self.scores, HIDDEN)

    def compare(self, rows: Rows) -> None:
        """Put exact scores in place of those of the scan."""
        if self.block.is_exact:
            self.scores[rows] = self.block.exact(rows) @ self.question.direction - self.level

    def top(self, wanted: int) -> Rows:
        rows = _top(self.scores, wanted)
        return rows[self.scores[rows] > HIDDEN]


class Field:
    """The searched rows and one question. Without a scan only documents that are asked for have scores."""

    def __init__(self, searched: Sequence[Searched], vector: Floats, *, scanned: bool = True) -> None:
        self.vector = vector
        self.parts: list[_Part] = []
        for one in searched:
            direction, level = one.whitening.towards(vector)
            question = Question(direction)
            self.parts += [_Part(block, one, question, level) for block in one.blocks if block.count]
        self.languages = {
            one.language: [number for number, part in enumerate(self.parts) if part.searched is one] for one in searched
        }
        self._scan([part for part in self.parts if scanned or not part.block.is_exact])

    def _scan(self, parts: Sequence[_Part]) -> None:
        for part, scores in zip(parts, scan([(part.block, part.question) for part in parts]), strict=True):
            part.scores = scores
            part.scores -= part.level

    def is_of(self, searched: Sequence[Searched]) -> bool:
        """Whether these blocks were scanned, and nothing came to them since."""
        blocks = [block for one in searched for block in one.blocks if block.count]
        return len(blocks) == len(self.parts) and all(
            part.block is block and part.came == block.added for part, block in zip(self.parts, blocks, strict=True)
        )

    @property
    def is_exact(self) -> bool:
        return all(part.block.is_exact for part in self.parts)

    def admit(self, filters: SearchFilters) -> None:
        """Filters come before the ranking: only what passes them is looked at."""
        passing = None if filters.is_scope_only else _passing(filters)
        for part in self.parts:
            part.admit(passing)

    def chosen(self, also: Sequence[int], limit: int) -> Found:
        """The best row of each document that is to be shown, best first."""
        by_language = [self._best(numbers, limit) for numbers in self.languages.values()] if limit else []
        overall = _unique(_together(by_language))[:limit]
        return _unique(_together([overall, *(found[: limit // 2] for found in by_language), self._asked(also)]))

    def _best(self, numbers: Sequence[int], most: int) -> Found:
        """The best rows of one language, of ``most`` documents where there are so many; best first."""
        wanted = most * 2
        while True:
            rows = {number: self.parts[number].top(wanted) for number in numbers}
            best = _unique(self._found(rows))
            if len(best) >= most or all(len(some) < wanted for some in rows.values()):
                break
            wanted *= 4
        if len(best) > most:
            doubt = max(self.parts[number].doubt for number in numbers)
            least = best["score"][most - 1] - doubt
            rows = {number: np.flatnonzero(self.parts[number].scores >= least) for number in numbers}
        for number, some in rows.items():
            self.parts[number].compare(some)
        return _unique(self._found(rows))[:most]

    def _asked(self, documents: Sequence[int]) -> Found:
        """The best row of each of these documents by the scan, its score exact."""
        if not documents:
            return np.empty(0, FOUND)
        rows = {number: part.block.rows_of(documents) for number, part in enumerate(self.parts)}
        found = self._found(rows)
        best = _unique(found[found["score"] > HIDDEN])
        rows = {number: some for number, some, _ in self._by_part(best)}
        for number, some in rows.items():
            self.parts[number].compare(some)
        return self._found(rows)

    def _found(self, rows: Mapping[int, Rows]) -> Found:
        found = np.empty(sum(map(len, rows.values())), FOUND)
        begin = 0
        for number, some in rows.items():
            part, ours = self.parts[number], found[begin : begin + len(some)]
            ours["part"], ours["row"] = number, some
            ours["document"], ours["score"] = part.block.column("document")[some], part.scores[some]
            begin += len(some)
        return found

    def of(self, name: str, found: Found) -> Column:
        """A column of the blocks for these rows."""
        values = np.empty(len(found), np.int64)
        for number, rows, places in self._by_part(found):
            values[places] = self.parts[number].block.column(name)[rows]
        return values

    def forget(self, found: Found, *, bury: NDArray[np.bool_]) -> None:
        """Let rows not count; those to bury are gone for every question."""
        for number, rows, places in self._by_part(found):
            self.parts[number].scores[rows] = HIDDEN
            if bury[places].any():
                self.parts[number].block.bury(rows[bury[places]])

    def compare_with(self, found: Found, vectors: Mapping[int, Floats]) -> Found:
        """With exact scores by the vectors of passages that only the database keeps; without those it has no more."""
        kept = [vectors.get(key) for key in self.of("id", found).tolist()]
        found = found[[vector is not None for vector in kept]]
        for place, vector in enumerate(vector for vector in kept if vector is not None):
            part = self.parts[found["part"][place]]
            found["score"][place] = vector @ part.question.direction - part.level
        return _unique(found)

    def near(self, found: Found, vectors: Mapping[int, Floats] | None = None) -> list[NearDocument]:
        """As the answer tells them; ``vectors`` by passage where the blocks do not keep them."""
        revisions, starts, ends = (self.of(name, found).tolist() for name in ("revision", "start", "end"))
        cosines = np.empty(len(found), np.float32)
        for number, rows, places in self._by_part(found):
            block = self.parts[number].block
            if block.is_exact:
                cosines[places] = block.exact(rows) @ self.vector
            else:
                ids = block.column("id")[rows].tolist()
                cosines[places] = [(vectors or {})[key] @ self.vector for key in ids]
        searched = [self.parts[number].searched for number in found["part"]]
        keys, scores = found["document"].tolist(), found["score"].tolist()
        return [
            NearDocument(key, revision, start, end, cosine, score, one.language, one.rows)
            for key, revision, start, end, cosine, score, one in zip(
                keys, revisions, starts, ends, cosines.tolist(), scores, searched, strict=True
            )
        ]

    def _by_part(self, found: Found) -> list[tuple[int, Rows, Rows]]:
        places = [(number, np.flatnonzero(found["part"] == number)) for number in np.unique(found["part"]).tolist()]
        return [(number, found["row"][some], some) for number, some in places]


def _passing(filters: SearchFilters) -> NDArray[np.bool_]:
    """By document whether it passes; the last place is for those beyond, which do not."""
    where, values = filters.where()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT d.id FROM search_document d WHERE {where}", values)  # noqa: S608 - constants of this room
        documents = np.fromiter((key for (key,) in cursor.fetchall()), np.int64)
    passing = np.zeros(int(documents.max(initial=-1)) + 2, np.bool_)
    passing[documents] = True
    return passing


def _together(found: Sequence[Found]) -> Found:
    return np.concatenate([np.empty(0, FOUND), *found])


def _unique(found: Found) -> Found:
    """The best row of each document, best first."""
    found = found[np.argsort(-found["score"], kind="stable")]
    _, firsts = np.unique(found["document"], return_index=True)
    return found[np.sort(firsts)]


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

"""What one question is held against: the living rows of the searched scopes, and how far each stands out for it.

All rows are scanned, language by language; whoever might be among the best, so far as the scan can be off, is compared exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.base.rows import fetched
from apps.search.filters import SearchFilters
from apps.search.vectors.blocks import Block, Column, Floats, Rows
from apps.search.vectors.near import NearDocument
from apps.search.vectors.packed import Question
from apps.search.vectors.scanning import scan
from apps.search.vectors.whitening import Whitening

SAMPLED = 16  # One of so many scores is looked at to see where the best begin.
NOT_SCANNED: Floats = np.empty(0, np.float32)
HIDDEN = np.float32(-np.inf)  # The score of a row that does not pass.
LOWEST = float(np.finfo(np.float32).min)  # Of those that do.
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

    def __init__(self, block: Block, searched: Searched, question: Question) -> None:
        self.block, self.searched, self.question = block, searched, question
        self.came = block.added  # Whatever moves its rows adds some.
        self.scores: Floats = NOT_SCANNED
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
            self.scores[rows] = self.block.exact(rows) @ self.question.direction - self.question.level

    def above(self, level: float) -> Rows:
        return np.flatnonzero(self.scores >= np.float32(max(level, LOWEST)))

    def top(self, wanted: int) -> Rows:
        rows = _top(self.scores, wanted)
        return rows[self.scores[rows] > HIDDEN]


class Field:
    """The searched rows and one question. Without a scan only documents that are asked for have scores."""

    def __init__(self, searched: Sequence[Searched], vector: Floats, *, scanned: bool = True) -> None:
        self.vector = vector
        self.parts: list[_Part] = []
        for one in searched:
            question = Question(*one.whitening.towards(vector))
            self.parts += [_Part(block, one, question) for block in one.blocks if block.count]
        self.languages = [
            [number for number, part in enumerate(self.parts) if part.searched is one] for one in searched
        ]
        # By the number of a part.
        self._language = np.repeat(np.arange(len(searched)), [len(numbers) for numbers in self.languages])
        self._scan([part for part in self.parts if scanned or not part.block.is_exact])

    def _scan(self, parts: Sequence[_Part]) -> None:
        for part in self.parts:
            if part not in parts:
                part.scores = np.zeros(part.block.count, np.float32)
        for part, scores in zip(parts, scan([(part.block, part.question) for part in parts]), strict=True):
            part.scores = scores

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
        """The best row of each document to show, best first: of ``limit`` documents, and of half as many a language."""
        best = self._best(limit) if limit else np.empty(0, FOUND)
        shown = np.arange(len(best)) < limit
        for places in self._by_language(best):
            shown[places[: limit // 2]] = True
        best = best[shown]
        others = list(set(also).difference(best["document"].tolist()))
        return _in_order(np.concatenate([best, self._asked(others)])) if others else best

    def _best(self, limit: int) -> Found:
        """All documents that may be among those, by exact scores."""
        seen = self._seen(limit)
        least, doubt = _score_at(seen, limit), max((float(part.doubt) for part in self.parts), default=0.0)
        rows: dict[int, Rows] = {}
        for numbers, places in zip(self.languages, self._by_language(seen), strict=True):
            low = min(least, _score_at(seen[places], limit // 2)) - doubt
            for number in numbers:
                rows[number] = self.parts[number].above(low)
                self.parts[number].compare(rows[number])
        return _unique(self._found(rows))

    def _seen(self, limit: int) -> Found:
        """The best documents by the scan: ``limit``, and half of it in each language, where there are so many."""
        wanted = limit * 2
        while True:
            rows = {number: part.top(wanted) for number, part in enumerate(self.parts)}
            seen = _unique(self._found(rows))
            ended = [all(len(rows[number]) < wanted for number in numbers) for numbers in self.languages]
            enough = [len(places) >= limit // 2 for places in self._by_language(seen)]
            if all(map(or_, ended, enough)) and (len(seen) >= limit or all(ended)):
                return seen
            wanted *= 4

    def _asked(self, documents: Sequence[int]) -> Found:
        """The best row of each of these documents by the scan, its score exact."""
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
            found["score"][place] = vector @ part.question.direction - part.question.level
        return _unique(found)

    def near(self, found: Found, vectors: Mapping[int, Floats] | None = None) -> list[NearDocument]:
        """As the answer tells them; ``vectors`` by passage where the blocks do not keep them."""
        told = np.empty((3, len(found)), np.int64)  # Revision, start, end.
        cosines = np.empty(len(found), np.float32)
        for number, rows, places in self._by_part(found):
            block = self.parts[number].block
            told[:, places] = [block.column(name)[rows] for name in ("revision", "start", "end")]
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
                keys, *told.tolist(), cosines.tolist(), scores, searched, strict=True
            )
        ]

    def _by_language(self, found: Found) -> list[Rows]:
        """The places of what lies in each language."""
        languages = self._language[found["part"]]
        return [np.flatnonzero(languages == number) for number in range(len(self.languages))]

    def _by_part(self, found: Found) -> list[tuple[int, Rows, Rows]]:
        places = [(number, np.flatnonzero(found["part"] == number)) for number in np.unique(found["part"]).tolist()]
        return [(number, found["row"][some], some) for number, some in places]


def _passing(filters: SearchFilters) -> NDArray[np.bool_]:
    """By document whether it passes; the last place is for those beyond, which do not."""
    where, values = filters.where()
    rows = fetched(f"SELECT d.id FROM search_document d WHERE {where}", values)  # noqa: S608 - constants of this room
    documents = np.fromiter((key for (key,) in rows), np.int64)
    passing = np.zeros(int(documents.max(initial=-1)) + 2, np.bool_)
    passing[documents] = True
    return passing


def _score_at(found: Found, place: int) -> float:
    """The score of the last one of so many; of fewer than that, all are wanted."""
    if place == 0:
        return np.inf
    return float(found["score"][place - 1]) if len(found) >= place else -np.inf


def _in_order(found: Found) -> Found:
    return found[np.argsort(-found["score"], kind="stable")]


def _unique(found: Found) -> Found:
    """The best row of each document, best first."""
    order = np.argsort(-found["score"], kind="stable")
    _, firsts = np.unique(found["document"][order], return_index=True)
    return found[order[np.sort(firsts)]]


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

"""Vectors as a test wants them: how near each document is said to be, without a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from apps.search.cursors import Reason
from apps.search.filters import SearchFilters
from apps.search.models import Document
from apps.search.vectors.near import NearDocument, Nearest


@dataclass
class SaidToBeNear:
    """``z`` by stable id. Stands in for ``asking.begin``; ``asked`` tells what was asked for."""

    z: Mapping[str, float] = field(default_factory=dict)
    reason: Reason | None = None  # Why nobody could be asked at all.
    doubt: Reason | None = None  # What the answer is said to lack.
    is_on: bool = True
    available: bool = True
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    revisions: Mapping[str, int] = field(default_factory=dict)
    among: int = 1_000
    asked: list[str] = field(default_factory=list)
    is_closed: bool = False
    is_at_work: bool = True
    fallen: Mapping[int, float] = field(default_factory=dict)  # By key of a document: told of where nothing is checked.
    checks: list[bool] = field(default_factory=list)

    query: str = ""

    def __call__(self, query: str, scope_keys: Sequence[str] = ()) -> "SaidToBeNear":
        self.query = query
        self.asked.append(query)
        return self

    def ask(self, filters: SearchFilters, *, also: Sequence[int] = (), limit: int = 200, checked: bool = True) -> None:
        self._wanted = filters, also, limit
        self.checks.append(checked)

    def finish(self, filters: SearchFilters, *, also: Sequence[int] = (), limit: int = 200) -> Nearest:
        self.ask(filters, also=also, limit=limit)
        return self.answer()

    def answer(self) -> Nearest:
        filters, also, limit = self._wanted
        if not self.available:
            return Nearest(reason=self.doubt)
        found = self._documents(filters, None)
        if not self.checks[-1]:
            found += [NearDocument(key, 0, 0, 0, 0.9, z, "en", self.among) for key, z in self.fallen.items()]
        chosen = sorted(found, key=lambda one: -one.z)[:limit]
        chosen += [one for one in found if one.document_id in also and one not in chosen]
        return Nearest(chosen, True, self.doubt)

    def scores(self, document_ids: Sequence[int], filters: SearchFilters) -> list[NearDocument]:
        return self._documents(filters, document_ids)

    def close(self) -> None:
        self.is_closed = True

    def _documents(self, filters: SearchFilters, among: Sequence[int] | None) -> list[NearDocument]:
        rows = Document.objects.filter(stable_id__in=self.z, scope_key__in=filters.scope_keys, status="active")
        return [
            NearDocument(
                row.pk,
                self.revisions.get(row.stable_id, row.revision),
                *self.places.get(row.stable_id, (0, 0)),
                0.8 + self.z[row.stable_id] / 100,
                self.z[row.stable_id],
                "en",
                self.among,
            )
            for row in rows
            if among is None or row.pk in among
        ]

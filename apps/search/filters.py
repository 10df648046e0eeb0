"""What narrows a search, the same for words and for meaning: SQL over a row of ``search_document``."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.search.index import stored_time, tag_line

_ACTIVE = ("active",)


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """``None`` means no filter, an empty one that nothing passes; ``tags`` must all be there; times are inclusive."""

    scope_keys: Sequence[str]
    resources: Sequence[str] | None = None
    statuses: Sequence[str] | None = _ACTIVE
    kinds: Sequence[str] | None = None
    note_types: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    updated_from: datetime | None = None
    updated_to: datetime | None = None

    def where(self) -> tuple[str, list[Any]]:
        """The condition over ``search_document d`` and its parameters."""
        conditions = list(self._conditions())
        return " AND ".join(sql for sql, _ in conditions), [value for _, values in conditions for value in values]

    @property
    def is_scope_only(self) -> bool:
        """Whether scopes narrow it and nothing else: of their documents, the active ones."""
        return self == SearchFilters(self.scope_keys)

    def _conditions(self) -> Iterator[tuple[str, Sequence[Any]]]:
        for column, allowed in (
            ("scope_key", self.scope_keys),
            ("resource", self.resources),
            ("status", self.statuses),
            ("kind", self.kinds),
            ("note_type", self.note_types),
        ):
            if allowed is not None:
                yield f"d.{column} IN ({', '.join(['%s'] * len(allowed))})", allowed
        for tag in self.tags or ():
            yield "instr(d.tags, %s)", [tag_line(tag)]
        for column, comparison, moment in (
            ("created_at", ">=", self.created_from),
            ("created_at", "<=", self.created_to),
            ("updated_at", ">=", self.updated_from),
            ("updated_at", "<=", self.updated_to),
        ):
            if moment is not None:
                yield f"d.{column} {comparison} %s", [stored_time(moment)]

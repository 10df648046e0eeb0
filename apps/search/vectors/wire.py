"""Filters and findings as JSON carries them between the embedder and everybody else."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from apps.search.filters import SearchFilters
from apps.search.vectors.near import NearDocument

TIMES = ("created_from", "created_to", "updated_from", "updated_to")


def told_filters(filters: SearchFilters) -> dict[str, Any]:
    return {field.name: _told(getattr(filters, field.name)) for field in fields(filters)}


def filters_from(message: Mapping[str, Any]) -> SearchFilters:
    return SearchFilters(**{name: _meant(name, value) for name, value in message.items()})


def documents_from(told: Sequence[Sequence[Any]]) -> list[NearDocument]:
    """A list for each, as JSON tells a tuple."""
    return [NearDocument(*values) for values in told]


def _told(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return None if value is None else list(value)


def _meant(name: str, value: Any) -> Any:
    if value is None:
        return None
    return datetime.fromisoformat(value) if name in TIMES else tuple(value)

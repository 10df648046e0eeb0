"""Hits as rows of a list, and excerpts as parts that matched or did not."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from apps.console.places import Places
from apps.memories.schemas import SearchHit


@dataclass(frozen=True)
class Part:
    text: str
    matched: bool


def parts_of(hit: SearchHit) -> list[Part]:
    """The excerpt in reading order, cut where a match begins or ends."""
    parts, place = [], 0
    for start, end in sorted(hit.marks):
        if start > place:
            parts.append(Part(hit.excerpt[place:start], False))
        parts.append(Part(hit.excerpt[max(start, place) : end], True))
        place = max(end, place)
    parts.append(Part(hit.excerpt[place:], False))
    return [part for part in parts if part.text]


def found_results(hits: Iterable[SearchHit], places: Places) -> list[dict[str, Any]]:
    """What ``_search_results.html`` shows of each hit."""
    return [{**dict(hit), "excerpt": parts_of(hit), "workspace": places.of_scope(hit.scope)} for hit in hits]


def found_rows(hits: Iterable[SearchHit], places: Places) -> list[dict[str, Any]]:
    """The same as rows of the list of memories."""
    return [{"memory": found, "workspace": found["workspace"]} for found in found_results(hits, places)]

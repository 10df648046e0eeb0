"""Hits as rows of a list, and what a person typed as the arguments of a search."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from apps.base.errors import NotFound
from apps.console.excerpts import Part, cut, parts_of
from apps.console.places import Places
from apps.console.whys import why_of
from apps.memories.schemas import MemoryOut, SearchHit
from apps.memories.selectors import memory_get
from apps.search.excerpts import excerpt

MOST_NAMED = 3  # Of those that say the same as a hit: each is looked up for its title.


def found_results(hits: Iterable[SearchHit], query: str, places: Places) -> list[dict[str, Any]]:
    """What ``_search_rows.html`` shows of each hit."""
    return [
        {
            **dict(hit),
            "title_parts": marked(hit.title, query),
            "excerpt": parts_of(hit.excerpt, hit.marks),
            "workspace": places.of_scope(hit.scope),
            "whys": why_of(hit),
            "wordings": _wordings(hit.also, places),
        }
        for hit in hits
    ]


def _wordings(memory_ids: Sequence[str], places: Places) -> list[MemoryOut]:
    """The first of those that say the same. One that went since the search is not named."""
    found = []
    for memory_id in memory_ids[:MOST_NAMED]:
        with suppress(NotFound):
            found.append(memory_get(places.caller, memory_id=memory_id))
    return found


def found_rows(hits: Iterable[SearchHit], query: str, places: Places) -> list[dict[str, Any]]:
    """The same as rows of the list of memories."""
    return [{"memory": found, "workspace": found["workspace"]} for found in found_results(hits, query, places)]


def marked(title: str, query: str) -> list[Part]:
    """A title with the words of the query marked, by the rules that mark them in a text."""
    shown = excerpt(title, query, width=len(title))
    return cut(shown.text, shown.marks)


def tags_of(text: str) -> list[str]:
    """Tags in one line, apart by commas of either script, with or without their number signs."""
    told = text.replace("，", ",").replace("、", ",").split(",")
    return list(dict.fromkeys(tag for part in told if (tag := part.strip().removeprefix("#").strip())))

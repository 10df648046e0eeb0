"""What happened in a workspace or memory space, step by step."""

from datetime import date
from itertools import groupby
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.base.errors import Invalid
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.visiting import caller_for, for_people
from apps.memories.schemas import TimelineChange, TimelineEntry
from apps.memories.selectors import timeline_get

PAGE = 30
FILTERS = ("project_id", "since", "until")


@require_safe
@for_people
def timeline(request: HttpRequest) -> HttpResponse:
    places = Places(caller_for(request))
    filters = {name: request.GET.get(name, "").strip() for name in FILTERS}
    filters["project_id"] = filters["project_id"] or "global"
    asked = {
        **scope_arguments(filters["project_id"]),
        "since": filters["since"],
        "until": filters["until"],
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }
    try:
        found = timeline_get.perform(places.caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("timeline")
    page = {
        "days": _days(found.entries),
        "filters": filters,
        "choices": places.scope_choices(),
        "narrowed": bool(filters["since"] or filters["until"]),
        **paging(request, found.next_cursor),
    }
    part = "console/timeline/_results.html"
    return render(request, part if request.htmx else "console/timeline/page.html", page)  # type: ignore[attr-defined]


def _days(entries: list[TimelineEntry]) -> list[tuple[date, list[dict[str, Any]]]]:
    return [
        (day, [_step(entry) for entry in of_day]) for day, of_day in groupby(entries, lambda entry: entry.at.date())
    ]


def _step(entry: TimelineEntry) -> dict[str, Any]:
    changes = [{**dict(change), **_links(change)} for change in entry.changes]
    return {**dict(entry), "changes": changes, "more": entry.total - len(changes)}


def _links(change: TimelineChange) -> dict[str, str]:
    """Where a change is read: the revision that it made, and what set it apart from the one before."""
    if change.resource == "checkpoint":
        return {"url": reverse("checkpoint-detail", args=[change.memory_id]), "difference_url": ""}
    before = change.revision - 1
    difference = reverse("memory-difference", args=[change.memory_id]) + f"?old={before}&new={change.revision}"
    return {
        "url": reverse("memory-revision", args=[change.memory_id, change.revision]),
        "difference_url": difference if before and change.action in ("update", "append", "external", "revert") else "",
    }

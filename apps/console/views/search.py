"""Searching while one types."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.base.errors import MemRelayError, NotFound
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.refusals import incomplete_because, told
from apps.console.searching import found_results
from apps.console.visiting import caller_for, for_people
from apps.memories.selectors import memory_search

PAGE = 20


@require_safe
@for_people
def search(request: HttpRequest) -> HttpResponse:
    places = Places(caller_for(request))
    filters = {name: request.GET.get(name, "").strip() for name in ("query", "project_id")}
    page: dict[str, Any] = {"filters": filters, "choices": places.scope_choices()}
    if filters["query"]:
        page |= _found(request, places, filters)
    part = "console/_search_results.html"
    return render(request, part if request.htmx else "console/search.html", page)  # type: ignore[attr-defined]


def _found(request: HttpRequest, places: Places, filters: dict[str, str]) -> dict[str, Any]:
    asked = {
        "query": filters["query"],
        **scope_arguments(filters["project_id"]),
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }
    try:
        found = memory_search.perform(places.caller, asked)
    except NotFound:
        raise
    except MemRelayError as error:
        return {"results": [], "notice": told(error), **paging(request, "")}
    return {
        "results": found_results(found.results, places),
        "notice": incomplete_because(found.reason),
        **paging(request, found.next_cursor),
    }

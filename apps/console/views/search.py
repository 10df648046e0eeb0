"""Searching while one types."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.base.errors import MemRelayError, NotFound
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.refusals import incomplete_because, told
from apps.console.searching import found_results, tags_of
from apps.console.visiting import caller_for, for_people
from apps.memories.selectors import memory_search, search_state_get

PAGE = 20
NARROWING = ("project_id", "resource", "kind", "status", "tags", "updated_from", "updated_to")
FOLDED = ("status", "tags", "updated_from", "updated_to", "explain")  # Under "More filters".
FILTERS = ("query", "mode", "explain", *NARROWING)

LACKS_MEANING = ("SEMANTIC_STARTING", "SEMANTIC_UNAVAILABLE")  # The state beside the page says so too.


@require_safe
@for_people
def search(request: HttpRequest) -> HttpResponse:
    places = Places(caller_for(request))
    filters = {name: request.GET.get(name, "").strip() for name in FILTERS}
    page: dict[str, Any] = {
        "filters": filters,
        "choices": places.scope_choices(),
        "narrowed": any(filters[name] for name in NARROWING),
        "unfolded": any(filters[name] for name in FOLDED),
    }
    if filters["query"]:
        page |= _found(request, places, filters)
    return render(request, _template(request), page)


@require_safe
@for_people
def state(request: HttpRequest) -> HttpResponse:
    """How far searching by meaning is; asked for beside the page, which does not wait for it."""
    page = {"state": search_state_get(caller_for(request))}
    return render(request, "console/_search_meaning.html", page)


def _template(request: HttpRequest) -> str:
    if not request.htmx:  # type: ignore[attr-defined]
        return "console/search.html"
    is_further_page = bool(request.GET.get("cursor"))
    return "console/_search_rows.html" if is_further_page else "console/_search_answer.html"


def _found(request: HttpRequest, places: Places, filters: dict[str, str]) -> dict[str, Any]:
    asked = {
        "query": filters["query"],
        **scope_arguments(filters["project_id"]),
        "resource": filters["resource"] or "any",
        "kind": filters["kind"],
        "status": filters["status"] or "active",
        "tags": tags_of(filters["tags"]),
        "updated_from": filters["updated_from"],
        "updated_to": filters["updated_to"],
        "mode": filters["mode"] or "hybrid",
        "explain": bool(filters["explain"]),
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }
    try:
        found = memory_search.perform(places.caller, asked)
    except NotFound:
        raise
    except MemRelayError as error:
        return {"results": [], "refused": told(error), **paging(request, "")}
    return {
        "results": found_results(found.results, filters["query"], places),
        "notice": incomplete_because(found.reason),
        "lacks_meaning": found.reason in LACKS_MEANING,
        **paging(request, found.next_cursor),
    }

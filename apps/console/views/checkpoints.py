"""Checkpoints: where work stands."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from apps.base.errors import Invalid
from apps.console.markdown import render as as_html
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.visiting import caller_for, for_people
from apps.memories.selectors import checkpoint_get, checkpoint_list

PAGE = 20
FIELDS = ("completed", "reason", "key_changes", "verification", "problems", "solutions", "next_steps")


@require_safe
@for_people
def checkpoints(request: HttpRequest) -> HttpResponse:
    places = Places(caller_for(request))
    filters = {"project_id": request.GET.get("project_id", ""), "important": request.GET.get("important") == "true"}
    asked = {
        **scope_arguments(str(filters["project_id"])),
        "important": filters["important"],
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }
    try:
        found = checkpoint_list.perform(places.caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("checkpoint-list")
    page = {
        "rows": places.checkpoint_rows(found.checkpoints),
        "filters": filters,
        "choices": places.scope_choices(),
        **paging(request, found.next_cursor),
    }
    part = "console/checkpoints/_results.html"
    return render(request, part if request.htmx else "console/checkpoints/list.html", page)  # type: ignore[attr-defined]


@require_safe
@for_people
def checkpoint(request: HttpRequest, checkpoint_id: str) -> HttpResponse:
    caller = caller_for(request)
    read = checkpoint_get.perform(caller, {"checkpoint_id": checkpoint_id})
    page = {
        "checkpoint": read,
        "workspace": Places(caller).of_scope(read.scope),
        "texts": {name: as_html(getattr(read, name)) for name in FIELDS},
        "body_html": as_html(read.body),
    }
    return render(request, "console/checkpoints/detail.html", page)

"""Curated documents: what a model wrote of a workspace, from what, and what it changed."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.console.markdown import render as as_html
from apps.console.places import Places
from apps.console.views.memories import ends_of
from apps.console.visiting import caller_for, for_people
from apps.curation.selectors import curated_document_get, curated_document_list, curation_settings_get
from apps.memories.selectors import memory_links
from apps.operations.caller import Right

MOST_LINKS = 100


@require_safe
@for_people
def documents(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    places = Places(caller)
    project_id = request.GET.get("project_id", "")
    found = curated_document_list.perform(caller, {"project_id": project_id}).documents
    page = {
        "rows": [{"document": document, "workspace": places.of_scope(document.scope)} for document in found],
        "chosen": project_id,
        "choices": places.workspace_choices(),
        "settings": curation_settings_get(caller),
        "can_write": caller.may(Right.WRITE),
    }
    part = "console/documents/_results.html"
    return render(request, part if request.htmx else "console/documents/list.html", page)  # type: ignore[attr-defined]


@require_safe
@for_people
def document(request: HttpRequest, document_id: str) -> HttpResponse:
    caller = caller_for(request)
    read = curated_document_get.perform(caller, {"document_id": document_id, "include_sources": True})
    links = memory_links.perform(caller, {"memory_id": read.document_id, "limit": MOST_LINKS})
    page = {
        "document": read,
        "memory": {"memory_id": read.document_id, "title": read.title, "status": "active", "resource": "curated"},
        "workspace": Places(caller).of_scope(read.scope),
        "body_html": as_html(read.body, ends_of(links)),
    }
    return render(request, "console/documents/detail.html", page)

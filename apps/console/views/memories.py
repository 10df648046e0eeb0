"""Memories: lists, one memory, writing it, putting it away and bringing it back."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.base.errors import Invalid, MemRelayError, NotFound
from apps.console.deeds import do, perform, tell_warnings
from apps.console.differences import lines_of
from apps.console.forms.memories import EditForm, NewMemoryForm
from apps.console.markdown import End
from apps.console.markdown import render as as_html
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.reading import Known, changed_fields, known_memory
from apps.console.refusals import incomplete_because, told, warnings_of
from apps.console.searching import found_rows
from apps.console.visiting import caller_for, for_people
from apps.memories.differences import difference
from apps.memories.schemas import LinksOut
from apps.memories.selectors import memory_alike, memory_get, memory_links, memory_list, memory_search
from apps.memories.services import (
    memory_archive,
    memory_delete,
    memory_restore,
    memory_save,
    memory_unarchive,
    memory_update,
)
from apps.operations.caller import Caller, Right

PAGE = 20
FORM = ["GET", "HEAD", "POST"]


@require_safe
@for_people
def memories(request: HttpRequest) -> HttpResponse:
    caller, places = caller_for(request), Places(caller_for(request))
    filters = {name: request.GET.get(name, "").strip() for name in ("query", "project_id", "kind", "status", "tag")}
    page: dict[str, Any] = {
        "filters": filters,
        "filtered": any(filters.values()),
        "choices": places.scope_choices(),
        "can_write": caller.may(Right.WRITE),
        "archived": filters["status"] == "archived",
    }
    try:
        page |= _searched(request, places, filters) if filters["query"] else _listed(request, places, filters)
    except NotFound:
        raise
    except MemRelayError as error:
        page |= {"rows": [], "refused": told(error), **paging(request, "")}
    return render(request, _part_or_page(request, "console/memories/_results.html", "console/memories/list.html"), page)


def _narrowed(request: HttpRequest, filters: dict[str, str]) -> dict[str, Any]:
    return {
        **scope_arguments(filters["project_id"]),
        "kind": filters["kind"],
        "status": filters["status"] or "active",
        "tags": [filters["tag"]] if filters["tag"] else [],
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }


def _listed(request: HttpRequest, places: Places, filters: dict[str, str]) -> dict[str, Any]:
    found = memory_list.perform(places.caller, _narrowed(request, filters))
    return {
        "rows": places.memory_rows(found.memories),
        "outside_changes_pending": found.outside_changes_pending,
        **paging(request, found.next_cursor),
    }


def _searched(request: HttpRequest, places: Places, filters: dict[str, str]) -> dict[str, Any]:
    narrowed = _narrowed(request, filters)
    if project_id := narrowed.pop("project_id", ""):
        narrowed["scope"] = f"project/{project_id}"  # The workspace alone; a search by agents looks further.
    found = memory_search.perform(places.caller, {**narrowed, "query": filters["query"], "resource": "memory"})
    return {
        "rows": found_rows(found.results, filters["query"], places),
        "notice": incomplete_because(found.reason),
        **paging(request, found.next_cursor),
    }


@require_safe
@for_people
def trash(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    asked = {"status": "deleted", "limit": PAGE, "cursor": request.GET.get("cursor", "")}
    try:
        found = memory_list.perform(caller, asked)
    except Invalid:  # A cursor that somebody has cut off.
        return redirect("memory-trash")
    page = {
        "rows": Places(caller).memory_rows(found.memories),
        "can_write": caller.may(Right.WRITE),
        **paging(request, found.next_cursor),
    }
    return render(request, "console/memories/trash.html", page)


@require_safe
@for_people
def memory(request: HttpRequest, memory_id: str) -> HttpResponse:
    caller = caller_for(request)
    known = known_memory(caller, memory_id)
    if known.resource == "checkpoint":
        return redirect("checkpoint-detail", known.memory_id)
    if known.resource == "curated" and known.status != "deleted":
        return redirect("document-detail", known.memory_id)
    links = memory_links(caller, memory_id=known.memory_id) if known.status != "deleted" else None
    page = {
        "memory": known,
        "workspace": Places(caller).of_scope(known.scope),
        "body_html": as_html(known.body, ends_of(links)),
        "can_write": _may_change(request, known),
        "links": links,
        "alike": _alike(caller, known, links),
        "warnings": warnings_of([*known.warnings, *(["unsettled"] if known.unsettled else [])]),
    }
    return render(request, "console/memories/detail.html", page)


@require_http_methods(FORM)
@for_people
def new(request: HttpRequest) -> HttpResponse:
    choices = [(choice.value, choice.name) for choice in Places(caller_for(request)).scope_choices()]
    form = NewMemoryForm(
        request.POST or None, places=choices, initial={"project_id": request.GET.get("project_id", "global")}
    )
    if request.method == "POST" and not _wants_preview(request):
        saved = perform(request, memory_save, form)
        if saved is not None:
            tell_warnings(request, saved)
            messages.success(request, _("“{title}” is saved.").format(title=saved.title))
            return redirect("memory-detail", saved.memory_id)
    page = {"form": form, "hint": form.hint, "body_html": as_html(request.POST.get("body", ""))}
    return render(request, "console/memories/new.html", page)


@require_http_methods(FORM)
@for_people
def edit(request: HttpRequest, memory_id: str) -> HttpResponse:
    read = memory_get.perform(caller_for(request), {"memory_id": memory_id})
    if not _may_change(request, read) or read.status != "active":
        return redirect("memory-detail", read.memory_id)
    form = EditForm(request.POST or None, initial=_as_written(read))
    conflict = None
    if request.method == "POST" and not _wants_preview(request) and form.is_valid():
        try:
            saved = memory_update.perform(caller_for(request), {**_changes(form, read), "memory_id": read.memory_id})
        except NotFound:
            raise
        except MemRelayError as error:
            if error.code == "REVISION_CONFLICT":
                form, conflict = _in_conflict(request, form)
            else:
                form.refuse(error)
        else:
            tell_warnings(request, saved)
            messages.success(request, _("“{title}” is saved.").format(title=saved.title))
            return redirect("memory-detail", saved.memory_id)
    page = {
        "memory": read,
        "form": form,
        "hint": form.hint,
        "conflict": conflict,
        "body_html": as_html(request.POST.get("body", read.body)),
        "can_write": True,
    }
    return render(request, "console/memories/edit.html", page)


def _as_written(read: Any) -> dict[str, Any]:
    has_crlf_only = "\r\n" in read.body and "\n" not in read.body.replace("\r\n", "")
    fields = ("title", "body", "summary", "kind", "note_type", "tags", "revision")
    return {name: getattr(read, name) for name in fields} | {"body_ends": "crlf" if has_crlf_only else ""}


def _changes(form: EditForm, read: Any) -> dict[str, Any]:
    """What is sent: a body nobody touched stays out, so that its bytes stay as they are."""
    told = form.arguments()
    untouched = told["revision"] == read.revision and _lf(told["body"]) == _lf(read.body)
    return {name: value for name, value in told.items() if not (untouched and name == "body")}


def _in_conflict(request: HttpRequest, form: EditForm) -> tuple[EditForm, dict[str, Any]]:
    """The same text in a form that knows the newer revision, and what sets the two apart."""
    now = memory_get.perform(caller_for(request), {"memory_id": str(request.resolver_match.kwargs["memory_id"])})  # type: ignore[union-attr]
    sent = request.POST.copy()
    sent["revision"] = str(now.revision)
    apart = difference(_lf(now.body), _lf(form.cleaned_data["body"]), "stored", "yours")
    conflict = {
        "revision": now.revision,
        "updated_at": now.updated_at,
        "lines": lines_of(apart.text),
        "changes": changed_fields(now, form.cleaned_data),
        "truncated": apart.truncated,
    }
    return EditForm(sent), conflict


@require_POST
@for_people
def preview(request: HttpRequest) -> HttpResponse:
    return render(request, "console/memories/_preview.html", {"body_html": as_html(request.POST.get("body", ""))})


@require_POST
@for_people
def archive(request: HttpRequest, memory_id: str) -> HttpResponse:
    if done := do(request, memory_archive, memory_id=memory_id, revision=_revision(request)):
        messages.success(request, _("“{title}” is archived.").format(title=done.title))
    return redirect("memory-detail", memory_id)


@require_POST
@for_people
def unarchive(request: HttpRequest, memory_id: str) -> HttpResponse:
    if done := do(request, memory_unarchive, memory_id=memory_id, revision=_revision(request)):
        messages.success(request, _("“{title}” is back from the archive.").format(title=done.title))
    return redirect("memory-detail", memory_id)


@require_POST
@for_people
def delete(request: HttpRequest, memory_id: str) -> HttpResponse:
    done = do(request, memory_delete, memory_id=memory_id, revision=_revision(request))
    if done is None:
        return redirect("memory-detail", memory_id)
    messages.success(request, _("“{title}” is in the trash now.").format(title=done.title))
    return redirect("memory-list")


@require_POST
@for_people
def restore(request: HttpRequest, memory_id: str) -> HttpResponse:
    done = do(request, memory_restore, memory_id=memory_id)
    if done is None:
        return redirect("memory-trash")
    messages.success(request, _("“{title}” is restored.").format(title=done.title))
    return redirect("memory-detail", done.memory_id)


def ends_of(links: LinksOut | None) -> dict[str, End | None]:
    """Where the links of a text lead, by what they are called in it; ``None`` for what is not written yet."""
    there = links.links_to if links else []
    return {link.target: End(link.memory.memory_id, link.memory.title) if link.memory else None for link in there}


def _alike(caller: Caller, known: Known, links: LinksOut | None) -> dict[str, Any] | None:
    """What a memory is like, without those that stand among its links already."""
    if known.status != "active" or links is None:
        return None
    found = memory_alike(caller, memory_id=known.memory_id)
    linked = {link.memory.memory_id for link in links.links_to if link.memory}
    linked |= {source.memory_id for source in links.linked_from}
    return {
        "duplicate": found.duplicate,
        "related": [memory for memory in found.related if memory.memory_id not in linked],
    }


def _revision(request: HttpRequest) -> str:
    return request.POST.get("revision") or "0"


def _may_change(request: HttpRequest, read: Known | Any) -> bool:
    """Curated documents are written by curation alone."""
    return caller_for(request).may(Right.WRITE) and read.resource == "memory"


def _wants_preview(request: HttpRequest) -> bool:
    return "preview" in request.POST


def _part_or_page(request: HttpRequest, part: str, page: str) -> str:
    return part if request.htmx else page  # type: ignore[attr-defined]


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")

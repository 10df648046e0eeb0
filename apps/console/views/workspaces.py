"""Workspaces: what is worked on, and what is remembered there."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.base.errors import Invalid
from apps.console.clients import public_address
from apps.console.deeds import perform
from apps.console.forms.workspaces import ChangeWorkspaceForm, WorkspaceForm
from apps.console.paging import paging
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.curation.selectors import curated_document_list, curation_settings_get
from apps.memories.schemas import ScopeItem
from apps.memories.selectors import checkpoint_list, memory_list, scope_list
from apps.operations.caller import Caller, Right
from apps.workspaces.selectors import project_get, project_list
from apps.workspaces.services import project_create, project_update

PAGE = 50
LATEST = 5
FORM = ["GET", "HEAD", "POST"]


@require_safe
@for_people
def workspaces(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    try:
        found = project_list.perform(
            caller, {"archived": "any", "limit": PAGE, "cursor": request.GET.get("cursor", "")}
        )
    except Invalid:  # A cursor that somebody has cut off.
        return redirect("workspace-list")
    held = held_by_scope(caller)
    page = {
        "workspaces": [with_counts(project, held) for project in found.projects],
        "can_write": caller.may(Right.WRITE),
        **paging(request, found.next_cursor),
    }
    return render(request, "console/workspaces/list.html", page)


def held_by_scope(caller: Caller) -> dict[str, ScopeItem]:
    return {item.scope: item for item in scope_list(caller).scopes}


def with_counts(project: Any, held: dict[str, ScopeItem]) -> dict[str, Any]:
    there = held.get(f"project/{project.project_id}")
    return {
        **dict(project),
        "memories": there.memories if there else 0,
        "checkpoints": there.checkpoints if there else 0,
        "last_activity": there.updated_at if there else None,
    }


@require_safe
@for_people
def workspace(request: HttpRequest, project_id: str) -> HttpResponse:
    caller = caller_for(request)
    project = project_get.perform(caller, {"project_id": project_id})
    places, here = Places(caller), {"project_id": project.project_id, "limit": LATEST}
    page = {
        "workspace": project,
        "counts": with_counts(project, held_by_scope(caller)),
        "latest_memories": places.memory_rows(memory_list.perform(caller, here).memories),
        "latest_checkpoints": places.checkpoint_rows(checkpoint_list.perform(caller, here).checkpoints),
        "documents": curated_document_list.perform(caller, {"project_id": project.project_id}).documents,
        "place": places.of_workspace(project.project_id),
        "curation_is_on": curation_settings_get(caller).active and not project.archived,
        "mcp_url": f"{public_address(request)}/mcp/projects/{project.project_id}",
        "can_write": caller.may(Right.WRITE),
    }
    return render(request, "console/workspaces/detail.html", page)


@require_http_methods(FORM)
@for_people
def new(request: HttpRequest) -> HttpResponse:
    form = WorkspaceForm(request.POST or None)
    if request.method == "POST" and (made := perform(request, project_create, form)):
        messages.success(request, _("The workspace “{name}” is made.").format(name=made.name))
        return redirect("workspace-detail", made.project_id)
    return render(request, "console/workspaces/edit.html", {"workspace": None, "form": form, "hint": form.hint})


@require_http_methods(FORM)
@for_people
def edit(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_get.perform(caller_for(request), {"project_id": project_id})
    form = ChangeWorkspaceForm(request.POST or None, initial=dict(project))
    if request.method == "POST" and (changed := perform(request, project_update, form, project_id=project.project_id)):
        messages.success(request, _("“{name}” is saved.").format(name=changed.name))
        return redirect("workspace-detail", changed.project_id)
    return render(request, "console/workspaces/edit.html", {"workspace": project, "form": form, "hint": form.hint})

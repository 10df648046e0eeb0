"""Ending a workspace or a memory space: first what would go where, then the deed, which is a job."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.base.errors import Denied, MemRelayError, NotFound
from apps.console.deeds import do
from apps.console.places import Places
from apps.console.refusals import told
from apps.console.visiting import caller_for, for_people
from apps.instance.schemas import EndingPreview
from apps.instance.workspaces_deeds import (
    project_delete,
    project_merge,
    usage_profile_delete,
    usage_profile_delete_preview,
    workspace_delete_preview,
    workspace_merge_preview,
)
from apps.operations.caller import Right
from apps.operations.operation import Operation
from apps.profiles.selectors import usage_profile_list
from apps.workspaces.selectors import project_get

METHODS = ["GET", "HEAD", "POST"]


@dataclass(frozen=True)
class Ending:
    """``target``: the argument that says where everything goes; ``choices``: what it may be."""

    kind: str
    name: str
    back: str
    afterwards: str
    preview: Operation[..., EndingPreview]
    deed: Operation[..., Any]
    arguments: dict[str, str]
    target: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    needs_target: bool = False


@require_http_methods(METHODS)
@for_people
def delete_workspace(request: HttpRequest, project_id: str) -> HttpResponse:
    project = project_get.perform(caller_for(request), {"project_id": project_id})
    ending = Ending(
        "delete-workspace",
        project.name,
        reverse("workspace-detail", args=[project.project_id]),
        "workspace-list",
        workspace_delete_preview,
        project_delete,
        {"project_id": project.project_id},
    )
    return _page(request, ending)


@require_http_methods(METHODS)
@for_people
def merge_workspace(request: HttpRequest, project_id: str) -> HttpResponse:
    caller = caller_for(request)
    project = project_get.perform(caller, {"project_id": project_id})
    others = [one for one in Places(caller).workspaces if one.project_id != project.project_id]
    ending = Ending(
        "merge-workspace",
        project.name,
        reverse("workspace-detail", args=[project.project_id]),
        "workspace-list",
        workspace_merge_preview,
        project_merge,
        {"project_id": project.project_id},
        "into",
        tuple((one.project_id, one.name) for one in others),
        needs_target=True,
    )
    return _page(request, ending)


@require_http_methods(METHODS)
@for_people
def delete_space(request: HttpRequest, profile_id: str) -> HttpResponse:
    spaces = {one.profile_id: one for one in usage_profile_list(caller_for(request)).profiles}
    if profile_id not in spaces:
        raise NotFound(_("There is no such memory space."))
    others = [one for one in spaces.values() if one.profile_id != profile_id and one.enabled]
    ending = Ending(
        "delete-space",
        spaces[profile_id].name,
        reverse("space-detail", args=[profile_id]),
        "space-list",
        usage_profile_delete_preview,
        usage_profile_delete,
        {"profile_id": profile_id},
        "migrate_to",
        tuple((one.profile_id, one.name) for one in others),
    )
    return _page(request, ending)


def _page(request: HttpRequest, ending: Ending) -> HttpResponse:
    caller = caller_for(request)
    if not caller.may(Right.ADMINISTER):
        raise Denied(verb=Right.ADMINISTER.value)
    asked = request.POST if request.method == "POST" else request.GET
    chosen = asked.get(ending.target, "") if ending.target else ""
    arguments = ending.arguments | ({ending.target: chosen} if chosen else {})
    may_begin = bool(chosen) or not ending.needs_target
    if request.method == "POST" and may_begin and (job := do(request, ending.deed, **arguments)):
        if job.state != "completed":
            return redirect("job-detail", job.job_id)
        messages.success(request, _("“{name}” is gone. The list of jobs tells what was done.").format(name=ending.name))
        return redirect(ending.afterwards)
    page: dict[str, Any] = {"ending": ending, "chosen": chosen, "preview": None, "refused": ""}
    if may_begin:
        try:
            page["preview"] = ending.preview.perform(caller, arguments)
        except NotFound:
            raise
        except MemRelayError as error:
            page["refused"] = told(error)
    return render(request, "console/ending.html", page)

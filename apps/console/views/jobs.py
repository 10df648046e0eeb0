"""Long work on many documents: how far it is, stopping it, going on with it, and starting imports and exports."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from apps.base.errors import Invalid
from apps.console.deeds import do, perform
from apps.console.forms.jobs import FolderForm
from apps.console.paging import paging
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.memories.schemas import JobOut
from apps.memories.selectors import job_get, job_list
from apps.memories.services import job_resume, job_stop, memory_export, memory_import

PAGE = 20
MOVING = ("waiting", "running")
DOINGS = {"import": memory_import, "export": memory_export}


@require_safe
@for_people
def jobs(request: HttpRequest) -> HttpResponse:
    places = Places(caller_for(request))
    state = request.GET.get("state", "")
    asked = {"state": state or "any", "limit": PAGE, "cursor": request.GET.get("cursor", "")}
    try:
        found = job_list.perform(places.caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("job-list")
    page = {
        "jobs": [shown(job, places) for job in found.jobs],
        "state": state,
        "is_moving": any(job.state in MOVING for job in found.jobs),
        **paging(request, found.next_cursor),
    }
    part = "console/jobs/_results.html"
    return render(request, part if request.htmx else "console/jobs/list.html", page)  # type: ignore[attr-defined]


@require_safe
@for_people
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    caller = caller_for(request)
    page = {"job": shown(job_get.perform(caller, {"job_id": job_id}), Places(caller))}
    if not request.htmx:  # type: ignore[attr-defined]
        return render(request, "console/jobs/detail.html", page)
    # Buttons stand outside the part that comes anew, so that the focus stays on them; other ones need the page anew.
    return render(request, "console/jobs/_job.html", page) if page["job"]["is_moving"] else HttpResponseClientRefresh()


def shown(job: JobOut, places: Places) -> dict[str, Any]:
    return {
        **dict(job),
        "place": places.of_scope(job.scope),
        "target_place": places.of_scope(job.target) if job.target else None,
        "is_moving": job.state in MOVING,
        "unreported": job.reported - len(job.reports),
    }


@require_POST
@for_people
def stop(request: HttpRequest, job_id: str) -> HttpResponse:
    for_good = request.POST.get("for_good") == "true"
    if do(request, job_stop, job_id=job_id, for_good=for_good):
        messages.success(
            request, _("It ends after the file at hand.") if for_good else _("It stops after the file at hand.")
        )
    return redirect("job-detail", job_id)


@require_POST
@for_people
def resume(request: HttpRequest, job_id: str) -> HttpResponse:
    if do(request, job_resume, job_id=job_id):
        messages.success(request, _("It goes on where it stopped."))
    return redirect("job-detail", job_id)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def new(request: HttpRequest, kind: str) -> HttpResponse:
    caller = caller_for(request)
    job_list.perform(caller, {"limit": 1})  # Refuses those who may not before they have filled in a form.
    places = Places(caller)
    form = FolderForm(
        request.POST or None,
        places=[(choice.value, choice.name) for choice in places.scope_choices()],
        initial={"place": request.GET.get("project_id", "global")},
    )
    if request.method == "POST" and (started := perform(request, DOINGS[kind], form)):
        return redirect("job-detail", started.job_id)
    page = {"kind": kind, "form": form, "hint": form.hint, "folders": settings.IMPORT_FOLDERS}
    return render(request, "console/jobs/new.html", page)

"""Curation: how it is, what it did, running it and calling it off."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from apps.base.errors import Invalid
from apps.console.deeds import do
from apps.console.forms.curation import RunForm
from apps.console.paging import paging
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.curation.schemas import CurationJobOut
from apps.curation.selectors import curation_history, curation_job_get, curation_settings_get, curation_status
from apps.curation.services import curation_cancel, curation_retry, curation_run
from apps.operations.caller import Right

PAGE = 20
OVER = ("completed", "failed", "cancelled")


@require_safe
@for_people
def curation(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    places = Places(caller)
    filters = {name: request.GET.get(name, "") for name in ("project_id", "status")}
    asked = {
        "project_id": filters["project_id"],
        "status": filters["status"] or "any",
        "limit": PAGE,
        "cursor": request.GET.get("cursor", ""),
    }
    try:
        found = curation_history.perform(caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("curation")
    page = {
        "jobs": [shown(job, places) for job in found.jobs],
        "is_moving": any(job.state not in OVER for job in found.jobs),
        "filters": filters,
        "choices": places.workspace_choices(),
        "settings": curation_settings_get(caller),
        "status": curation_status(caller),
        "form": RunForm(workspaces=[(one.value, one.name) for one in places.workspace_choices()]),
        "can_write": caller.may(Right.WRITE),
        **paging(request, found.next_cursor),
    }
    part = "console/curation/_results.html"
    return render(request, part if request.htmx else "console/curation/page.html", page)  # type: ignore[attr-defined]


@require_safe
@for_people
def job(request: HttpRequest, job_id: str) -> HttpResponse:
    caller = caller_for(request)
    found = shown(curation_job_get.perform(caller, {"job_id": job_id}), Places(caller))
    page = {"job": found, "can_write": caller.may(Right.WRITE), "is_on": curation_settings_get(caller).active}
    if not request.htmx:  # type: ignore[attr-defined]
        return render(request, "console/curation/job.html", page)
    # Buttons stand outside the part that comes anew, so that the focus stays on them; other ones need the page anew.
    return render(request, "console/curation/_job.html", page) if found["is_moving"] else HttpResponseClientRefresh()


def shown(job: CurationJobOut, places: Places) -> dict[str, Any]:
    return {
        **dict(job),
        "place": places.of_scope(job.scope),
        "is_moving": job.state not in OVER,
        "seconds": round(job.usage.milliseconds / 1000, 1),
        "documents": [{**dict(change), "before": change.revision - 1} for change in job.documents],
    }


@require_POST
@for_people
def run(request: HttpRequest) -> HttpResponse:
    asked = {
        "project_id": request.POST.get("project_id", ""),
        "mode": request.POST.get("mode", "incremental"),
        "force": request.POST.get("force") == "on",
        "pending_policy": "reuse",
    }
    started = do(request, curation_run, **asked)
    if started is None:
        return redirect("curation")
    if started.reused:
        messages.info(request, _("A curation of this workspace was waiting already; it does this one too."))
    return redirect("curation-job", started.job_id)


@require_POST
@for_people
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    if do(request, curation_cancel, job_id=job_id):
        messages.success(request, _("It is called off; nothing of it is written."))
    return redirect("curation-job", job_id)


@require_POST
@for_people
def retry(request: HttpRequest, job_id: str) -> HttpResponse:
    if do(request, curation_retry, job_id=job_id):
        messages.success(request, _("It is tried again."))
    return redirect("curation-job", job_id)

"""The mirror of Memory Git: the connection to a Git server and what it can do, and each repository's remote."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from apps.base.errors import Denied
from apps.console.deeds import do, perform
from apps.console.forms.git_remote import SECRETS, BindForm, GitConnectionForm
from apps.console.views.git import RED
from apps.console.visiting import caller_for, for_people
from apps.memory_git.mirror.schemas import GitConnectionOut
from apps.memory_git.schemas import GitDeedOut
from apps.memory_git.selectors import git_settings_get, memory_repository_list, memory_repository_status
from apps.memory_git.services import (
    git_connection_delete,
    git_connection_get,
    git_connection_save,
    git_connection_test,
    memory_remote_import,
    memory_remote_inspect,
    memory_repository_bind,
    memory_repository_sync,
    memory_repository_unbind,
)
from apps.memory_git.trees.problems import Problem
from apps.operations.caller import Caller, Right

CAPABILITIES: dict[str, Promise] = {
    "url_resolution": gettext_lazy("Its name can be resolved"),
    "ls_remote": gettext_lazy("It lists branches"),
    "fetch": gettext_lazy("It can be fetched from"),
    "push": gettext_lazy("It can be pushed to"),
    "ref_deletion": gettext_lazy("Branches can be deleted"),
    "push_to_create": gettext_lazy("A first push creates the repository"),
}
METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
@sensitive_post_parameters(*SECRETS)
@for_people
def connection(request: HttpRequest) -> HttpResponse:
    caller = _administrator(request)
    now = git_connection_get(caller)
    form = GitConnectionForm(request.POST or None, initial=_as_it_is(now))
    if request.method == "POST":
        saved = perform(request, git_connection_save, form, test=bool(request.POST.get("test")))
        if saved is not None:
            messages.success(request, _("The connection is saved."))
            return redirect("git-connection")
    page = {
        "connection": now,
        "matrix": matrix_of(now),
        "repositories": _bound(caller) if now.configured else [],
        "settings": git_settings_get(caller),
        "form": form,
        "hint": form.hint,
        "untrusted": [key.fingerprint for key in now.shown_host_keys if not key.trusted],
    }
    return render(request, "console/git/connection.html", page)


def matrix_of(connection: GitConnectionOut) -> list[dict[str, Any]]:
    return [{**dict(found), "name": str(CAPABILITIES[key])} for key, found in connection.capabilities.items()]


@require_POST
@for_people
def test(request: HttpRequest) -> HttpResponse:
    tested = do(request, git_connection_test)
    if tested is not None and tested.error is None:
        messages.success(request, _("The server answers."))
    return redirect("git-connection")


@require_POST
@for_people
def trust(request: HttpRequest) -> HttpResponse:
    """Trust the fingerprint that a person has compared, and test once more."""
    now = git_connection_get(_administrator(request))
    wanted = [*now.host_keys, *request.POST.getlist("fingerprint")]
    if do(request, git_connection_save, host_keys=wanted, revision=now.revision):
        messages.success(request, _("The fingerprint is trusted from now on."))
    return redirect("git-connection")


@require_POST
@for_people
def delete(request: HttpRequest) -> HttpResponse:
    if do(request, git_connection_delete) is not None:
        messages.success(request, _("The connection is taken away and its secrets destroyed."))
    return redirect("git-connection")


@require_http_methods(METHODS)
@for_people
def remote(request: HttpRequest, repository_id: str) -> HttpResponse:
    """A repository's remote, and what can be done where it went another way."""
    caller = _administrator(request)
    form = BindForm(request.POST or None)
    if request.method == "POST":
        bound = perform(request, memory_repository_bind, form, repository_id=repository_id)
        if bound is not None:
            messages.success(request, _("It is bound to that repository; its history is being pushed."))
            return redirect("git-remote", repository_id)
    status = memory_repository_status.perform(caller, {"repository_id": repository_id})
    repository = status.repositories[0]
    report = _latest(status.jobs, repository_id, "remote_inspect")
    page = {
        "repository": {**dict(repository), "is_red": repository.status in RED},
        "report": report,
        "told": report.result if report else {},
        "problems": [(Problem(one["what"]).label, one["path"]) for one in _listed(report, "problems")],
        "left_out": [{"what": Problem(one["what"]).label, "path": one["path"]} for one in _listed(report, "left_out")],
        "imported": _latest(status.jobs, repository_id, "remote_import"),
        "form": form,
        "hint": form.hint,
    }
    return render(request, "console/git/remote.html", page)


@require_POST
@for_people
def sync(request: HttpRequest, repository_id: str) -> HttpResponse:
    told = do(request, memory_repository_sync, repository_id=repository_id)
    if told is not None and told.error is None and not told.behind:
        messages.success(request, _("Everything is pushed."))
    elif told is not None and told.error is not None:
        messages.error(request, told.error.message)
    return redirect("git-remote", repository_id)


@require_POST
@for_people
def inspect(request: HttpRequest, repository_id: str) -> HttpResponse:
    if do(request, memory_remote_inspect, repository_id=repository_id):
        messages.success(request, _("The remote is being looked at; this page tells what is there."))
    return redirect("git-remote", repository_id)


@require_POST
@for_people
def take_in(request: HttpRequest, repository_id: str) -> HttpResponse:
    asked = {"commit": request.POST.get("commit", ""), "resource_ids": request.POST.getlist("resource_id")}
    if do(request, memory_remote_import, repository_id=repository_id, **asked):
        messages.success(request, _("The documents are being taken in as new revisions."))
    return redirect("git-remote", repository_id)


@require_POST
@for_people
def unbind(request: HttpRequest, repository_id: str) -> HttpResponse:
    if do(request, memory_repository_unbind, repository_id=repository_id):
        messages.success(request, _("It stays local from now on; what is at the server stays there."))
    return redirect("git-remote", repository_id)


def _administrator(request: HttpRequest) -> Caller:
    caller = caller_for(request)
    if not caller.may(Right.ADMINISTER):
        raise Denied(verb=Right.ADMINISTER.value)
    return caller


def _as_it_is(now: GitConnectionOut) -> dict[str, Any]:
    told = {**dict(now), "host_keys": "\n".join(now.host_keys)}
    return told if now.configured else {"enabled": True, "branch": "main", "revision": 0}


def _bound(caller: Caller) -> list[dict[str, Any]]:
    listed = memory_repository_list(caller).repositories
    return [{**dict(one), "is_red": one.status in RED} for one in listed if one.archived_at is None]


def _listed(report: GitDeedOut | None, name: str) -> list[dict[str, str]]:
    found: Any = report.result.get(name) if report else None
    return found or []


def _latest(jobs: list[GitDeedOut], repository_id: str, kind: str) -> GitDeedOut | None:
    return next((job for job in jobs if job.kind == kind and job.repository_id == repository_id), None)

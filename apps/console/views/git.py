"""Memory Git: how it is, its history and differences, versions and restoring, and how it is set up."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.base.errors import Denied, Invalid, MemRelayError, NotFound
from apps.console.deeds import do, perform
from apps.console.differences import lines_of
from apps.console.forms.git import STRATEGIES, GitForm
from apps.console.markdown import render as as_html
from apps.console.paging import paging
from apps.console.places import Places, scope_arguments
from apps.console.refusals import told
from apps.console.visiting import caller_for, for_people
from apps.memory_git.schemas import CommitItem, RepositoryOut
from apps.memory_git.selectors import (
    git_settings_get,
    memory_repository_commit_get,
    memory_repository_history,
    memory_repository_list,
    memory_repository_status,
    memory_version_get,
)
from apps.memory_git.services import (
    git_settings_update,
    memory_repository_archive_purge,
    memory_repository_maintain,
    memory_repository_migrate,
    memory_repository_migrate_plan,
    memory_snapshot_preview,
    memory_snapshot_restore,
    memory_version_restore,
)
from apps.operations.caller import Right

PAGE = 30
SNAPSHOT_COUNTS = ("deleted", "archived", "changed", "unarchived", "created")
METHODS = ["GET", "HEAD", "POST"]
FILTERS = ("project_id", "operator", "kind", "origin", "since", "until", "resource_id", "repository_id")
RED = ("local_error", "configuration_error", "remote_repository_missing", "remote_diverged")


@require_http_methods(METHODS)
@for_people
def git(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    administers, now, status = caller.may(Right.ADMINISTER), git_settings_get(caller), memory_repository_status(caller)
    places, listed = Places(caller), memory_repository_list(caller).repositories
    form = GitForm(request.POST or None, has_repositories=bool(listed), initial=dict(now))
    if request.method == "POST":
        if not administers:
            raise Denied(verb=Right.ADMINISTER.value)
        if perform(request, git_settings_update, form) is not None:
            messages.success(request, _("The settings are saved."))
            return redirect("git")
    page = {
        "settings": now,
        "strategy": dict(STRATEGIES)[now.strategy],
        "status": status,
        "is_moving": now.preparing
        or status.waiting > 0
        or any(job.state in ("waiting", "running") for job in status.jobs),
        "repositories": [shown(one, places) for one in listed],
        "form": form,
        "hint": form.hint,
        "can_administer": administers,
    }
    part = "console/git/_state.html"
    return render(request, part if request.htmx else "console/git/page.html", page)  # type: ignore[attr-defined]


def shown(one: RepositoryOut, places: Places) -> dict[str, Any]:
    return {**dict(one), "place": places.of_scope(one.scope) if one.scope else None, "is_red": one.status in RED}


@require_POST
@for_people
def switch(request: HttpRequest) -> HttpResponse:
    enabled = request.POST.get("enabled") == "true"
    if do(request, git_settings_update, enabled=enabled):
        messages.success(request, _("Memory Git is on.") if enabled else _("Memory Git is off; every history stays."))
    return redirect("git")


@require_http_methods(METHODS)
@for_people
def strategy(request: HttpRequest) -> HttpResponse:
    """What the other strategy would do, and the button that does it."""
    caller = caller_for(request)
    if not caller.may(Right.ADMINISTER):
        raise Denied(verb=Right.ADMINISTER.value)
    now = git_settings_get(caller)
    wanted = "per_workspace" if now.strategy == "single" else "single"
    if request.method == "POST":
        asked = {"strategy": wanted, "digest": request.POST.get("digest", "")}
        if do(request, memory_repository_migrate, **asked):
            messages.success(request, _("The histories are being made anew; this page tells how far that is."))
            return redirect("git")
        return redirect("git-strategy")
    plan = memory_repository_migrate_plan.perform(caller, {"strategy": wanted})
    places = Places(caller)
    page = {
        "plan": plan,
        "wanted": dict(STRATEGIES)[wanted],
        "makes": [
            {**dict(one), "place": places.of_scope(one.scopes[0]) if one.root and one.scopes else None}
            for one in plan.makes
        ],
        "is_on": now.enabled,
    }
    return render(request, "console/git/strategy.html", page)


@require_safe
@for_people
def history(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    places = Places(caller)
    filters = {name: request.GET.get(name, "") for name in FILTERS}
    asked: dict[str, Any] = {name: value for name, value in filters.items() if value and name != "project_id"}
    asked |= scope_arguments(filters["project_id"]) | {"limit": PAGE, "cursor": request.GET.get("cursor", "")}
    try:
        found = memory_repository_history.perform(caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("git-history")
    page = {
        "commits": [as_row(commit, places) for commit in found.commits],
        "filters": filters,
        "narrowed": any(filters.values()),
        "choices": places.scope_choices(),
        "enabled": git_settings_get(caller).enabled,
        **paging(request, found.next_cursor),
    }
    part = "console/git/_commits.html"
    return render(request, part if request.htmx else "console/git/history.html", page)  # type: ignore[attr-defined]


def as_row(commit: CommitItem, places: Places) -> dict[str, Any]:
    return {**dict(commit), "short": commit.commit[:10], "places": [places.of_scope(scope) for scope in commit.scopes]}


@require_safe
@for_people
def commit(request: HttpRequest, sha: str) -> HttpResponse:
    caller = caller_for(request)
    try:
        found = memory_repository_commit_get.perform(caller, {"commit": sha})
    except Invalid:
        return redirect("git-history")
    page = {
        "commit": as_row(found, Places(caller)),
        "message": found.message,
        "files": [
            {**dict(file), "lines": lines_of(file.difference) if file.difference else None} for file in found.files
        ],
        "more_files": found.more_files,
        "can_write": caller.may(Right.WRITE),
        "can_administer": caller.may(Right.ADMINISTER),
        "enabled": git_settings_get(caller).enabled,
    }
    return render(request, "console/git/commit.html", page)


@require_safe
@for_people
def version(request: HttpRequest, sha: str, resource_id: str) -> HttpResponse:
    caller = caller_for(request)
    try:
        found = memory_version_get.perform(caller, {"commit": sha, "resource_id": resource_id})
    except Invalid:
        return redirect("git-history")
    page = {
        "version": found,
        "short": found.commit[:10],
        "place": Places(caller).of_scope(found.scope),
        "body_html": as_html(found.body),
        "can_write": caller.may(Right.WRITE) and git_settings_get(caller).enabled,
    }
    return render(request, "console/git/version.html", page)


@require_POST
@for_people
def restore(request: HttpRequest, sha: str, resource_id: str) -> HttpResponse:
    saved = do(request, memory_version_restore, commit=sha, resource_id=resource_id)
    if saved is None:
        return redirect("git-version", sha, resource_id)
    messages.success(request, _("That version is the current text again."))
    return redirect("memory-detail", saved.memory_id)


@require_http_methods(METHODS)
@for_people
def snapshot(request: HttpRequest, sha: str) -> HttpResponse:
    """What bringing everything back to a commit would do, and the button that does it."""
    caller = caller_for(request)
    if not caller.may(Right.ADMINISTER):
        raise Denied(verb=Right.ADMINISTER.value)
    given = request.POST if request.method == "POST" else request.GET
    asked = {"commit": sha, "repository_id": given.get("repository_id", "")}
    if request.method == "POST":
        if do(request, memory_snapshot_restore, **asked) is None:
            return redirect("git-commit", sha)
        messages.success(
            request, _("Everything is being brought back to that commit; this page tells how far that is.")
        )
        return redirect("git")
    page: dict[str, Any] = {**asked, "preview": None, "refused": "", "enabled": git_settings_get(caller).enabled}
    try:
        preview = memory_snapshot_preview.perform(caller, asked)
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("git-history")
    except NotFound:
        raise
    except MemRelayError as error:
        page["refused"] = told(error)
    else:
        places = Places(caller)
        page["preview"] = preview
        page["total"] = sum(getattr(preview, name) for name in SNAPSHOT_COUNTS)
        page["documents"] = [{**dict(one), "place": places.of_scope(one.scope)} for one in preview.documents]
        page["skipped"] = [places.of_scope(scope) for scope in preview.skipped_scopes]
    return render(request, "console/git/snapshot.html", page)


@require_POST
@for_people
def pack(request: HttpRequest, repository_id: str) -> HttpResponse:
    if do(request, memory_repository_maintain, repository_id=repository_id):
        messages.success(request, _("The repository is being packed."))
    return redirect("git")


@require_POST
@for_people
def purge(request: HttpRequest, repository_id: str) -> HttpResponse:
    if do(request, memory_repository_archive_purge, repository_id=repository_id):
        messages.success(request, _("The history is being removed for good."))
    return redirect("git")

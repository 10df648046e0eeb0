"""The first page: what is remembered, what happened last, how the server is, and what a person should look at."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.console.clients import claude_command
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.instance.schemas import Attention
from apps.instance.selectors import dashboard_get
from apps.operations.caller import Right

LATEST = 5
WAITING: dict[str, Promise] = {
    "alarm": _("Many files of {place} have vanished"),
    "notice": _("A file of {place} needs a look"),
    "blocked_file": _("A file of {place} cannot be written"),
    "failed_job": _("An import or export in {place} failed"),
}


@require_safe
@for_people
def dashboard(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    places = Places(caller)
    told = dashboard_get.perform(caller, {"limit": LATEST})
    page = {
        "counts": told.counts,
        "health": told.health,
        "waiting": [waiting(attention, places) for attention in told.attention],
        "latest_memories": places.memory_rows(told.latest_memories),
        "latest_checkpoints": places.checkpoint_rows(told.latest_checkpoints),
        "workspaces": told.workspaces[:LATEST],
        "is_empty": not told.counts.memories and not told.counts.checkpoints,
        "has_token": bool(told.counts.tokens),
        "claude_command": claude_command(request),
        "can_write": caller.may(Right.WRITE),
    }
    return render(request, "console/dashboard.html", page)


def waiting(attention: Attention, places: Places) -> dict[str, Any]:
    """One thing that somebody should look at: what it is about, and where it is decided, if on a page."""
    return {
        "title": str(WAITING[attention.what]).format(place=places.of_scope(attention.scope).name),
        "subject": attention.subject if attention.what in ("notice", "blocked_file") else "",
        "text": attention.text,
        "url": _where_decided(attention, places),
    }


def _where_decided(attention: Attention, places: Places) -> str:
    if attention.what == "alarm":
        return reverse("alarm", args=[attention.scope])
    if attention.what == "failed_job" and places.caller.administers:
        return reverse("job-detail", args=[attention.subject])
    return ""

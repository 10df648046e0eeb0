"""What a memory was: its revisions, one of them, what changed between two, and going back to one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.base.errors import Invalid
from apps.console.deeds import do
from apps.console.differences import lines_of
from apps.console.markdown import render as as_html
from apps.console.paging import paging
from apps.console.reading import Known, changed_fields, known_memory
from apps.console.refusals import warnings_of
from apps.console.visiting import caller_for, for_people
from apps.memories.selectors import memory_diff, memory_history, memory_revision_get
from apps.memories.services import memory_revert
from apps.operations.caller import Right

PAGE = 30


@require_safe
@for_people
def history(request: HttpRequest, memory_id: str) -> HttpResponse:
    known = known_memory(caller_for(request), memory_id)
    asked = {"memory_id": known.memory_id, "limit": PAGE, "cursor": request.GET.get("cursor", "")}
    try:
        found = memory_history.perform(caller_for(request), asked)
    except Invalid:  # A cursor that somebody has cut off.
        return redirect("memory-history", known.memory_id)
    following = [*(entry.revision for entry in found.revisions[1:]), _before(found.revisions[-1].revision)]
    page = {
        **_head(request, known),
        "revisions": [
            {**dict(entry), "previous": previous, "warning": " ".join(warnings_of(filter(None, [entry.warning])))}
            for entry, previous in zip(found.revisions, following, strict=True)
        ],
        **paging(request, found.next_cursor),
    }
    return render(request, "console/memories/history.html", page)


@require_safe
@for_people
def revision(request: HttpRequest, memory_id: str, number: int) -> HttpResponse:
    known = known_memory(caller_for(request), memory_id)
    read = memory_revision_get.perform(caller_for(request), {"memory_id": known.memory_id, "revision": number})
    page = {**_head(request, known), "revision": read, "body_html": as_html(read.body), "source": read.body}
    return render(request, "console/memories/revision.html", page)


@require_safe
@for_people
def differences(request: HttpRequest, memory_id: str) -> HttpResponse:
    caller, known = caller_for(request), known_memory(caller_for(request), memory_id)
    numbers = {"old": request.GET.get("old", ""), "new": request.GET.get("new", "") or known.revision}
    try:
        old, new = (
            memory_revision_get.perform(caller, {"memory_id": known.memory_id, "revision": numbers[side]})
            for side in ("old", "new")
        )
    except Invalid:  # An address that somebody wrote by hand.
        return redirect("memory-history", known.memory_id)
    apart = memory_diff.perform(
        caller, {"memory_id": known.memory_id, "from_revision": old.revision, "to_revision": new.revision}
    )
    page = {
        **_head(request, known),
        "old": old,
        "new": new,
        "changes": changed_fields(old, new),
        "lines": lines_of(apart.difference),
        "added": apart.added,
        "removed": apart.removed,
        "truncated": apart.truncated,
    }
    return render(request, "console/memories/difference.html", page)


@require_POST
@for_people
def revert(request: HttpRequest, memory_id: str) -> HttpResponse:
    number = request.POST.get("to_revision", "")
    asked = {"memory_id": memory_id, "to_revision": number, "revision": request.POST.get("revision") or "0"}
    if do(request, memory_revert, **asked):
        messages.success(request, _("Revision {number} is the current text again.").format(number=number))
    return redirect("memory-detail", memory_id)


def _head(request: HttpRequest, known: Known) -> dict[str, object]:
    return {"memory": known, "can_write": caller_for(request).may(Right.WRITE) and known.resource == "memory"}


def _before(number: int) -> int | None:
    return number - 1 if number > 1 else None

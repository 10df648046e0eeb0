"""One deed on several memories of a page: each for itself, so that one that is refused keeps none of the others back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.base.errors import Denied, MemRelayError
from apps.console.forms.memories import TagsField
from apps.console.refusals import told
from apps.console.visiting import caller_for, for_people, safe_next
from apps.memories.selectors import memory_get
from apps.memories.services import memory_archive, memory_unarchive, memory_update
from apps.operations.caller import Caller

MOST = 50  # More than a page of the list; whatever is sent beyond it is left alone, and said so.


@dataclass
class Outcome:
    done: list[Any] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)


@require_POST
@for_people
def bulk(request: HttpRequest) -> HttpResponse:
    back = safe_next(request, "memory-list")
    chosen = list(dict.fromkeys(request.POST.getlist("memory")))
    if not chosen:
        messages.warning(request, _("Tick the memories that it is about first."))
        return redirect(back)
    deed = _deed(request)
    if deed is None:
        messages.warning(request, _("Say which tags to add."))
        return redirect(back)
    outcome = _performed(caller_for(request), chosen, deed)
    if outcome.refused:
        page = {"outcome": outcome, "action": request.POST.get("action", ""), "next": back}
        return render(request, "console/memories/bulk.html", page)
    messages.success(request, _said(request.POST.get("action", ""), len(outcome.done)))
    return redirect(back)


def _performed(caller: Caller, chosen: list[str], deed: Callable[[Caller, str, str], Any]) -> Outcome:
    outcome = Outcome()
    for memory in chosen[:MOST]:
        memory_id, _colon, revision = memory.partition(":")
        try:
            outcome.done.append(deed(caller, memory_id, revision or "0"))
        except Denied:
            raise
        except MemRelayError as error:
            outcome.refused.append({"memory_id": memory_id, "title": _title(caller, memory_id), "why": told(error)})
    for memory in chosen[MOST:]:
        memory_id = memory.partition(":")[0]
        why = _("At most {count} are done at once.").format(count=MOST)
        outcome.refused.append({"memory_id": memory_id, "title": _title(caller, memory_id), "why": why})
    return outcome


def _deed(request: HttpRequest) -> Callable[[Caller, str, str], Any] | None:
    """What to do with each; None where the form lacks something."""
    match request.POST.get("action", ""):
        case "archive":
            return lambda caller, memory_id, revision: memory_archive.perform(
                caller, {"memory_id": memory_id, "revision": revision}
            )
        case "unarchive":
            return lambda caller, memory_id, revision: memory_unarchive.perform(
                caller, {"memory_id": memory_id, "revision": revision}
            )
    tags = TagsField(required=False).clean(request.POST.get("tags", ""))
    return (lambda caller, memory_id, _revision: _tagged(caller, memory_id, tags)) if tags else None


def _tagged(caller: Caller, memory_id: str, tags: list[str]) -> Any:
    """Tags are added to those that it has now, whatever the list showed."""
    read = memory_get.perform(caller, {"memory_id": memory_id})
    together = list(dict.fromkeys([*read.tags, *tags]))
    return memory_update.perform(caller, {"memory_id": memory_id, "revision": read.revision, "tags": together})


def _title(caller: Caller, memory_id: str) -> str:
    try:
        return memory_get.perform(caller, {"memory_id": memory_id}).title
    except MemRelayError:
        return memory_id


def _said(action: str, count: int) -> str:
    if action == "archive":
        return ngettext("{count} memory is archived.", "{count} memories are archived.", count).format(count=count)
    if action == "unarchive":
        sentence = ngettext(
            "{count} memory is back from the archive.", "{count} memories are back from the archive.", count
        )
        return sentence.format(count=count)
    return ngettext("{count} memory has the tags now.", "{count} memories have the tags now.", count).format(
        count=count
    )

"""Moving a memory to another place."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.console.deeds import perform, tell_warnings
from apps.console.forms.memories import MoveForm
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.memories.selectors import memory_get
from apps.memories.services import memory_move
from apps.operations.caller import Right


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def move(request: HttpRequest, memory_id: str) -> HttpResponse:
    caller = caller_for(request)
    read = memory_get.perform(caller, {"memory_id": memory_id})
    if not caller.may(Right.WRITE) or read.resource != "memory":
        return redirect("memory-detail", read.memory_id)
    places = Places(caller)
    form = MoveForm(
        request.POST or None,
        places=[(one.value, one.name) for one in places.scope_choices() if one.scope != read.scope],
        initial={"revision": read.revision},
    )
    if request.method == "POST" and (moved := perform(request, memory_move, form, memory_id=read.memory_id)):
        tell_warnings(request, moved)
        place = places.of_scope(moved.scope).name
        messages.success(request, _("“{title}” is in {place} now.").format(title=moved.title, place=place))
        return redirect("memory-detail", moved.memory_id)
    page = {"memory": read, "workspace": places.of_scope(read.scope), "form": form, "hint": form.hint}
    return render(request, "console/memories/move.html", page)

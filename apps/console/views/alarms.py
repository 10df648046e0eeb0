"""When many files have vanished: nothing was deleted, and somebody decides what holds (L-11)."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.console.deeds import do
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.instance.selectors import dashboard_get
from apps.memories.services import scope_alarm_decide


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def alarm(request: HttpRequest, scope: str) -> HttpResponse:
    caller = caller_for(request)
    told = dashboard_get.perform(caller, {"limit": 0}).attention
    found = next((one for one in told if one.what == "alarm" and one.scope == scope), None)
    if found is None:
        raise Http404
    if request.method == "POST":
        if decided := do(request, scope_alarm_decide, scope=scope, decision=request.POST.get("decision", "")):
            messages.success(
                request, _("It is decided; {count} memories were put in order.").format(count=decided.files)
            )
        return redirect("dashboard")
    page = {
        "place": Places(caller).of_scope(scope),
        "scope": scope,
        "text": found.text,
        "can_administer": caller.administers,
    }
    return render(request, "console/alarm.html", page)

"""The connection to a model: what it is, what it can do, and whether curation is on."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.base.errors import Denied, MemRelayError
from apps.console.deeds import do, perform
from apps.console.forms.curation import ConnectionForm
from apps.console.visiting import caller_for, for_people
from apps.curation.selectors import curation_settings_get
from apps.curation.services import curation_settings_update
from apps.llm.schemas import ModelConnectionOut
from apps.llm.selectors import curation_model_call_list, curation_model_connection_status, curation_model_list
from apps.llm.services import (
    curation_model_connection_delete,
    curation_model_connection_save,
    curation_model_connection_test,
)
from apps.operations.caller import Right

CAPABILITIES: dict[str, Promise] = {
    "connect": gettext_lazy("It can be reached"),
    "authentication": gettext_lazy("It takes the token"),
    "model_discovery": gettext_lazy("It lists its models"),
    "responses": gettext_lazy("It speaks Responses"),
    "chat_completions": gettext_lazy("It speaks Chat Completions"),
    "non_streaming": gettext_lazy("Answers at once"),
    "streaming": gettext_lazy("Answers as a stream"),
    "structured_output": gettext_lazy("Answers in a given structure"),
    "usage": gettext_lazy("It counts tokens"),
    "vision": gettext_lazy("It looks at pictures"),
}
NEEDED = {"connect", "authentication", "structured_output"}  # A failure here is one of curation.
LATEST_CALLS = 10


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("token")
@for_people
def model(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    if not caller.may(Right.ADMINISTER):
        raise Denied(verb=Right.ADMINISTER.value)
    now = curation_model_connection_status(caller)
    form = ConnectionForm(request.POST or None, has_token=now.has_token, initial=_as_it_is(now))
    if request.method == "POST" and perform(request, curation_model_connection_save, form) is not None:
        messages.success(request, _("The connection is saved."))
        return _tested(request) if request.POST.get("test") else redirect("model")
    page = {
        "connection": now,
        "matrix": matrix_of(now),
        "calls": curation_model_call_list.perform(caller, {"limit": LATEST_CALLS}).calls,
        "settings": curation_settings_get(caller),
        "form": form,
        "hint": form.hint,
    }
    return render(request, "console/model/page.html", page)


def _as_it_is(now: ModelConnectionOut) -> dict[str, Any]:
    told = {**dict(now), "base_url": now.base_url or ""}
    return told if now.revision else told | {"enabled": True}


def matrix_of(connection: ModelConnectionOut) -> list[dict[str, Any]]:
    return [
        {**dict(found), "name": str(CAPABILITIES.get(key, key)), "is_needed": key in NEEDED}
        for key, found in connection.capabilities.items()
    ]


@require_POST
@for_people
def test(request: HttpRequest) -> HttpResponse:
    return _tested(request)


def _tested(request: HttpRequest) -> HttpResponse:
    tested = do(request, curation_model_connection_test)
    if tested is not None and tested.error is None:
        messages.success(request, _("The model answers, and its answers can be used."))
    return redirect("model")


@require_POST
@for_people
def delete(request: HttpRequest) -> HttpResponse:
    if do(request, curation_model_connection_delete) is not None:
        messages.success(request, _("The connection is taken away and its token destroyed."))
    return redirect("model")


@require_safe
@for_people
def models(request: HttpRequest) -> HttpResponse:
    """The names that the endpoint offers, for the field that asks for one; none where it has no list."""
    try:
        found = curation_model_list.perform(caller_for(request), {}).models
    except Denied:
        raise
    except MemRelayError:
        found = []
    return render(request, "console/model/_models.html", {"models": found})


@require_POST
@for_people
def switch(request: HttpRequest) -> HttpResponse:
    enabled = request.POST.get("enabled") == "true"
    if do(request, curation_settings_update, enabled=enabled):
        messages.success(request, _("AI curation is on.") if enabled else _("AI curation is off."))
    return redirect("model")

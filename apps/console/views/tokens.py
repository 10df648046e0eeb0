"""Tokens: an agent's keys. A token is shown once, in the answer that made it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.schemas import TokenOut
from apps.accounts.selectors import token_list
from apps.accounts.services import token_create, token_revoke
from apps.console.clients import clients_for
from apps.console.deeds import do, perform
from apps.console.forms.accounts import TokenForm
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.instance.selectors import capabilities_get
from apps.operations.caller import Caller, Right
from apps.profiles.selectors import usage_profile_list


@require_safe
@for_people
def tokens(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    with_revoked = request.GET.get("revoked") == "true"
    found = token_list.perform(caller, {"with_revoked": with_revoked}).tokens
    places = Places(caller)
    page = {
        "tokens": [described(token, places) for token in found],
        "with_revoked": with_revoked,
        "toolsets": capabilities_get(caller).toolsets,
        "can_administer": caller.administers,
    }
    return render(request, "console/tokens/list.html", page)


@require_http_methods(["GET", "HEAD", "POST"])
@for_people
def new(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    token_list.perform(caller, {})  # Refuses those who may not make one before they have filled in a form.
    places = Places(caller)
    profiles = usage_profile_list.perform(caller, {"with_disabled": False}).profiles
    form = TokenForm(
        request.POST or None,
        profiles=[(profile.profile_id, profile.name) for profile in profiles],
        workspaces=[(choice.value, choice.name) for choice in places.workspace_choices()],
        initial={"profile": caller.profile, "project_id": request.GET.get("project_id", "")},
    )
    if request.method == "POST" and (made := perform(request, token_create, form)):
        page = {"secret": made.token, "token": described(made, places), "clients": clients_for(request, made.token)}
        response = render(request, "console/tokens/created.html", page)
        patch_cache_control(response, no_store=True, private=True)
        return response
    return render(
        request,
        "console/tokens/new.html",
        {"form": form, "hint": form.hint, "toolsets": capabilities_get(caller).toolsets},
    )


@require_POST
@for_people
def revoke(request: HttpRequest, token_id: str) -> HttpResponse:
    if revoked := do(request, token_revoke, token_id=token_id):
        messages.success(request, _("The token “{name}” is revoked.").format(name=revoked.name))
    return redirect("token-list")


def described(token: TokenOut, places: Places) -> dict[str, Any]:
    return {
        **dict(token),
        "profile_name": places.spaces.get(token.profile_id, token.profile_id),
        "workspace_name": places.of_workspace(token.project_id).name if token.project_id else "",
    }


def active_tokens(caller: Caller) -> int | None:
    """How many there are; None for those who may not know."""
    if not caller.may(Right.ADMINISTER):
        return None
    return sum(token.state == "active" for token in token_list(caller).tokens)


def has_active_token(caller: Caller) -> bool:
    return bool(active_tokens(caller))

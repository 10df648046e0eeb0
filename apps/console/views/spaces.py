"""Memory spaces: whose habits agents learn, and which agents learn whose."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.models import User
from apps.accounts.selectors import token_list
from apps.accounts.services import usage_profile_token_bind
from apps.accounts.sessions import profiles_to_choose
from apps.base.errors import NotFound
from apps.console.deeds import perform
from apps.console.forms.spaces import BindForm, ChangeSpaceForm, SpaceForm
from apps.console.places import Places
from apps.console.visiting import caller_for, for_people
from apps.memories.schemas import MemoryListOut, ScopeItem
from apps.memories.selectors import memory_list, scope_list
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.schemas import ProfileOut
from apps.profiles.selectors import usage_profile_list
from apps.profiles.services import usage_profile_save

LATEST = 5
FORM = ["GET", "HEAD", "POST"]


@require_safe
@for_people
def spaces(request: HttpRequest) -> HttpResponse:
    caller = caller_for(request)
    held = {item.scope: item for item in scope_list(caller).scopes}
    page = {
        "spaces": [with_counts(space, held) for space in usage_profile_list(caller).profiles],
        "current": caller.profile,
        "can_administer": caller.administers,
    }
    return render(request, "console/spaces/list.html", page)


def with_counts(space: ProfileOut, held: dict[str, ScopeItem]) -> dict[str, Any]:
    there = held.get(f"global/{space.profile_id}")
    activity = [moment for moment in (space.last_changed_at, there and there.updated_at) if moment]
    return {
        **dict(space),
        "memories": there.memories if there else 0,
        "last_activity": max(activity) if activity else None,
        "stays": space.profile_id == SHARED_PROFILE,
    }


@require_safe
@for_people
def space(request: HttpRequest, profile_id: str) -> HttpResponse:
    caller = caller_for(request)
    found = _space(caller, profile_id)
    memories = _memories(caller, profile_id)
    page = {
        "space": with_counts(found, {item.scope: item for item in scope_list(caller).scopes}),
        "place": f"global/{profile_id}",
        "is_seen": memories is not None,
        "latest_memories": Places(caller).memory_rows(memories.memories) if memories else [],
        "is_current": caller.profile == profile_id,
        "can_choose": caller.profile != profile_id and _may_choose(request, profile_id),
        "can_administer": caller.administers,
    }
    return render(request, "console/spaces/detail.html", page)


def _space(caller: Caller, profile_id: str) -> ProfileOut:
    for found in usage_profile_list(caller).profiles:
        if found.profile_id == profile_id:
            return found
    raise Http404


def _may_choose(request: HttpRequest, profile_id: str) -> bool:
    user = request.user
    return isinstance(user, User) and profiles_to_choose(user).filter(pk=profile_id).exists()


def _memories(caller: Caller, profile_id: str) -> MemoryListOut | None:
    """The latest ones; None for those who may know of the space and not look into it."""
    try:
        return memory_list.perform(caller, {"scope": f"global/{profile_id}", "limit": LATEST})
    except NotFound:
        return None


@require_http_methods(FORM)
@for_people
def new(request: HttpRequest) -> HttpResponse:
    token_list.perform(caller_for(request), {})  # Refuses those who may not before they have filled in a form.
    form = SpaceForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and not _is_taken(request, form):
        if made := perform(request, usage_profile_save, form):
            messages.success(request, _("The memory space “{name}” is made.").format(name=made.name))
            return redirect("space-detail", made.profile_id)
    return render(request, "console/spaces/edit.html", {"space": None, "form": form, "hint": form.hint})


def _is_taken(request: HttpRequest, form: SpaceForm) -> bool:
    """Saving under the id of another space would change that one."""
    wanted = form.cleaned_data["profile_id"]
    if wanted not in {one.profile_id for one in usage_profile_list(caller_for(request)).profiles}:
        return False
    form.add_error("profile_id", _("Another memory space has this short name."))
    return True


@require_http_methods(FORM)
@for_people
def edit(request: HttpRequest, profile_id: str) -> HttpResponse:
    token_list.perform(caller_for(request), {})
    found = _space(caller_for(request), profile_id)
    form = ChangeSpaceForm(request.POST or None, initial=dict(found))
    if profile_id == SHARED_PROFILE:
        del form.fields["enabled"]  # It always is.
    if request.method == "POST" and (saved := perform(request, usage_profile_save, form, profile_id=profile_id)):
        messages.success(request, _("“{name}” is saved.").format(name=saved.name))
        return redirect("space-detail", saved.profile_id)
    page = {"space": found, "form": form, "hint": form.hint, "stays": profile_id == SHARED_PROFILE}
    return render(request, "console/spaces/edit.html", page)


@require_http_methods(FORM)
@for_people
def bind(request: HttpRequest, profile_id: str) -> HttpResponse:
    caller = caller_for(request)
    tokens = [token for token in token_list.perform(caller, {}).tokens if token.state == "active"]
    found = _space(caller, profile_id)
    names = Places(caller).spaces
    form = BindForm(
        request.POST or None,
        tokens=[(one.token_id, _token_name(one.name, names.get(one.profile_id, one.profile_id))) for one in tokens],
        initial={"token_ids": [token.token_id for token in found.tokens]},
    )
    if request.method == "POST" and (_bound := perform(request, usage_profile_token_bind, form, profile_id=profile_id)):
        messages.success(request, _("The tokens of “{name}” are saved.").format(name=found.name))
        return redirect("space-detail", profile_id)
    page = {"space": found, "form": form, "hint": form.hint, "has_tokens": bool(tokens)}
    return render(request, "console/spaces/bind.html", page)


def _token_name(name: str, space: str) -> str:
    return _("{name} (now: {space})").format(name=name, space=space)

"""What every page of the console gets."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.accounts.models import User
from apps.accounts.sessions import administers, chosen_profile, profiles_to_choose

SECTIONS = {"memory-trash": "trash"}  # Where a page's name does not begin with its section's.


def console(request: HttpRequest) -> dict[str, Any]:
    looked_up = getattr(request, "user", None)  # An error page may come before anybody was looked up.
    user = looked_up if isinstance(looked_up, User) else None
    return {
        "theme": request.COOKIES.get("memrelay_theme", ""),
        "section": section_of(request),
        "administers": user is not None and administers(user),
        # Asked for only by pages with navigation.
        "profiles": SimpleLazyObject(lambda: _profiles(user) if user else []),
        "current_profile": SimpleLazyObject(lambda: chosen_profile(request, user) if user else ""),
    }


def section_of(request: HttpRequest) -> str:
    """The part of the navigation that a page belongs to."""
    name = (request.resolver_match and request.resolver_match.url_name) or ""
    return SECTIONS.get(name, name.partition("-")[0])


def _profiles(user: User) -> list[dict[str, str]]:
    return [{"profile_id": profile.pk, "name": profile.name} for profile in profiles_to_choose(user)]

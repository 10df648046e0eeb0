"""What a signed-in person may do, and in whose memory space they do it."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import translation
from ninja.utils import check_csrf

from apps.accounts.errors import CsrfFailed, PasswordMustChange, ProfileOutOfReach
from apps.accounts.models import User
from apps.base.errors import NotSignedIn
from apps.operations.caller import ALL_RIGHTS, SHARED_PROFILE, Caller, CallerKind, Origin, Right
from apps.profiles.models import Profile
from apps.profiles.selectors import enabled_profile

PROFILE_KEY = "profile"
ZONE_COOKIE = "memrelay_zone"
MEMBER_RIGHTS = frozenset({Right.READ, Right.WRITE})


def caller_for_session(request: HttpRequest) -> Caller:
    """Whom a session stands for. Raises ``NotSignedIn``, and ``PasswordMustChange`` until the one-time password is gone."""
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn()
    if user.must_change_password:
        raise PasswordMustChange()
    return Caller(
        name=user.get_username(),
        kind=CallerKind.SESSION,
        origin=Origin.USER,
        rights=ALL_RIGHTS if administers(user) else MEMBER_RIGHTS,
        profile=chosen_profile(request, user),
        toolset="full",
        zone=zone_of(request, user),
        language=translation.get_language() or settings.LANGUAGE_CODE,
    )


def guard_against_forgery(request: HttpRequest) -> None:
    """A cookie travels with every request, whoever made it; the CSRF token only with those of our own pages."""
    if check_csrf(request):
        raise CsrfFailed()


def administers(user: User) -> bool:
    return user.is_staff or user.is_superuser


def profiles_to_choose(user: User) -> QuerySet[Profile]:
    """The memory spaces a person may work in: their own and ``shared``; any for an administrator (D-08b)."""
    profiles = Profile.objects.filter(enabled=True)
    if administers(user):
        return profiles
    return profiles.filter(Q(pk=SHARED_PROFILE) | Q(pk=user.profile_id))


def choose_profile(request: HttpRequest, profile_id: str) -> None:
    """Work in another memory space from now on, in this session."""
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn()
    if not administers(user) and profile_id not in (SHARED_PROFILE, user.profile_id):
        raise ProfileOutOfReach()
    request.session[PROFILE_KEY] = enabled_profile(profile_id).pk


def chosen_profile(request: HttpRequest, user: User) -> str:
    """What the session chose, as long as it may; ``shared`` without a choice (WS-044)."""
    chosen = request.session.get(PROFILE_KEY, SHARED_PROFILE)
    if chosen == SHARED_PROFILE or profiles_to_choose(user).filter(pk=chosen).exists():
        return str(chosen)
    return SHARED_PROFILE


def zone_of(request: HttpRequest, user: User) -> str:
    """The reader's zone: the cookie the console sets, else the person's own, else the instance's."""
    for name in (request.COOKIES.get(ZONE_COOKIE, ""), user.zone, settings.CALLER_ZONE):
        if is_zone(name):
            return str(name)
    return "UTC"


def is_zone(name: str) -> bool:
    try:
        return bool(name) and bool(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False

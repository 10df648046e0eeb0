"""Tokens, and the one thing of this room that is no operation: the session of a person."""

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.utils.translation import get_language
from ninja import Router, Status

from apps.accounts import selectors, services, sessions, signing_in
from apps.accounts.models import User
from apps.accounts.schemas import PasswordChange, ProfileChoice, SessionOut, SignIn
from apps.accounts.sessions import guard_against_forgery
from apps.base.errors import NotSignedIn
from apps.operations.caller import ALL_RIGHTS, Right
from apps.operations.rest import REFUSALS, ErrorOut, route

router = Router(tags=["accounts"])

route(router, "GET", "/tokens", selectors.token_list)
route(router, "POST", "/tokens", services.token_create, status=201)
route(router, "DELETE", "/tokens/{token_id}", services.token_revoke)
route(router, "PUT", "/curation/profiles/{profile_id}/tokens", services.usage_profile_token_bind)

ANSWERS = {200: SessionOut, REFUSALS: ErrorOut}
NOTHING = {204: None, REFUSALS: ErrorOut}


@router.get("/session", auth=None, response=ANSWERS, operation_id="session_get")
def session_get(request: HttpRequest) -> SessionOut:
    """Say who is signed in, and in whose memory space they work. It also sets the cookie that signing in needs."""
    get_token(request)
    return _session(request)


@router.post("/session", auth=None, response=ANSWERS, operation_id="session_open")
def session_open(request: HttpRequest, sent: SignIn) -> SessionOut:
    """Sign in with name and password. Too many failures make a pause."""
    guard_against_forgery(request)
    signing_in.sign_in(request, name=sent.name, password=sent.password)
    return _session(request)


@router.delete("/session", auth=None, response=NOTHING, operation_id="session_close")
def session_close(request: HttpRequest) -> Status:
    """Sign out."""
    guard_against_forgery(request)
    signing_in.sign_out(request)
    return Status(204, None)


@router.put("/session/profile", auth=None, response=ANSWERS, operation_id="session_profile_choose")
def session_profile_choose(request: HttpRequest, sent: ProfileChoice) -> SessionOut:
    """Work in another memory space: your own or shared, any for an administrator."""
    guard_against_forgery(request)
    sessions.choose_profile(request, sent.profile_id)
    return _session(request)


@router.put("/session/password", auth=None, response=ANSWERS, operation_id="session_password_change")
def session_password_change(request: HttpRequest, sent: PasswordChange) -> SessionOut:
    """Change your password; your other sessions end."""
    guard_against_forgery(request)
    signing_in.password_change(request, old=sent.old, new=sent.new)
    return _session(request)


def _session(request: HttpRequest) -> SessionOut:
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn()
    rights = ALL_RIGHTS if sessions.administers(user) else sessions.MEMBER_RIGHTS
    return SessionOut(
        name=user.get_username(),
        rights=[right for right in Right if right in rights],
        profile_id=sessions.chosen_profile(request, user),
        profiles=list(sessions.profiles_to_choose(user).values_list("pk", flat=True)),
        zone=sessions.zone_of(request, user),
        language=get_language() or "en",
        must_change_password=user.must_change_password,
    )

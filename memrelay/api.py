"""REST at /api/v1: gathers every room's routes, finds out who is asking, and gives every refusal one shape."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import wraps
from importlib import import_module
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.utils.translation import gettext_lazy as _
from django.views import defaults
from ninja import NinjaAPI, Router
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.operation import PathView
from ninja.renderers import JSONRenderer
from ninja.responses import NinjaJSONEncoder
from ninja.security import HttpBearer, SessionAuth

from apps.accounts.addresses import client_address
from apps.accounts.keys import caller_for_token
from apps.accounts.sessions import caller_for_session, guard_against_forgery
from apps.base.errors import MemRelayError, NotFound, NotSignedIn, TooMany
from apps.operations.caller import Caller
from apps.operations.rest import refused_by_ninja
from memrelay.logs import REQUEST_ID
from memrelay.rates import Rates

log = logging.getLogger(__name__)

ROOMS = [
    "llm",
    "profiles",
    "accounts",
    "workspaces",
    "memories",
    "memory_git",
    "curation",
    "context",
    "recall",
    "instance",
]
GREEDY = re.compile(r"<path:\w+>$")
RATES = Rates()


class MalformedBody(MemRelayError):
    code = "MALFORMED_BODY"
    sentence = _("The request's body is no JSON.")
    hint = _("Send UTF-8 JSON with the header Content-Type: application/json.")


class BodyTooLarge(MemRelayError):
    code = "BODY_TOO_LARGE"
    status = 413
    sentence = _("The request's body is larger than {limit} bytes.")
    hint = _("Send less at once, or raise MEMRELAY_BODY_LIMIT.")


class MalformedRequest(MemRelayError):
    code = "MALFORMED_REQUEST"
    sentence = _("The request is malformed.")


class MethodNotAllowed(MemRelayError):
    code = "METHOD_NOT_ALLOWED"
    status = 405
    sentence = _("This path does not answer to {method}.")
    hint = _("It answers to {allowed}.")


class NoSuchPath(NotFound):
    sentence = _("There is no such path.")
    hint = _("GET /api/v1/openapi.json lists those there are.")


class Internal(MemRelayError):
    """A defect of ours: nothing of it goes out, the log has it under the request's id."""

    code = "INTERNAL"
    status = 500
    sentence = _("The server failed at this.")
    hint = _("Try once more; if it fails again, tell the administrator the request_id in facts.")


class Bearer(HttpBearer):
    """An agent's token. Who sends one is asked for nothing else: a bad token is refused, whatever cookie came with it."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        try:
            caller = caller_for_token(token.strip())
        except NotSignedIn:
            admit(f"address:{client_address(request)}")
            raise
        admit(f"token:{caller.token_id}")
        return replace(caller, request_id=REQUEST_ID.get())


class Session(SessionAuth):
    """A signed-in person. Their cookie alone is not enough to change anything: a CSRF token must come with it."""

    def __call__(self, request: HttpRequest) -> Caller | None:
        if not request.user.is_authenticated:
            admit(f"address:{client_address(request)}")
            return None
        admit(f"user:{request.user.pk}")
        guard_against_forgery(request)
        return replace(caller_for_session(request), request_id=REQUEST_ID.get())


def admit(key: str) -> None:
    if seconds := RATES.seconds_to_wait(key, settings.RATE_PER_MINUTE):
        raise TooMany(seconds=seconds)


class Api(NinjaAPI):
    """Ninja with our envelope around what it answers by itself, and greedy paths behind all others.

    ``memories/<path:memory_id>`` would swallow ``memories/<path:memory_id>/archive``, whichever a room names first.
    """

    def _get_urls(self) -> list[Any]:
        patterns = sorted(super()._get_urls(), key=lambda pattern: bool(GREEDY.search(str(pattern.pattern))))
        for pattern in patterns:
            pattern.callback = _refusing_in_shape(pattern.callback)
        return patterns


def _refusing_in_shape(view: Any) -> Callable[..., HttpResponse]:
    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except Http404:
            return refuse(request, NoSuchPath())
        if response.status_code == 405 and "Allow" in response:
            allowed = response["Allow"]
            response = refuse(request, MethodNotAllowed(method=request.method, allowed=allowed))
            response["Allow"] = allowed
        return response

    answered.csrf_exempt = True  # type: ignore[attr-defined]  # Sessions are guarded where they are looked at.
    return answered


class _Encoder(NinjaJSONEncoder):
    """Times as every other door writes them, to the last digit; Django would cut them to milliseconds."""

    def default(self, o: Any) -> Any:
        if isinstance(o, datetime):
            return o.isoformat().replace("+00:00", "Z")
        return super().default(o)


class Compact(JSONRenderer):
    """JSON in its own letters and without spaces: what counts against a reader's budget is the text, not escapes."""

    encoder_class = _Encoder
    json_dumps_params: Mapping[str, Any] = {"ensure_ascii": False, "separators": (",", ":")}


api = Api(
    title="MemRelay",
    version=settings.VERSION,
    description="A memory server for AI agents. Every refusal has one shape: {error: {code, message, hint, facts}}.",
    auth=[Bearer(), Session()],
    urls_namespace="api",
    renderer=Compact(),
)


def rooms_routers() -> list[Router]:
    """Every room's routes. Where two rooms serve one path (one reads, one deletes), they share its view: Django asks but one."""
    routers: list[Router] = [import_module(f"apps.{room}.api").router for room in ROOMS]
    first: dict[str, PathView] = {}
    for router in routers:
        for path, view in list(router.path_operations.items()):
            if first.setdefault(path, view) is not view:
                first[path].operations += view.operations
                del router.path_operations[path]
    return routers


for router in rooms_routers():
    api.add_router("", router)


def refuse(request: HttpRequest, error: MemRelayError) -> HttpResponse:
    """One failure in the one shape."""
    response = api.create_response(request, {"error": error.as_dict()}, status=error.status)
    if error.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="MemRelay"'
    if "seconds" in error.facts:
        response["Retry-After"] = str(error.facts["seconds"])
    elif error.retryable:
        response["Retry-After"] = "1"
    return response


@api.exception_handler(MemRelayError)
def _known(request: HttpRequest, error: MemRelayError) -> HttpResponse:
    return refuse(request, error)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    return refuse(request, refused_by_ninja(error))


@api.exception_handler(AuthenticationError)
def _not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return refuse(request, NotSignedIn())


@api.exception_handler(HttpError)
def _malformed_body(request: HttpRequest, error: HttpError) -> HttpResponse:
    # Ninja raises it itself for one thing only: a body that is no JSON.
    return refuse(request, MalformedBody())


@api.exception_handler(RequestDataTooBig)
def _too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return refuse(request, BodyTooLarge(limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE))


@api.exception_handler(SuspiciousOperation)
def _suspicious(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    return refuse(request, MalformedRequest())


@api.exception_handler(UnreadablePostError)
def _cut_off(request: HttpRequest, error: UnreadablePostError) -> HttpResponse:
    return refuse(request, MalformedRequest())


@api.exception_handler(Http404)
def _missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return refuse(request, NoSuchPath())


@api.exception_handler(Exception)
def _defect(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("%s %s failed.", request.method, request.path, exc_info=error)
    return refuse(request, Internal(request_id=REQUEST_ID.get()))


def no_such_path(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Whatever else is asked for under /api."""
    return refuse(request, NoSuchPath())


no_such_path.csrf_exempt = True  # type: ignore[attr-defined]  # It changes nothing, so it refuses as a 404.


def missing_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 404 for people, ours for agents."""
    if request.path.startswith("/api/"):
        return refuse(request, NoSuchPath())
    return defaults.page_not_found(request, exception)


def malformed_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith("/api/"):
        return refuse(request, MalformedRequest())
    return defaults.bad_request(request, exception)


def failed_request(request: HttpRequest) -> HttpResponse:
    if request.path.startswith("/api/"):
        return refuse(request, Internal(request_id=REQUEST_ID.get()))
    return defaults.server_error(request)

"""What every request gets: an id, a strict Content-Security-Policy, and its caller's time zone."""

import re
from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.base.ids import new_id
from memrelay.logs import REQUEST_ID

Answer = Callable[[HttpRequest], HttpResponse]
SOUND_ID = re.compile(r"[\w.-]{1,64}")


def request_identity(get_response: Answer) -> Answer:
    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        mark = REQUEST_ID.set(given if SOUND_ID.fullmatch(given) else new_id("req"))
        try:
            response = get_response(request)
            response["X-Request-ID"] = REQUEST_ID.get()
            return response
        finally:
            REQUEST_ID.reset(mark)

    return middleware


def content_security_policy(get_response: Answer) -> Answer:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response

    return middleware


def callers_zone(get_response: Answer) -> Answer:
    """Show times in the reader's zone: the cookie the console sets, else the instance's."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with timezone.override(zone_of(request)):
            return get_response(request)

    return middleware


def zone_of(request: HttpRequest) -> ZoneInfo:
    for name in (request.COOKIES.get("memrelay_zone", ""), settings.CALLER_ZONE):
        try:
            if name:
                return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder of zones, a name no file may have.
            continue
    return ZoneInfo("UTC")

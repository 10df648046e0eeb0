"""Who looks at a page, and where those go who may not see it."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts.errors import PasswordMustChange
from apps.accounts.sessions import caller_for_session
from apps.base.errors import Denied, NotFound, NotSignedIn
from apps.operations.caller import Caller

View = Callable[..., HttpResponse]


def caller_for(request: HttpRequest) -> Caller:
    """The caller that ``for_people`` found; operations are performed as them."""
    caller: Caller = request.caller  # type: ignore[attr-defined]
    return caller


def for_people(view: View) -> View:
    """A page for those who are signed in. What they cannot see does not exist, what they may not do is refused."""

    @wraps(view)
    def seen(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            caller = caller_for_session(request)
        except NotSignedIn:
            return _go(request, resolve_url("sign-in") + _and_back(request))
        except PasswordMustChange:
            return _go(request, resolve_url("password-change"))
        request.caller = caller  # type: ignore[attr-defined]
        try:
            with timezone.override(caller.zone):
                response = view(request, *args, **kwargs)
        except NotFound as error:
            raise Http404(str(error)) from error
        except Denied as error:
            raise PermissionDenied(str(error)) from error
        if "Cache-Control" not in response:
            patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return seen


def safe_next(request: HttpRequest, otherwise: str) -> str:
    """Where a form asked to go on to, if that is a page of this server."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else resolve_url(otherwise)


def _go(request: HttpRequest, address: str) -> HttpResponse:
    # A part swapped into a page cannot hold another page: the whole of it has to go.
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)  # type: ignore[attr-defined]


def _and_back(request: HttpRequest) -> str:
    if request.method != "GET" or request.htmx or request.path == "/":  # type: ignore[attr-defined]
        return ""
    return "?" + urlencode({"next": request.get_full_path()})

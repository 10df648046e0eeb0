"""Coming in, going out, and what a browser remembers of its person: look, language, memory space."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.errors import SignInPaused
from apps.accounts.models import User
from apps.accounts.sessions import choose_profile
from apps.accounts.signing_in import password_change, sign_in, sign_out
from apps.base.errors import MemRelayError
from apps.console.forms.accounts import PasswordForm, SignInForm
from apps.console.refusals import told
from apps.console.visiting import for_people, safe_next

THEMES = ("light", "dark")


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("password")
@never_cache
def signing_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(safe_next(request, "dashboard"))
    form = SignInForm(request.POST or None)
    waiting_seconds = 0
    if request.method == "POST" and form.is_valid():
        try:
            sign_in(request, name=form.cleaned_data["username"], password=form.cleaned_data["password"])
        except SignInPaused as error:
            waiting_seconds = int(error.facts["seconds"])
        except MemRelayError as error:
            form.refuse(error)
        else:
            return redirect(safe_next(request, "dashboard"))
    page = {
        "form": form,
        "hint": form.hint,
        "waiting_seconds": waiting_seconds,
        "next": safe_next(request, "dashboard"),
    }
    return render(request, "console/sign_in.html", page, status=429 if waiting_seconds else 200)


@require_POST
def signing_out(request: HttpRequest) -> HttpResponse:
    sign_out(request)
    return redirect("sign-in")


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
@never_cache
def changing_password(request: HttpRequest) -> HttpResponse:
    """The one page that a one-time password opens."""
    if not isinstance(request.user, User):
        return redirect("sign-in")
    forced = request.user.must_change_password
    form = PasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            password_change(request, old=form.cleaned_data["old_password"], new=form.cleaned_data["new_password1"])
        except MemRelayError as error:
            form.refuse(error)
        else:
            messages.success(request, _("Your password is changed. Other sessions of yours have ended."))
            return redirect("dashboard")
    return render(request, "console/password_change.html", {"form": form, "hint": form.hint, "forced": forced})


@require_POST
def appearance(request: HttpRequest) -> HttpResponse:
    """Light, dark or the system's choice, for browsers without script; with script the page does it itself."""
    response = redirect(safe_next(request, "dashboard"))
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            "memrelay_theme", theme, max_age=settings.LANGUAGE_COOKIE_AGE, samesite="Lax", secure=settings.HTTPS
        )
    else:
        response.delete_cookie("memrelay_theme")
    return response


@require_POST
@for_people
def profile(request: HttpRequest) -> HttpResponse:
    try:
        choose_profile(request, request.POST.get("profile", ""))
    except MemRelayError as error:
        messages.error(request, told(error))
    return redirect(safe_next(request, "dashboard"))

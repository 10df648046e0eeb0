"""Sign in, slowly for those who guess; sign out; change a password. Sessions only: agents carry tokens."""

from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext as _

from apps.accounts import first
from apps.accounts.addresses import client_address
from apps.accounts.errors import SignInPaused, WrongPassword
from apps.accounts.models import SignInTries, User
from apps.base import clock
from apps.base.errors import Invalid, NotSignedIn
from apps.base.text import fold
from apps.base.transactions import short_transaction


def sign_in(request: HttpRequest, *, name: str, password: str) -> User:
    """Open a session. Raises ``WrongPassword``, and ``SignInPaused`` where one name or address failed too often."""
    keys = [_key("name", fold(name)), _key("address", client_address(request))]
    _take_a_try(keys)
    user = authenticate(request, username=name, password=password)
    if not isinstance(user, User):
        raise WrongPassword()
    _give_back(*keys)
    login(request, user)
    first.forget_note()
    return user


def sign_out(request: HttpRequest) -> None:
    logout(request)


def password_change(request: HttpRequest, *, old: str, new: str) -> None:
    """Choose a password of one's own; this session stays, every other one of this person ends."""
    user = request.user
    if not isinstance(user, User):
        raise NotSignedIn()
    keys = [_key("change", str(user.pk))]
    _take_a_try(keys)
    if not user.check_password(old):
        raise Invalid(fields={"old": _("This is not your current password.")})
    _give_back(*keys)
    if old == new:
        raise Invalid(fields={"new": _("Choose a password other than the current one.")})
    check_password_is_sound(new, user)
    user.set_password(new)
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    update_session_auth_hash(request, user)


def check_password_is_sound(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(fields={"new": " ".join(error.messages)}) from error


def _take_a_try(keys: list[str]) -> None:
    """Count a try before the password is looked at, so that guesses sent all at once find no gap.

    The pause lasts until the first of the counted tries is ``SIGN_IN_PAUSE_SECONDS`` old.
    """
    pause = timedelta(seconds=settings.SIGN_IN_PAUSE_SECONDS)
    with short_transaction():
        now = clock.now()
        SignInTries.objects.filter(since__lte=now - pause).delete()
        rows = {row.key: row for row in SignInTries.objects.filter(pk__in=keys)}
        paused = [row.since for row in rows.values() if row.tries >= settings.SIGN_IN_TRIES]
        if paused:
            raise SignInPaused(seconds=max(1, round((max(paused) + pause - now).total_seconds())))
        SignInTries.objects.filter(pk__in=rows).update(tries=F("tries") + 1)
        SignInTries.objects.bulk_create(SignInTries(key=key, tries=1, since=now) for key in keys if key not in rows)


def _give_back(name_key: str, *address_keys: str) -> None:
    """A right password clears its name; its address only gets this try back, or guessing at others from there were free."""
    with short_transaction():
        SignInTries.objects.filter(pk=name_key).delete()
        SignInTries.objects.filter(pk__in=address_keys, tries__gt=0).update(tries=F("tries") - 1)


def _key(kind: str, value: str) -> str:
    return sha256(f"{kind}:{value}".encode(errors="replace")).hexdigest()

"""Failures a caller can act on: a stable code, a sentence, a hint, and facts.

A room's own failures are subclasses in its ``errors.py``. Surfaces translate them; a bug stays an exception.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


class MemRelayError(Exception):
    """One failure. ``sentence`` and ``hint`` may name facts in braces."""

    code: ClassVar[str] = "ERROR"
    status: ClassVar[int] = 400
    sentence: ClassVar[Text] = _("The request failed.")
    hint: ClassVar[Text] = ""
    retryable: ClassVar[bool] = False

    def __init__(self, message: Text | None = None, *, hint: Text | None = None, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.own_hint = hint
        self.facts: dict[str, Any] = facts

    def __str__(self) -> str:
        return _fill(self.sentence if self.message is None else self.message, self.facts)

    @property
    def advice(self) -> str:
        """The hint with its facts filled in; empty where there is none."""
        return _fill(self.hint if self.own_hint is None else self.own_hint, self.facts)

    def as_dict(self) -> dict[str, Any]:
        """The shape every surface sends."""
        return {"code": self.code, "message": str(self), "hint": self.advice, "facts": self.facts}


def _fill(text: Text, facts: Mapping[str, Any]) -> str:
    try:
        return str(text).format_map(facts)
    except (KeyError, IndexError, ValueError):
        return str(text)  # The text holds braces of its own.


class Invalid(MemRelayError):
    """Arguments that cannot be accepted; ``fields`` says which and why."""

    code = "INVALID"
    status = 422
    sentence = _("Some values are not accepted.")
    hint = _("Correct the fields named in facts and try again.")

    def __init__(
        self, message: Text | None = None, *, hint: Text | None = None, fields: Mapping[str, Any], **facts: Any
    ):
        super().__init__(message, hint=hint, fields={name: str(text) for name, text in fields.items()}, **facts)

    @property
    def fields(self) -> dict[str, str]:
        return self.facts["fields"]  # type: ignore[no-any-return]

    def __str__(self) -> str:
        told = " ".join(f"{name}: {text}" for name, text in self.fields.items())
        return f"{super().__str__()} {told}".strip()


class NotFound(MemRelayError):
    code = "NOT_FOUND"
    status = 404
    sentence = _("There is no such thing here.")


class Denied(MemRelayError):
    """The caller is known but may not do this."""

    code = "DENIED"
    status = 403
    sentence = _("This needs the right to {verb}.")
    hint = _("Use a token that has the right, or ask the administrator for one.")


class NotSignedIn(MemRelayError):
    code = "NOT_SIGNED_IN"
    status = 401
    sentence = _("This needs a valid token or a signed-in session.")
    hint = _(
        "Send the header Authorization: Bearer <token>; tokens are made in the console or by manage.py token_create."
    )


class FeatureDisabled(MemRelayError):
    code = "FEATURE_DISABLED"
    status = 409
    sentence = _("{feature} is not switched on.")
    hint = _("An administrator can switch it on in the settings; everything else works without it.")


class TooMany(MemRelayError):
    code = "RATE_LIMITED"
    status = 429
    retryable = True
    sentence = _("Too many requests.")
    hint = _("Wait {seconds} seconds and try again.")


class Unavailable(MemRelayError):
    """Something local is busy; the same call may go through later."""

    code = "UNAVAILABLE"
    status = 503
    retryable = True
    sentence = _("The server is busy.")
    hint = _("Try again in a few seconds.")

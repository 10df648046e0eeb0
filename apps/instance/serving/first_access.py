"""Who may come in after the first start, and where that is told: on the terminal, else in a private file (D-48)."""

import sys
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from apps.accounts.first import ADMINISTRATOR, ensure_administrator, ensure_first_token, leave_note


@dataclass(frozen=True)
class FirstAccess:
    """Lines for the operator, and the first token where it may be shown."""

    told: tuple[str, ...] = ()
    token: str = ""


def ensure_first_access() -> FirstAccess:
    password, token = ensure_administrator(), ensure_first_token()
    secrets = _secrets(password, token)
    if not secrets:
        return FirstAccess()
    if sys.stdout.isatty():
        return FirstAccess(told=(*secrets, ""), token=token or "")
    # Without a terminal the output is a log, and a log is no place for a password.
    file = leave_note("\n".join([*secrets, ""]))
    where = file.relative_to(settings.DATA_FOLDER)
    return FirstAccess(told=(_("First sign-in: see {file} in the data folder.").format(file=where), ""))


def _secrets(password: str | None, token: str | None) -> list[str]:
    lines = []
    if password:
        lines += [
            _("Sign in as {name} with the password {password}").format(name=ADMINISTRATOR, password=password),
            _("It is shown this once; the first sign-in asks for a new one."),
        ]
    if token:
        lines.append(_("First token, shown this once: {token}").format(token=token))
    return lines

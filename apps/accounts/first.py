"""The first start: an administrator with a one-time password, a first token, and where both are told (D-48)."""

import os
import secrets
from pathlib import Path

from django.conf import settings

from apps.accounts.keys import HINT_CHARACTERS, digest_of, new_token
from apps.accounts.models import McpToken, User
from apps.base.ids import new_id
from apps.base.transactions import short_transaction

ADMINISTRATOR = "admin"
FIRST_TOKEN = "first token"  # noqa: S105 - its name
EASY_TO_TYPE = "abcdefghjkmnpqrstuvwxyz23456789"  # Without the letters and digits that look alike.


def one_time_password() -> str:
    """16 characters in groups of 4: about 79 bits, and easy to type from a terminal."""
    return "-".join("".join(secrets.choice(EASY_TO_TYPE) for _ in range(4)) for _ in range(4))


def ensure_administrator() -> str | None:
    """Make the administrator where there is none. Answers the one-time password, or None where somebody administers."""
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        return None  # At nearly every start: spare it the hashing.
    password = one_time_password()
    user = User(username=ADMINISTRATOR, is_staff=True, is_superuser=True, must_change_password=True)
    user.set_password(password)  # Hashing takes its time: before the transaction.
    with short_transaction():
        if User.objects.filter(is_superuser=True, is_active=True).exists():
            return None
        if User.objects.filter(username=ADMINISTRATOR).exists():
            user.username = f"{ADMINISTRATOR}-{secrets.token_hex(2)}"
        user.save()
    return password


def ensure_first_token() -> str | None:
    """Make a token for the first agent where no token was ever made. Answers it, or None."""
    token = new_token()
    with short_transaction():
        if McpToken.objects.exists():
            return None
        McpToken.objects.create(
            id=new_id("tok"),
            name=FIRST_TOKEN,
            digest=digest_of(token),
            hint=token[:HINT_CHARACTERS],
            rights=["read", "write"],
            made_by="first start",
        )
    return token


def note_file() -> Path:
    return settings.STATE_FOLDER / "first-sign-in.txt"


def leave_note(text: str) -> Path:
    """Tell the secrets of the first start where there is no terminal: in a file only the server's own user can read."""
    file = note_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as note:
        note.write(text)
    return file


def forget_note() -> None:
    """The administrator is in: the note has served."""
    note_file().unlink(missing_ok=True)

"""Tokens: how one is made, and whom it stands for. The token itself is shown once; only its digest is kept."""

import json
import secrets
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import Q
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import McpToken
from apps.base import clock
from apps.base.errors import NotSignedIn
from apps.base.rows import fetched
from apps.operations.caller import Caller, CallerKind, Origin, Right

PREFIX = "mrl_"
HINT_CHARACTERS = 8
USE_IS_NOTED_EVERY = timedelta(seconds=60)

EXPIRED = _("This token has expired. Make a new one in the console or by manage.py token_create.")
REVOKED = _("This token was revoked. Make a new one in the console or by manage.py token_create.")

COLUMNS = ("id", "name", "profile_id", "project_id", "toolset", "rights", "expires_at", "revoked_at", "last_used_at")
# Every request of every agent asks this. The ORM takes 0.4 ms to ask it, the database 0.02 ms to answer.
FIND = f"SELECT {', '.join(COLUMNS)} FROM {McpToken._meta.db_table} WHERE digest = %s"  # noqa: S608 - names of ours only


def new_token() -> str:
    """256 random bits; the prefix lets scanners of leaked secrets recognise it."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """A plain digest is enough: nobody can guess 256 random bits, so there is nothing to slow down."""
    return sha256(token.encode(errors="replace")).hexdigest()


def caller_for_token(token: str) -> Caller:
    """Whom a token stands for, by one indexed query. Raises ``NotSignedIn`` unless it is known and still good.

    Only who holds the token itself is told that it has expired or was revoked.
    """
    row = _row(digest_of(token)) if token.startswith(PREFIX) else None
    if row is None:
        raise NotSignedIn()
    token_id, name, profile, project_id, toolset, rights, expires_at, revoked_at, last_used_at = row
    now = clock.now()
    if revoked_at is not None:
        raise NotSignedIn(hint=REVOKED)
    if expires_at is not None and _utc(expires_at) <= now:
        raise NotSignedIn(hint=EXPIRED)
    if last_used_at is None or now - _utc(last_used_at) >= USE_IS_NOTED_EVERY:
        _note_use(token_id, now)
    return Caller(
        name=name,
        kind=CallerKind.TOKEN,
        origin=Origin.AGENT,
        rights=_rights(rights),
        profile=profile,
        project_id=project_id,
        token_id=token_id,
        toolset=toolset,
        zone=settings.CALLER_ZONE,
        language=translation.get_language() or settings.LANGUAGE_CODE,
    )


def _row(digest: str) -> tuple | None:
    found = fetched(FIND, [digest])
    return found[0] if found else None


def _utc(stored: datetime | str) -> datetime:
    moment = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return moment.replace(tzinfo=UTC)


@lru_cache(maxsize=16)
def _rights(stored: str) -> frozenset[Right]:
    return frozenset(Right(right) for right in json.loads(stored))


def _note_use(token_id: str, now: datetime) -> None:
    """Note that the token was used, unless somebody else is writing: then a later call notes it.

    A read must not wait for SQLite's only writer for the sake of a figure in a list.
    """
    unnoted = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_IS_NOTED_EVERY)
    with closing(connection.cursor()) as cursor:
        patience = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            McpToken.objects.filter(unnoted, pk=token_id).update(last_used_at=now)
        except OperationalError:
            return
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {patience}")

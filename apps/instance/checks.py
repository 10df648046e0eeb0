"""Settings and surroundings that cannot work are named before the server starts, each with what to do about it."""

import math
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.utils.translation import gettext as _

from apps.search.embedding import configured

OLDEST_SQLITE = (3, 37, 0)
SHORTEST_KEY = 32


def data_folder_is_usable(**kwargs: Any) -> list[CheckMessage]:
    folder = Path(settings.DATA_FOLDER)
    if folder.exists() and not folder.is_dir():
        return [
            Error(
                _("The data folder {folder} is a file.").format(folder=folder),
                hint=_("Name a folder in MEMRELAY_DATA."),
                id="memrelay.E001",
            )
        ]
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if os.access(existing, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            _("The data folder {folder} cannot be written.").format(folder=folder),
            hint=_("Give it to the user that runs MemRelay (chown), or name another folder in MEMRELAY_DATA."),
            id="memrelay.E002",
        )
    ]


def keys_are_private(**kwargs: Any) -> list[CheckMessage]:
    folder = Path(settings.KEYS_FOLDER)
    if not folder.is_dir() or not os.access(folder, os.X_OK):
        return []
    return [
        Error(
            _("The key file {file} can be read by other users of this machine.").format(file=file),
            hint=_("Run: chmod 600 {file}").format(file=file),
            id="memrelay.E003",
        )
        for file in sorted(folder.iterdir())
        if file.is_file() and file.stat().st_mode & 0o077
    ]


def secret_key_is_long(**kwargs: Any) -> list[CheckMessage]:
    if not settings.SECRET_KEY_GIVEN or len(settings.SECRET_KEY) >= SHORTEST_KEY:
        return []  # The keys that MemRelay makes are long.
    return [
        Error(
            _("MEMRELAY_SECRET_KEY is too short to sign anything safely."),
            hint=_("Give it at least 32 random characters, or leave it empty: then a key is made and kept."),
            id="memrelay.E004",
        )
    ]


def addresses_fit(**kwargs: Any) -> Iterable[CheckMessage]:
    public = settings.PUBLIC_URL
    parts = urlsplit(public)
    if public and (parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/")):
        yield Error(
            _("MEMRELAY_PUBLIC_URL is no address of a server."),
            hint=_("Write the scheme and the host only, such as https://memory.example.org."),
            id="memrelay.E005",
        )
    if settings.BEHIND_PROXY and not public:
        yield Warning(
            _("MEMRELAY_BEHIND_PROXY is on, but MEMRELAY_PUBLIC_URL is empty."),
            hint=_("Set MEMRELAY_PUBLIC_URL to the address of the proxy; without it sign-in from there is refused."),
            id="memrelay.W001",
        )
    if parts.scheme == "https" and not settings.BEHIND_PROXY:
        yield Warning(
            _("MEMRELAY_PUBLIC_URL is https, but MEMRELAY_BEHIND_PROXY is off."),
            hint=_(
                "MemRelay speaks plain HTTP. Put a proxy with a certificate in front and set MEMRELAY_BEHIND_PROXY."
            ),
            id="memrelay.W002",
        )
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        yield Warning(
            _("MEMRELAY_ALLOWED_HOSTS allows every host name."),
            hint=_("Name the hosts: with the star, foreign pages can reach this server through a name of their own."),
            id="memrelay.W003",
        )
    if settings.HOST not in ("127.0.0.1", "::1", "localhost") and not public and not settings.EXTRA_HOSTS:
        yield Warning(
            _("MemRelay listens on {host}, but answers to localhost only.").format(host=settings.HOST),
            hint=_("Set MEMRELAY_PUBLIC_URL, or name the hosts that are used in MEMRELAY_ALLOWED_HOSTS."),
            id="memrelay.W004",
        )


def zone_is_known(**kwargs: Any) -> list[CheckMessage]:
    try:
        ZoneInfo(settings.CALLER_ZONE)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return [
            Error(
                _("MEMRELAY_TIME_ZONE names no time zone: {zone}").format(zone=settings.CALLER_ZONE),
                hint=_("Use a name such as UTC, Europe/Berlin or Asia/Shanghai."),
                id="memrelay.E006",
            )
        ]
    return []


def language_is_known(**kwargs: Any) -> list[CheckMessage]:
    known = [code for code, _name in settings.LANGUAGES]
    if settings.LANGUAGE_GIVEN in known:
        return []
    return [
        Error(
            _("MEMRELAY_LANGUAGE is none of: {known}").format(known=", ".join(known)),
            hint=_("Write en or zh-hans."),
            id="memrelay.E007",
        )
    ]


def sqlite_can_search(**kwargs: Any) -> list[CheckMessage]:
    if sqlite3.sqlite_version_info >= OLDEST_SQLITE and _has_fts5():
        return []
    return [
        Error(
            _("Python's SQLite {version} is too old or was built without FTS5.").format(version=sqlite3.sqlite_version),
            hint=_("Use a Python with SQLite 3.37 or newer and FTS5, as python.org, Debian 12 and Docker images have."),
            id="memrelay.E008",
        )
    ]


def embedding_is_told(**kwargs: Any) -> list[CheckMessage]:
    fault = configured.fault()
    if not fault:
        return []
    return [
        Warning(
            _("MEMRELAY_EMBEDDING names no embedding model. {fault}").format(fault=fault),
            hint=_("Search goes by words alone until it is corrected; docs/embeddings.md has examples."),
            id="memrelay.W005",
        )
    ]


def settings_can_work(**kwargs: Any) -> list[CheckMessage]:
    return [
        Error(
            _("{setting} cannot have this value.").format(setting=name),
            hint=_allowed(kind, least, most),
            id="memrelay.E009",
        )
        for name, kind, least, most in dict.fromkeys(settings.SETTING_FAULTS)
    ]


def _allowed(kind: type, least: float, most: float) -> str:
    if kind is bool:
        return _("Write on or off.")
    if most != math.inf:
        return _("Write a number from {least} to {most}.").format(least=least, most=most)
    if least == -math.inf:
        return _("Write a number, such as 1.5.")
    if kind is int:
        return _("Write a whole number, {least} or more.").format(least=least)
    return _("Write a number, {least} or more.").format(least=least)


def _has_fts5() -> bool:
    memory = sqlite3.connect(":memory:")
    try:
        memory.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    finally:
        memory.close()
    return True


CHECKS = [
    settings_can_work,
    data_folder_is_usable,
    keys_are_private,
    secret_key_is_long,
    addresses_fit,
    zone_is_known,
    language_is_known,
    sqlite_can_search,
    embedding_is_told,
]

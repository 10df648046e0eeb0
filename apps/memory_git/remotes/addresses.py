"""Addresses of remote repositories: one spelling each, no credentials, and which of them are let through.

A full address serves one repository of everything, a template with ``{repo}`` a repository for each workspace
(GIT-014). A template gets the repository's name in the place of ``{repo}`` and nothing else (GIT-042). Only
administrators save an address, yet the server itself calls it: addresses where clouds hand out credentials are refused.
"""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from django.utils.translation import gettext as _

from apps.base.hosts import address_in, is_reserved

PLACE = "{repo}"
SINGLE, PER_WORKSPACE = "single", "per_workspace"
LONGEST = 500
DEFAULT_PORTS = {"https": 443, "http": 80, "ssh": 22}
HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
NUMERIC_LABEL = re.compile(r"(0x[0-9a-f]*|\d+)")
USER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
REPOSITORY_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# ``user@host:path``, as most forges show it.
SCP = re.compile(r"(?:(?P<user>[^@:/\s]+)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^@:/\s\[\]]{2,}):(?!//)(?P<path>.+)")


class UnusableAddress(ValueError):
    """Why the address is not taken, as a sentence for the person who typed it. It never repeats the address."""


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """Where a repository is, or a template for many. ``path`` is as Git gets it: decoded, and absolute but for SCP's."""

    transport: str  # https, http, ssh or file
    host: str
    port: int | None  # None: the usual one.
    user: str  # Only SSH has one in its address, where it is no secret.
    path: str

    def __str__(self) -> str:
        if self.transport == "file":
            return f"file://{_quoted(self.path)}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        who = f"{self.user}@" if self.user else ""
        if not self.path.startswith("/"):
            return f"{who}{host}:{self.path}"
        port = f":{self.port}" if self.port else ""
        return f"{self.transport}://{who}{host}{port}{_quoted(self.path)}"

    @property
    def is_template(self) -> bool:
        return PLACE in self.path

    @property
    def mode(self) -> str:
        """The only mode this address can serve."""
        return PER_WORKSPACE if self.is_template else SINGLE

    @property
    def origin(self) -> tuple[str, str, int | None]:
        """Who gets the credentials."""
        return self.transport, self.host, self.port

    def named(self, repository: str) -> "RemoteAddress":
        """The address of one repository."""
        if not REPOSITORY_NAME.fullmatch(repository):
            raise UnusableAddress(_("A repository's name has letters, digits, dots, dashes and underscores only."))
        return replace(self, path=self.path.replace(PLACE, repository))


def parse(text: str, *, plain_http: bool = False, file_roots: tuple[Path, ...] = ()) -> RemoteAddress:
    """Read an address as it was typed. Raises ``UnusableAddress``.

    ``plain_http`` lets unencrypted http through; ``file_roots`` are the only folders below which a path may lie.
    """
    text = text.strip()
    if not text or len(text) > LONGEST or not text.isprintable() or " " in text or "\\" in text:
        raise UnusableAddress(
            _("This must be one address without spaces, such as https://git.example.org/me/{repo}.git.")
        )
    if "://" not in text and (match := SCP.fullmatch(text)):
        address = _scp(match)
    else:
        address = _url(text)
    address = replace(address, path=address.path.rstrip("/"))
    _check_transport(address, plain_http)
    _check_path(address.path)
    if address.transport == "file":
        _check_root(address, file_roots)
    return address


def check_mode(address: RemoteAddress, mode: str) -> None:
    """Raise ``UnusableAddress`` where address and mode do not fit each other (GIT-014)."""
    if address.mode == mode:
        return
    if address.is_template:
        raise UnusableAddress(_("An address with {repo} is for one repository per workspace; this is a single one."))
    raise UnusableAddress(_("One repository per workspace needs {repo} in the address, where the name goes."))


def _scp(match: re.Match[str]) -> RemoteAddress:
    host = _host(match["host"].strip("[]"))
    user, path = match["user"] or "", match["path"]
    if not USER_NAME.fullmatch(user or "git"):
        raise UnusableAddress(_("The user name in the address is not valid."))
    return RemoteAddress("ssh", host, None, user, path)


def _url(text: str) -> RemoteAddress:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UnusableAddress(_("This is no address.")) from None
    if parts.scheme not in (*DEFAULT_PORTS, "file"):
        raise UnusableAddress(_("This must begin with https:// or ssh://, or be user@host:path."))
    if "?" in text or "#" in text:
        raise UnusableAddress(_("Leave out what begins with ? or #."))
    if parts.password is not None or (parts.username is not None and parts.scheme != "ssh"):
        raise UnusableAddress(_("Leave user and password out of the address; they have fields of their own."))
    path = _decoded(parts.path)
    if parts.scheme == "file":
        if parts.netloc:
            raise UnusableAddress(_("A path on this machine has three slashes: file:///folder/repository.git."))
        return RemoteAddress("file", "", None, "", path)
    if parts.username is not None and not USER_NAME.fullmatch(parts.username):
        raise UnusableAddress(_("The user name in the address is not valid."))
    usual = port in (None, DEFAULT_PORTS[parts.scheme])
    return RemoteAddress(parts.scheme, _host(host), None if usual else port, parts.username or "", path)


def _host(text: str) -> str:
    host = text.rstrip(".").lower()
    if address_in(host) is None:
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            host = ""
        if not HOST_NAME.fullmatch(host):
            raise UnusableAddress(_("The host name is not valid."))
        if NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
            raise UnusableAddress(_("Write the IP address in its usual form."))  # 2130706433 is 127.0.0.1 too.
    if is_reserved(host):
        raise UnusableAddress(_("This address is reserved and cannot be a Git server."))
    return host


def _check_transport(address: RemoteAddress, plain_http: bool) -> None:
    if address.transport == "http" and not plain_http:
        raise UnusableAddress(
            _("http would send the credentials unencrypted. Use https, or set MEMRELAY_GIT_PLAIN_HTTP.")
        )


def _check_path(path: str) -> None:
    without_place = path.replace(PLACE, "", 1)
    if "{" in without_place or "}" in without_place:
        raise UnusableAddress(_("{repo} may stand in the address once, and no other braces."))
    if not path or path.startswith("-"):
        raise UnusableAddress(_("The address names no repository."))
    if not path.isprintable() or any(segment in (".", "..") for segment in path.split("/")):
        raise UnusableAddress(_("The path of the address may not hold . or .. or control characters."))


def _check_root(address: RemoteAddress, roots: tuple[Path, ...]) -> None:
    """A folder that links lead out of the roots is outside."""
    place = Path(os.path.realpath(address.path.replace(PLACE, "repo")))
    if not any(place.is_relative_to(os.path.realpath(root)) for root in roots):
        raise UnusableAddress(_("Paths on this machine are taken only below the folders of MEMRELAY_GIT_FILE_FOLDERS."))


def _decoded(path: str) -> str:
    try:
        return unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise UnusableAddress(_("This is no address.")) from None


def _quoted(path: str) -> str:
    return quote(path, safe="/{}~!$&'()*+,;=:@")

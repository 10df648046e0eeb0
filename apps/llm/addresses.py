"""The base URL of a model endpoint: one spelling for each address, and which addresses are let through.

Only administrators set it, yet the server itself is who calls it. So it may not be one of the addresses where clouds
hand out credentials (link-local), nor be disguised as a number, and unencrypted HTTP is for machines nearby: the
loopback, private networks, and names that only a local network can resolve. A name is not looked up here; what the
endpoint answers is read as an answer of the protocol and never shown, and redirects are not followed.
"""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext as _

from apps.base.hosts import address_in, is_reserved

LONGEST = 500
PATHS_OF_CALLS = re.compile(r"/(chat/completions|completions|responses|models)/*$")
DEFAULT_PORTS = {"http": 80, "https": 443}
NEARBY_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa", ".test")
HOST_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?")
NUMERIC_LABEL = re.compile(r"(0x[0-9a-f]*|\d+)")


class UnusableAddress(ValueError):
    """Why the address is not taken, as a sentence for the person who typed it."""


def normalised(url: str, *, plain_http_anywhere: bool = False) -> str:
    """The one spelling of a base URL: no closing slash, no path of a single call, no default port."""
    parts, host, port = _read(url.strip())
    address = address_in(host)
    _check_reach(host)
    if parts.scheme == "http" and not plain_http_anywhere and not is_nearby(host):
        raise UnusableAddress(_("http is for private networks. Use https, or set MEMRELAY_MODEL_PLAIN_HTTP."))
    shown = f"[{host}]" if isinstance(address, ipaddress.IPv6Address) else host
    place = shown if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{shown}:{port}"
    path = PATHS_OF_CALLS.sub("", re.sub(r"/{2,}", "/", parts.path)).rstrip("/")
    return f"{parts.scheme}://{place}{path}"


def origin_of(url: str) -> str:
    """Scheme, host and port: who gets the token."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def is_nearby(host: str) -> bool:
    """Whether only this machine or a private network can be meant."""
    address = address_in(host)
    if address is None:
        return "." not in host or host.endswith(NEARBY_ENDINGS)
    return address.is_loopback or address.is_private


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    address = address_in(host)
    return host == "localhost" or bool(address and address.is_loopback)


def _read(url: str) -> tuple[SplitResult, str, int | None]:
    if len(url) > LONGEST or not url.isprintable() or " " in url or "\\" in url:
        raise UnusableAddress(_("This must be one address without spaces, such as https://models.example.org/v1."))
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        raise UnusableAddress(_("This is no address.")) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise UnusableAddress(_("This must begin with https:// or http://."))
    if parts.username is not None or parts.password is not None:
        raise UnusableAddress(_("Leave user and password out; the token has a field of its own."))
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise UnusableAddress(_("Leave out what begins with ? or #."))
    return parts, _ascii(host), port


def _ascii(host: str) -> str:
    if ":" in host:
        return host  # An IPv6 address.
    try:
        host = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if not HOST_NAME.fullmatch(host):
        raise UnusableAddress(_("The host name is not valid."))
    return host


def _check_reach(host: str) -> None:
    if address_in(host) is None and NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]):
        raise UnusableAddress(_("Write the IP address in its usual form."))  # 2130706433 is 127.0.0.1 too.
    if is_reserved(host):
        raise UnusableAddress(_("This address is reserved and cannot be a model endpoint."))

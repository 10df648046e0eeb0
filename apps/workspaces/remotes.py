"""Git remotes: what the many spellings of one address have in common, and an address without its secrets.

Agents report the remote their checkout happens to have: HTTPS with a token inside, SSH in two notations, a local path.
Whoever works on one repository must reach one workspace, and no credential may stay in a row, a page or a log.
"""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import unquote

from apps.base.text import fold, nfc

LONGEST = 2000

_DEFAULT_PORTS = {"ssh": 22, "https": 443, "http": 80, "git": 9418, "ftp": 21, "ftps": 990, "file": None}
_SCHEMES = {"git+ssh": "ssh", "ssh+git": "ssh", "git+https": "https", "git+http": "http", "git+file": "file"}
# The doors some forges keep for networks that let only HTTPS out, and other names of the same house.
_ALIASES = {
    ("ssh.github.com", 443): "github.com",
    ("altssh.gitlab.com", 443): "gitlab.com",
    ("altssh.bitbucket.org", 443): "bitbucket.org",
    ("www.github.com", None): "github.com",
    ("www.gitlab.com", None): "gitlab.com",
    ("www.bitbucket.org", None): "bitbucket.org",
    ("www.gitee.com", None): "gitee.com",
}
_AZURE_SSH = "ssh.dev.azure.com"
# These never tell two repositories apart by case alone.
_CASELESS_HOSTS = frozenset(["github.com", "gitlab.com", "gitee.com", "bitbucket.org", "codeberg.org", "dev.azure.com"])

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#\\]*)([^?#\\]*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_DRIVE = re.compile(r"/*([A-Za-z]):(?:[/\\]|$)")
# ``user@host:path``; a single letter without a user is a drive of Windows.
_SCP = re.compile(r"(?:([^@:/\\\s]+)@|(?!.:))(\[[^\]@/\\\s]+\]|[^@:/\\\s\[\]]+):(?!:)(.+)")
_SCP_WITH_PORT = re.compile(r"\[(?:([^@:/\\\s]+)@)?([^@:/\\\s\[\]]+):([0-9]+)\]:([^@]+)")
# What a browser shows, and our own form: no scheme, a host with a dot. Digits behind a colon are a port here, while
# behind ``git@host:`` they are the name of an owner.
_BARE = re.compile(
    r"(?:[^@/\\\s]*@(?![^/]*:[0-9]))?(\[[0-9A-Fa-f:.]+\]|[^@:/\\\s]+\.[^@:/\\\s]+|localhost)(?::([0-9]+))?(/[^?#\\@]+)"
)
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")


class InvalidRemote(ValueError):
    """This is no address of a Git repository. The message never repeats the address: it may hold a secret."""

    code = "INVALID_REMOTE"


@dataclass(frozen=True, slots=True)
class _Address:
    shown: str  # In its own notation, without secrets.
    host: str  # Empty for a path on this machine.
    port: int | None  # None for the usual one.
    path: tuple[str, ...]
    windows: bool = False  # A drive or a share, where case tells nothing apart.


def normalise_remote(url: str) -> str:
    """``host/path`` (with the port where it is unusual) or ``file:///path``: one form for every spelling.

    Case of the path is kept. Raises ``InvalidRemote``. Its own result reads the same again, unless the host has no dot:
    ``owner/repository`` is too common a way to write what is no address at all.
    """
    return _canonical(_parse(url))


def same_remote_key(url: str) -> str:
    """A key for comparing: ``normalise_remote``, ignoring case where the host ignores it. Raises ``InvalidRemote``."""
    address = _parse(url)
    canonical = _canonical(address)
    return fold(canonical) if address.host in _CASELESS_HOSTS or address.windows else canonical


def display_remote(url: str) -> str:
    """The address as it was written, fit to be shown, stored and cloned from: no token, password or query.

    Only SSH keeps its user name, which is no secret there and needed. Raises ``InvalidRemote``.
    """
    return _parse(url).shown


def _canonical(address: _Address) -> str:
    path = "/".join(_encoded(segment) for segment in address.path)
    if address.windows or not address.host:
        return f"file://{address.host}/{path}"
    port = f":{address.port}" if address.port else ""
    return f"{address.host}{port}/{path}"


def _parse(url: str) -> _Address:
    text = nfc(url.strip())
    if not text or len(text) > LONGEST or _CONTROL.search(text) or text.startswith("-"):
        raise InvalidRemote("The address is empty, too long or holds control characters.")
    address = text.split("?")[0].split("#")[0].rstrip()
    if match := _URL.fullmatch(address):
        return _from_url(match[1].lower(), match[2], match[3])
    if _SCHEME.match(text):
        raise InvalidRemote("The address holds a backslash.")
    if _DRIVE.match(text) or text.startswith(("/", "\\\\")):
        return _from_path(text)
    if match := _SCP_WITH_PORT.fullmatch(text):
        return _from_ssh(match[1], match[2], match[3], match[4], shown=text)
    if match := _BARE.fullmatch(address):
        host, port = _host(match[1]), _port(match[2], 443)
        shown = f"{match[1]}{':' + match[2] if match[2] else ''}{match[3]}"
        return _on_host(host, port, _segments(match[3], encoded=True), shown)
    # ``user:secret@host`` would read as a host called user, with the secret in the path.
    if (match := _SCP.fullmatch(text)) and "@" not in match[3]:
        return _from_ssh(match[1], match[2], None, match[3], shown=text)
    raise InvalidRemote("This is no address of a Git repository.")


def _from_url(scheme: str, authority: str, path: str) -> _Address:
    plain = _SCHEMES.get(scheme, scheme)
    if plain not in _DEFAULT_PORTS:
        raise InvalidRemote("Git knows no such protocol.")
    user_info, at, place = authority.rpartition("@")
    # A slash in a password ends the authority early and leaves the rest of the password in the path.
    if "@" in path:
        raise InvalidRemote("The path holds an @; write @ in a path as %40 and / in a password as %2F.")
    if plain == "file":
        if at:
            raise InvalidRemote("A file has no user.")
        return _from_file_url(place, path)
    match = re.fullmatch(r"(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?", place)
    if match is None:
        raise InvalidRemote("The host or the port cannot be read.")
    host, port = _host(match[1]), _port(match[2], _DEFAULT_PORTS[plain])
    user = user_info.partition(":")[0] if plain == "ssh" else ""
    shown = f"{scheme}://{user + '@' if user else ''}{place}{path}"
    home_relative = plain == "ssh" and path.startswith("/~/")
    return _on_host(host, port, _segments(path[3:] if home_relative else path, encoded=True), shown)


def _from_ssh(user: str | None, host: str, port: str | None, path: str, *, shown: str) -> _Address:
    return _on_host(_host(host), _port(port, 22), _segments(path.removeprefix("~/"), encoded=False), shown)


def _from_file_url(host: str, path: str) -> _Address:
    shown = f"file://{host}{path}"
    if _DRIVE.match(path):
        return _with_drive(unquote(path), shown)
    name = "" if host.lower() in ("", "localhost") else _host(host)
    return _Address(shown, name, None, _segments(path, encoded=True), windows=bool(name))


def _from_path(text: str) -> _Address:
    if _DRIVE.match(text):
        return _with_drive(text, text)
    if text.startswith("\\\\"):
        host, _, path = text[2:].replace("\\", "/").partition("/")
        return _Address(text, _host(host), None, _segments(path, encoded=False), windows=True)
    return _Address(text, "", None, _segments(text, encoded=False))


def _with_drive(text: str, shown: str) -> _Address:
    drive, _, path = text.replace("\\", "/").lstrip("/").partition(":")
    return _Address(shown, "", None, (f"{drive.lower()}:", *_segments(path, encoded=False)), windows=True)


def _on_host(host: str, port: int | None, path: tuple[str, ...], shown: str) -> _Address:
    alias = _ALIASES.get((host, port))
    if alias:
        host, port = alias, None
    if host == _AZURE_SSH and len(path) == 4 and path[0] == "v3":
        host, path = "dev.azure.com", (path[1], path[2], "_git", path[3])
    return _Address(shown, host, port, path)


def _host(text: str) -> str:
    host = text.lower().rstrip(".")
    if host.startswith("["):
        try:
            return f"[{ipaddress.IPv6Address(host[1:-1])}]"
        except ValueError as error:
            raise InvalidRemote("The host is no IPv6 address.") from error
    try:
        host = host.encode("idna").decode().lower()
    except UnicodeError as error:
        raise InvalidRemote("The host is no host name.") from error
    if not _HOST.fullmatch(host) or ".." in host:
        raise InvalidRemote("The host is no host name.")
    return host


def _port(text: str | None, default: int | None) -> int | None:
    if not text:
        return None
    if len(text) > 5 or not 0 < int(text) < 65536:
        raise InvalidRemote("The port is out of range.")
    return None if int(text) == default else int(text)


def _segments(path: str, *, encoded: bool) -> tuple[str, ...]:
    """The names along a path, without ``.git`` and empty parts."""
    segments: list[str] = []
    for segment in path.split("/"):
        name = nfc(unquote(segment, errors="strict")) if encoded and _decodable(segment) else segment
        name = name.strip()
        if _CONTROL.search(name):
            raise InvalidRemote("The path holds control characters.")
        if name == "..":
            if not segments:
                raise InvalidRemote("The path leads out of its root.")
            segments.pop()
        elif name not in ("", "."):
            segments.append(name)
    while segments and segments[-1].lower().endswith(".git"):
        segments[-1] = segments[-1][:-4].rstrip()
        if not segments[-1]:
            segments.pop()
    if not segments:
        raise InvalidRemote("The address names no repository.")
    return tuple(segments)


def _decodable(segment: str) -> bool:
    try:
        unquote(segment, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _encoded(segment: str) -> str:
    """What a name needs so that reading the canonical form again gives the same name."""
    for character in "%?#/@\\":
        segment = segment.replace(character, f"%{ord(character):02X}")
    return segment

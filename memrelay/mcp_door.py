"""Who may come in to MCP: host, origin, token, workspace and toolset are settled here, before the SDK sees a request.

The SDK has middlewares for some of this; one function costs a fraction of their CPU and refuses in our one shape.
"""

import json
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.translation import gettext_lazy as _
from starlette.requests import ClientDisconnect

from apps.accounts.keys import caller_for_token
from apps.base.errors import MemRelayError, NotSignedIn
from apps.base.ids import new_id
from apps.operations.caller import Caller
from apps.operations.mcp import internal
from apps.operations.served import TOOLSETS
from apps.workspaces.selectors import project_for
from memrelay.logs import REQUEST_ID
from memrelay.mcp import INDEX, VISIT, McpServer, Visit, index_for
from memrelay.middleware import SOUND_ID

log = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

# A session begins: what it is told of is looked up then, and only then.
GREETED = re.compile(rb'"method"\s*:\s*"(?:initialize|server/discover)"')
GREETING_BYTES = 64 * 1024
PATH = re.compile(r"/mcp(?:/projects/(?P<project>[^/]+))?/?")


class OnlyPost(MemRelayError):
    code = "METHOD_NOT_ALLOWED"
    status = 405
    sentence = _("MCP is served by POST alone.")
    hint = _("This server keeps no sessions and no streams, so there is nothing to GET or DELETE.")


class UnknownHost(MemRelayError):
    code = "UNKNOWN_HOST"
    status = 421
    sentence = _("This server does not answer to that host name.")
    hint = _("The administrator adds it to MEMRELAY_ALLOWED_HOSTS or MEMRELAY_PUBLIC_URL.")


class UnknownOrigin(MemRelayError):
    code = "UNKNOWN_ORIGIN"
    status = 403
    sentence = _("Pages of that origin may not call this server.")
    hint = _("The administrator adds its host to MEMRELAY_ALLOWED_HOSTS or MEMRELAY_PUBLIC_URL.")


class TooLarge(MemRelayError):
    code = "TOO_LARGE"
    status = 413
    sentence = _("The request is larger than {limit} bytes.")
    hint = _("Send less at once, or ask the administrator to raise MEMRELAY_BODY_LIMIT.")


class UnknownToolset(MemRelayError):
    code = "UNKNOWN_TOOLSET"
    status = 400
    sentence = _("There is no toolset {toolset}.")
    hint = _("Use one of the toolsets named in facts.")


@dataclass
class McpDoor:
    """Serves ``/mcp`` and ``/mcp/projects/<id>``."""

    server: McpServer

    @staticmethod
    def leads_to(path: str) -> bool:
        return path.startswith("/mcp") and PATH.fullmatch(path) is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        answer = _Answer(send, _request_id(headers))
        mark = REQUEST_ID.set(answer.request_id)
        index = None
        try:
            scope[VISIT] = await self._visit(scope, headers, answer.request_id)
            body = await _body(receive)
            if GREETED.search(body, 0, GREETING_BYTES):
                index = INDEX.set(await self.server.threads.run(index_for, scope[VISIT].caller))
            await self.server.sessions_for(body).handle_request(scope, _from(body, receive), answer.send)
        except ClientDisconnect:
            return
        except MemRelayError as error:
            await answer.refuse(error)
        except Exception:
            log.exception("An MCP request failed.")
            await answer.fail()
        finally:
            REQUEST_ID.reset(mark)
            if index is not None:
                INDEX.reset(index)

    async def _visit(self, scope: Scope, headers: dict[bytes, bytes], request_id: str) -> Visit:
        if scope["method"] != "POST":
            raise OnlyPost()
        _check_host_and_origin(headers)
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > settings.BODY_LIMIT:
            raise TooLarge(limit=settings.BODY_LIMIT)
        match = PATH.fullmatch(scope["path"])
        project = match["project"] if match else None
        caller = await self.server.threads.run(admit, _bearer(headers), project, request_id)
        return Visit(caller, _toolset(scope["query_string"]) or _listed(caller.toolset))


def admit(token: str, project: str | None, request_id: str) -> Caller:
    """The caller a token stands for, bound to the workspace that the address names."""
    caller = replace(caller_for_token(token), request_id=request_id)
    return caller if project is None else caller.bound_to(project_for(caller, project).pk)


class _Answer:
    """The response: carries the request's id, and refuses only where nothing has been sent yet."""

    def __init__(self, send: Send, request_id: str) -> None:
        self.request_id = request_id
        self._send = send
        self._begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            message = {**message, "headers": [*message.get("headers", ()), (b"x-request-id", self.request_id.encode())]}
        await self._send(message)

    async def refuse(self, error: MemRelayError) -> None:
        extra: Headers = []
        if isinstance(error, NotSignedIn):
            extra.append((b"www-authenticate", b"Bearer"))
        if isinstance(error, OnlyPost):
            extra.append((b"allow", b"POST"))
        await self._say(error.status, error.as_dict(), extra)

    async def fail(self) -> None:
        await self._say(500, internal(self.request_id), [])

    async def _say(self, status: int, fields: dict[str, Any], extra: Headers) -> None:
        if self._begun:
            return
        body = json.dumps({"error": fields}, default=str).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *extra]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _request_id(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if SOUND_ID.fullmatch(given) else new_id("req")


def _check_host_and_origin(headers: dict[bytes, bytes]) -> None:
    """Against pages that reach this server under a name of their own (DNS rebinding)."""
    if not _is_ours(headers.get(b"host", b"").decode("latin-1")):
        raise UnknownHost()
    if origin := headers.get(b"origin", b"").decode("latin-1"):
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not _is_ours(parts.netloc):
            raise UnknownOrigin()


def _is_ours(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _bearer(headers: dict[bytes, bytes]) -> str:
    scheme, _space, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise NotSignedIn()
    return token.strip()


async def _body(receive: Receive) -> bytes:
    """The whole body, read only once its sender is known."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect()
        body += message.get("body", b"")
        if len(body) > settings.BODY_LIMIT:
            raise TooLarge(limit=settings.BODY_LIMIT)
        more = message.get("more_body", False)
    return bytes(body)


def _from(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then what else comes: the sign that the client has gone."""
    rest: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return rest.pop() if rest else await receive()

    return receive_again


def _toolset(query: bytes) -> str | None:
    """The toolset that the address asks for."""
    if b"toolset" not in query:
        return None
    toolset = parse_qs(query.decode("latin-1")).get("toolset", [""])[-1]
    if toolset not in TOOLSETS:
        raise UnknownToolset(toolset=toolset[:40], toolsets=list(TOOLSETS))
    return toolset


def _listed(toolset: str) -> str:
    """A token may still name a toolset that this version no longer has."""
    return toolset if toolset in TOOLSETS else TOOLSETS[0]

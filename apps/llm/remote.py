"""The endpoint itself, through the ``openai`` client: its own retries off, no redirect followed, nothing logged.

The client is loaded by the first call. Of the environment it would read tokens, organisations and headers meant for
other programs, so only the headers named here leave the machine.
"""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import cache
from math import ceil
from typing import Any

from django.conf import settings

from apps.base import clock
from apps.base.transactions import outside_transactions
from apps.llm.addresses import is_loopback
from apps.llm.connections import OpenConnection
from apps.llm.dialects import Dialect, Protocol
from apps.llm.errors import (
    ModelAnswerUnreadable,
    ModelAuthFailed,
    ModelContextTooLong,
    ModelError,
    ModelNotFound,
    ModelProtocolUnsupported,
    ModelRateLimited,
    ModelRedirected,
    ModelRefused,
    ModelRequestRejected,
    ModelServerFailed,
    ModelStreamCut,
    ModelTimedOut,
    ModelUnreachable,
)
from apps.llm.protocols import FILTERS, MOST_CHARACTERS, Reply, Wanted, failure_told, fields_of, reply_of, stream_of

CONNECT_SECONDS = 10.0
WHOLE_STREAM = 5  # Times the timeout of one read: an answer that drips for ever ends here.
LONGEST_WAIT = 86_400
HEADERS_KEPT = frozenset("host accept accept-encoding connection content-length content-type transfer-encoding".split())
TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|too many tokens|(prompt|input) is too (long|large)|token limit"
)
# Some servers fail with a 500 at a request whose fields they do not know; it is a refusal all the same.
UNKNOWN_FIELD = re.compile(r"validation error.{0,200}\bbody\b", re.DOTALL)
NO_SUCH_MODEL = re.compile(
    r"model_not_found|no such model|unknown model|model\b.{0,200}\b(not found|not exist|not supported)"
)


class Abandoned(Exception):
    """Nobody waits for the answer any more."""


def exchange(
    connection: OpenConnection,
    dialect: Dialect,
    wanted: Wanted,
    *,
    streams: bool,
    timeout: float,
    abandoned: threading.Event | None = None,
) -> Reply:
    """One request, one answer. Raises a ``ModelError`` for whatever else happens."""
    with _client(connection, timeout) as client, _translated() as progress:
        is_chat = dialect.protocol is Protocol.CHAT_COMPLETIONS
        resource = client.chat.completions if is_chat else client.responses
        raw = resource.with_raw_response.create(**fields_of(wanted, dialect, streams=streams))
        progress.arrived = True
        kind = raw.headers.get("content-type", "").lower()
        if "text/event-stream" in kind:
            stream = raw.parse() if streams else _unasked(raw, client)
            reply = _streamed(stream, dialect.protocol, time.monotonic() + timeout * WHOLE_STREAM, abandoned)
        elif "json" in kind:
            reply = reply_of(dialect.protocol, _json_of(raw))
        else:
            raise ModelAnswerUnreadable(http_status=raw.status_code)
        return _with_request_id(reply, raw.headers)


@outside_transactions
def models_listed(connection: OpenConnection, *, timeout: float) -> list[dict[str, Any]]:
    """What ``/models`` of the endpoint names, as it says it."""
    with _client(connection, timeout) as client, _translated():
        raw = client.models.with_raw_response.list()
        if "json" not in raw.headers.get("content-type", "").lower():
            raise ModelAnswerUnreadable(http_status=raw.status_code)
        body = _json_of(raw)
        found = body.get("data") if isinstance(body, dict) else body
        if not isinstance(found, list):
            raise ModelAnswerUnreadable(http_status=raw.status_code)
        return [model for model in found if isinstance(model, dict) and isinstance(model.get("id"), str)]


# ------------------------------------------------------------------------------------------------ the client


@contextmanager
def _client(connection: OpenConnection, timeout: float) -> Iterator[Any]:
    import httpx2
    import openai

    for name in ("openai", "httpx2", "httpcore2"):
        # Their debug lines hold whole requests, and OPENAI_LOG switches them on behind the back of our settings.
        logging.getLogger(name).setLevel(logging.WARNING)

    class OnlyWhatIsMeant(httpx2.Client):
        """Sends a copy of each request with our headers alone; the client looks for its own ones afterwards."""

        def send(self, request: Any, **how: Any) -> Any:
            headers = {name: value for name, value in request.headers.items() if name.lower() in HEADERS_KEPT}
            headers["User-Agent"] = f"MemRelay/{settings.VERSION}"
            if connection.token:
                headers["Authorization"] = f"Bearer {connection.token}"
            copy = httpx2.Request(
                request.method, request.url, headers=headers, stream=request.stream, extensions=request.extensions
            )
            response = super().send(copy, **how)
            response.request = request
            return response

    http = OnlyWhatIsMeant(
        verify=_certificates(),
        timeout=httpx2.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS)),
        follow_redirects=False,
        trust_env=not is_loopback(connection.base_url),  # No proxy leads to this machine itself.
    )
    with http:
        yield openai.OpenAI(
            api_key="set in send",
            admin_api_key="",
            base_url=connection.base_url,
            max_retries=0,
            http_client=http,
        )


@cache
def _certificates() -> Any:
    """Reading the list of authorities takes 25 ms of CPU; once a process is enough."""
    import httpx2

    return httpx2.create_ssl_context()


def _unasked(raw: Any, client: Any) -> Any:
    """The stream of an endpoint that streams whatever it is asked for."""
    import openai

    return openai.Stream(cast_to=object, response=raw.http_response, client=client)


def _events_of(opened: Any) -> Iterator[Any]:
    """The events of a stream as plain data. Raises ``ModelAnswerUnreadable`` for what is none."""
    with opened as stream:
        while True:
            try:
                event = next(stream, None)
            except (ValueError, TypeError, AttributeError, RecursionError):
                # The client builds its objects from whatever it is sent, and stumbles over what is no event.
                raise ModelAnswerUnreadable() from None
            if event is None:
                return
            yield event.to_dict() if hasattr(event, "to_dict") else event


def _json_of(raw: Any) -> Any:
    raw.http_response.read()
    try:
        return raw.http_response.json()
    except (ValueError, RecursionError):
        raise ModelAnswerUnreadable(http_status=raw.status_code) from None


def _streamed(stream: Any, protocol: Protocol, deadline: float, abandoned: threading.Event | None) -> Reply:
    collected, characters = stream_of(protocol), 0
    for event in _events_of(stream):
        characters += collected.take(event)
        if abandoned is not None and abandoned.is_set():
            raise Abandoned
        if time.monotonic() > deadline:
            raise ModelTimedOut()
        if characters > MOST_CHARACTERS:
            raise ModelAnswerUnreadable()
    reply = collected.reply()
    if reply is None:
        raise ModelStreamCut()
    return replace(reply, streamed=True)


def _with_request_id(reply: Reply, headers: Any) -> Reply:
    told = str(headers.get("x-request-id") or "")
    clean = told if re.fullmatch(r"[\w.:/-]{1,200}", told) else ""
    return replace(reply, request_id=clean)


# ------------------------------------------------------------------------------------------------- failures


class _Progress:
    arrived = False  # Whether an answer had begun when it went wrong.


@contextmanager
def _translated() -> Iterator[_Progress]:
    """Whatever the client raises becomes one of ours. The cause is cut off: it quotes requests and answers."""
    import httpx2
    import openai

    progress = _Progress()
    try:
        yield progress
    except openai.APIStatusError as error:
        raise _of_status(error) from None
    except openai.APIConnectionError as error:
        raise _of_connection(error, progress) from None
    except openai.APIError as error:
        raise failure_told(error.body) from None
    except httpx2.TimeoutException:
        raise ModelTimedOut() from None
    except httpx2.HTTPError:
        raise ModelStreamCut() from None
    except openai.OpenAIError:
        raise ModelAnswerUnreadable() from None


def _of_connection(error: Any, progress: _Progress) -> ModelError:
    import httpx2
    import openai

    cause = error.__cause__
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol | httpx2.ProxyError):
        return ModelUnreachable()
    if isinstance(error, openai.APITimeoutError):
        return ModelTimedOut()
    return ModelStreamCut() if progress.arrived or isinstance(cause, httpx2.HTTPError) else ModelUnreachable()


def _of_status(error: Any) -> ModelError:
    status, code = int(error.status_code), str(error.code or "")
    complaint = f"{error.param or ''} {code} {error.message}"[:4000].lower()
    waiting = {"seconds": seconds} if (seconds := _seconds_to_wait(error.response.headers)) is not None else {}
    if 300 <= status < 400:
        return ModelRedirected(http_status=status)
    if status in (401, 403):
        return ModelAuthFailed(http_status=status)
    if status == 429:
        return ModelRateLimited(http_status=status, quota_is_gone=code == "insufficient_quota", **waiting)
    if status == 408:
        return ModelTimedOut(http_status=status, **waiting)
    if status >= 500 and status != 501 and not UNKNOWN_FIELD.search(complaint):
        return ModelServerFailed(http_status=status, **waiting)
    if code in FILTERS:
        return ModelRefused(http_status=status)
    if status == 413 or TOO_LONG.search(complaint):
        return ModelContextTooLong(http_status=status)
    if NO_SUCH_MODEL.search(complaint):
        return ModelNotFound(http_status=status)
    if status in (404, 405, 501):
        return ModelProtocolUnsupported(http_status=status)
    return ModelRequestRejected(http_status=status, complaint=complaint)


def _seconds_to_wait(headers: Any) -> int | None:
    """``Retry-After``, in either of its forms, within a day."""
    told = str(headers.get("retry-after") or "").strip()
    if not told:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(told) - clock.now()).total_seconds()
        except (ValueError, TypeError):
            return None
    if not seconds >= 0:  # Nor NaN.
        return 0
    return ceil(min(seconds, LONGEST_WAIT))

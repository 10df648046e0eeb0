"""Django beside MCP in one process: what becomes of views when their clients misbehave, and of a start that fails."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

from a2wsgi import WSGIMiddleware

from memrelay.asgi import Application
from memrelay.mcp import McpServer

SCOPE = {"type": "http", "method": "POST", "path": "/files", "query_string": b"", "headers": [], "http_version": "1.1"}


def application(view: Callable[..., Iterable[bytes]]) -> Application:
    served = Application(McpServer([]))
    served.django = WSGIMiddleware(view, workers=1)
    return served


async def test_a_body_that_breaks_off_is_no_shorter_body():
    seen: list[Any] = []

    def view(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            seen.append(environ["wsgi.input"].read())
        except OSError as error:  # Django tells its views so by UnreadablePostError.
            seen.append(error)
        start_response("400 Bad Request", [])
        return [b""]

    messages = [{"type": "http.request", "body": b"half", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        pass

    await application(view)(dict(SCOPE), receive, send)
    assert isinstance(seen[0], ConnectionResetError)


async def test_a_view_runs_to_its_end_when_its_client_has_gone():
    begun, finished = threading.Event(), threading.Event()

    def view(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        begun.set()
        for _ in range(100):  # More than a2wsgi's queue holds.
            yield b"x"
        finished.set()

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        await asyncio.sleep(0)

    request = asyncio.ensure_future(application(view)(dict(SCOPE), receive, send))
    assert await asyncio.to_thread(begun.wait, 5)
    request.cancel()
    with suppress(asyncio.CancelledError):
        await request
    assert await asyncio.to_thread(finished.wait, 5)


async def test_a_start_that_fails_is_told_and_not_taken_for_success(monkeypatch):
    @asynccontextmanager
    async def broken(self: McpServer) -> Any:
        raise RuntimeError("no")
        yield

    monkeypatch.setattr(McpServer, "running", broken)
    sent: list[str] = []

    async def receive() -> Any:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await application(lambda environ, start: [])({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.failed"]


async def test_web_sockets_are_closed():
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await application(lambda environ, start: [])({"type": "websocket", "path": "/"}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]

"""One process, two doors: MCP beside Django (D-28). ``gunicorn -k asgi memrelay.asgi:application``."""

import asyncio
import logging
import os

from a2wsgi import WSGIMiddleware
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")
wsgi = get_wsgi_application()  # First: the other imports need the rooms.

from django.conf import settings  # noqa: E402

from memrelay.mcp import McpServer, rooms_tools  # noqa: E402
from memrelay.mcp_door import McpDoor, Message, Receive, Scope, Send  # noqa: E402

log = logging.getLogger(__name__)


class Application:
    """Sends each request through its door. Django's plain views run in threads, at half the CPU of its ASGI handler."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.mcp = McpDoor(server)
        self.django = WSGIMiddleware(wsgi, workers=settings.WEB_THREADS)  # type: ignore[arg-type]
        self._views: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        elif self.mcp.leads_to(scope["path"]):
            await self.mcp(scope, receive, send)
        else:
            await self._view(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            async with self.server.running():
                await send({"type": "lifespan.startup.complete"})
                await receive()
        except Exception:
            # gunicorn takes an exception for "knows no lifespan" and would serve on with MCP dead.
            log.exception("The MCP server did not start or stop.")
            await send({"type": "lifespan.startup.failed", "message": "The MCP server did not start."})
            return
        await send({"type": "lifespan.shutdown.complete"})

    async def _view(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a view run to its end, even when its client has gone.

        a2wsgi stops reading from a cancelled view, and its thread would wait for ever to hand over the rest.
        """
        view = asyncio.ensure_future(self.django(scope, _whole(receive), send))  # type: ignore[arg-type]
        self._views.add(view)
        view.add_done_callback(self._views.discard)
        await asyncio.shield(view)


def _whole(receive: Receive) -> Receive:
    """A body that breaks off is an error, not a shorter body: a2wsgi would hand the stump on as if it were all."""

    async def receive_whole() -> Message:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("The client went away in the middle of its request.")
        return message

    return receive_whole


application = Application(McpServer(rooms_tools()))

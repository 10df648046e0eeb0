"""The floor as a server: the official SDK, a bearer token, three tools straight on the store, nothing else.

``python -m bench.floor.server --database FILE --port N`` with the token in ``FLOOR_TOKEN``.
"""

import argparse
import hmac
import os
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer

from bench.floor.store import Store

Message = MutableMapping[str, Any]
App = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]


def application(store: Store, token: str) -> App:
    server = MCPServer("floor")

    @server.tool()
    async def memory_save(title: str, body: str, tags: list[str]) -> dict[str, Any]:
        return {"id": store.save(title, body, tags)}

    @server.tool()
    async def memory_search(query: str, limit: int = 10) -> dict[str, Any]:
        return {"results": store.search(query, limit)}

    @server.tool()
    async def memory_get(id: str) -> dict[str, Any]:
        return store.get(id) or {"error": "There is no such note."}

    return guarded(server.streamable_http_app(json_response=True), token)


def guarded(app: Any, token: str) -> App:
    """Nobody comes in without the token."""
    expected = f"Bearer {token}".encode()

    async def guard(scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, expected):
                await send(
                    {"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]}
                )
                await send({"type": "http.response.body"})
                return
        await app(scope, receive, send)

    return guard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    app = application(Store(given.database), os.environ["FLOOR_TOKEN"])
    uvicorn.run(app, host="127.0.0.1", port=given.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()

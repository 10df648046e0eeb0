"""The MCP door in process: the SDK's own client over the ASGI application, with the threads and connections it has."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from apps.operations.mcp import Tool
from memrelay.asgi import Application
from memrelay.mcp import McpServer, rooms_tools

ERAS = ["legacy", "auto"]  # The handshake of 2025, and 2026-07-28.
BASE = "http://testserver"


@dataclass
class Door:
    """A running application."""

    application: Application

    def http(self, token: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A plain HTTP client of the application."""
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        transport = httpx2.ASGITransport(app=self.application)
        return httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers)

    @asynccontextmanager
    async def client(
        self, token: str, *, path: str = "/mcp", era: str = "auto", **headers: str
    ) -> AsyncIterator[Client]:
        """The SDK's client, connected."""
        async with (
            self.http(token, **headers) as http,
            Client(streamable_http_client(BASE + path, http_client=http), mode=era) as client,
        ):
            yield client


@asynccontextmanager
async def open_door(tools: Iterable[Tool] = ()) -> AsyncIterator[Door]:
    """The application with every room's tools and ``tools`` besides."""
    server = McpServer([*rooms_tools(), *tools])
    async with server.running():
        yield Door(Application(server))


def message(method: str = "tools/call", request_id: Any = 1, **params: Any) -> dict[str, Any]:
    """One JSON-RPC request, as a client without an SDK writes it."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

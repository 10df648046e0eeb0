"""Agents of both servers: the SDK's own client over Streamable HTTP, and what each server's tools are called with."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.servers import Product, Server
from bench.workload import Note

SECONDS = 120.0
LIMIT = 10


class Refused(Exception):
    """A tool answered with an error."""


@dataclass(frozen=True)
class Agent:
    """One client of one server. Both servers take the same arguments; they differ in a few names of their answers."""

    client: Client
    id_name: str

    async def save(self, note: Note) -> str:
        answer = await self.call("memory_save", {"title": note.title, "body": note.body, "tags": note.tags})
        return str(answer[self.id_name])

    async def search(self, query: str, mode: str = "text") -> list[str]:
        """The titles found, best first. The floor knows one mode, and so it is asked for none."""
        asked: dict[str, Any] = {"query": query, "limit": LIMIT}
        if self.id_name == Product.id_name:
            asked["mode"] = mode
        answer = await self.call("memory_search", asked)
        if answer.get("mode", mode) != mode:
            raise Refused(f"A {mode} search was answered by {answer['mode']}: {answer.get('reason')}")
        return [hit["title"] for hit in answer["results"]]

    async def read(self, note_id: str) -> dict[str, Any]:
        return await self.call("memory_get", {self.id_name: note_id})

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        answer = result.structured_content
        if result.is_error or answer is None:
            raise Refused(f"{tool}: {str(result.content)[:300]}")
        return answer


@asynccontextmanager
async def agent_of(server: Server) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {await asyncio.to_thread(lambda: server.token)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http), read_timeout_seconds=SECONDS) as client,
    ):
        yield Agent(client, server.id_name)

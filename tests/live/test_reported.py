"""Reported failures that only a genuine server can show: many writers at once, and a restart under a live client."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.live.server import LiveServer, wait_until

CREATES, APPENDS, READERS = 20, 5, 4
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@asynccontextmanager
async def connected(server: LiveServer) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(server.mcp_url, http_client=http)) as client,
    ):
        yield client


async def done(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result
    assert result.structured_content is not None
    return dict(result.structured_content)


def files_of(server: LiveServer) -> list[Path]:
    root = server.data / "basic-memory" / "memories"
    return [file for file in root.rglob("*.md") if ".memrelay" not in file.parts]


@pytest.fixture
def two_processes(tmp_path: Path) -> Any:
    with LiveServer(tmp_path, web_processes=2, scan_seconds=1) as server:
        yield server


async def test_row_17_parallel_writers_lose_nothing_and_readers_go_on(two_processes: LiveServer) -> None:
    server = two_processes
    _ = server.token
    async with connected(server) as first:
        shared = await done(first, "memory_save", title="Shared list", body="Start.\n")
    writing = True

    async def create(number: int) -> None:
        async with connected(server) as client:
            await done(client, "memory_save", title=f"Parallel {number}", body=f"并行写入 text{number}\n")

    async def append(number: int) -> None:
        async with connected(server) as client:
            await done(client, "memory_append", memory_id=shared["memory_id"], text=f"append-{number}")

    async def read() -> int:
        answers = 0
        async with connected(server) as client:
            while writing:
                await done(client, "memory_get", memory_id=shared["memory_id"])
                await done(client, "memory_search", query="并行")
                answers += 1
        return answers

    readers = [asyncio.create_task(read()) for _ in range(READERS)]
    await asyncio.gather(*(create(n) for n in range(CREATES)), *(append(n) for n in range(APPENDS)))
    writing = False
    assert all(answers > 0 for answers in await asyncio.gather(*readers))

    async with connected(server) as client:
        listed = await done(client, "memory_list", limit=100)
        body = (await done(client, "memory_get", memory_id=shared["memory_id"]))["body"]
        found = await done(client, "memory_search", query="并行写入", limit=50)
        history = await done(client, "memory_history", memory_id=shared["memory_id"])
    titles = sorted(one["title"] for one in listed["memories"])
    assert titles == sorted([*(f"Parallel {n}" for n in range(CREATES)), "Shared list"])
    assert sorted(line for line in body.split() if line.startswith("append-")) == [
        f"append-{n}" for n in range(APPENDS)
    ]
    assert len(found["results"]) == CREATES
    assert [one["revision"] for one in history["revisions"]] == list(range(1 + APPENDS, 0, -1))
    assert len(files_of(server)) == CREATES + 1
    assert "database is locked" not in server.log()


async def test_row_13_of_two_agents_that_create_the_same_at_once_one_is_refused_and_nothing_is_lost(
    two_processes: LiveServer,
) -> None:
    server = two_processes
    _ = server.token

    async def create(number: int, **more: Any) -> Any:
        async with connected(server) as client:
            arguments = {"title": "Daily 2026-09-22", "body": f"from agent {number}\n", **more}
            return await client.call_tool("memory_save", arguments)

    results = await asyncio.gather(*(create(number) for number in range(4)))
    refused = [result.structured_content["error"]["code"] for result in results if result.is_error]
    assert refused == ["TITLE_TAKEN"] * 3
    news = await asyncio.gather(*(create(number, if_exists="new") for number in range(4, 8)))
    assert not any(result.is_error for result in news)
    repeats = await asyncio.gather(
        *(create(9, title="Once", request_id="the same call") for _ in range(4)),
    )
    assert len({result.structured_content["memory_id"] for result in repeats}) == 1
    assert len(files_of(server)) == 6


async def test_row_19_an_old_session_id_and_a_notification_after_a_restart(server: LiveServer) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {await asyncio.to_thread(lambda: server.token)}"}
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "old client", "version": "1"},
        },
    }
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        greeted = await http.post(server.mcp_url, json=greeting)
        assert greeted.status_code == 200
        session = greeted.headers.get("mcp-session-id", "a-session-of-some-other-server")
        await asyncio.to_thread(server.kill9_all)
        await asyncio.to_thread(server.start)
        old = {"Mcp-Session-Id": session}
        notified = await http.post(
            server.mcp_url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=old
        )
        assert notified.status_code == 202 and not notified.content
        call = {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "memory_save", "arguments": {"title": "After", "body": "x"}},
        }
        answered = await http.post(server.mcp_url, json=call, headers=old)
        assert answered.status_code == 200 and "After" in answered.text
        for method in ("GET", "DELETE"):
            assert (await http.request(method, server.mcp_url, headers=old)).status_code == 405
    assert len(files_of(server)) == 1
    database = server.data / "memrelay" / "db" / "memrelay.sqlite3"

    def settled() -> bool:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            return connection.execute("SELECT count(*) FROM memories_fileintent").fetchone()[0] == 0

    await asyncio.to_thread(wait_until, settled, 20, what="the files are durable")

"""Genuine MCP clients against a genuine server: nothing lost, nothing doubled, nobody's edit overwritten (must hold 1, 2)."""

import asyncio
import json
import os
import random
import re
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.live.server import LiveServer, wait_until

AGENTS = 20
SAVES_EACH, READS_EACH = 50, 200


@asynccontextmanager
async def agent(server: LiveServer) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(server.mcp_url, http_client=http), mode="auto") as client,
    ):
        yield client


async def call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool; a refusal is an error of the test."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content[0].text  # type: ignore[union-attr]
    answer: dict[str, Any] = result.structured_content  # type: ignore[assignment]
    assert json.loads(result.content[0].text) == answer  # type: ignore[union-attr]
    return answer


async def test_a_newcomers_agent_saves_finds_and_reads_context(shared_server: LiveServer) -> None:
    server = shared_server
    notes = [
        ("Survival", "即适者生存，生存等于正确的道理。做好财务护城河。", "生存"),
        ("Deploy", "The gateway runs on node edge-7; 部署脚本是 deploy_gateway.sh。", "部署"),
        ("Failure BENCH-100821", "修复BUG123问题 after ERR_CONN_RESET in src/main.py.", "修复"),
    ]
    async with agent(server) as client:
        assert {"memory_save", "context_get"} <= {tool.name for tool in (await client.list_tools()).tools}
        project = await call(client, "project_resolve_or_create", name="Newcomer")
        saved = [
            await call(client, "memory_save", title=title, body=body, project_id=project["project_id"])
            for title, body, _word in notes
        ]
        for one, (_title, _body, word) in zip(saved, notes, strict=True):
            found = await call(client, "memory_search", query=word, project_id=project["project_id"])
            assert found["results"][0]["memory_id"] == one["memory_id"] and found["complete"]
        for query, place in [("deploy_gateway.sh", 1), ("BENCH-100821", 2), ("src/main.py", 2), ("ERR_CONN_RESET", 2)]:
            found = await call(client, "memory_search", query=query, project_id=project["project_id"])
            assert found["results"][0]["memory_id"] == saved[place]["memory_id"], query
        await call(client, "checkpoint_save", completed="All set up", project_id=project["project_id"])
        context = json.dumps(await call(client, "context_get", project_id=project["project_id"]), ensure_ascii=False)
        assert all(one["memory_id"] in context for one in saved) and "All set up" in context


async def test_kill_9_in_the_middle_of_200_saves_loses_and_doubles_nothing(tmp_path: Path) -> None:
    acknowledged: dict[str, dict[str, Any]] = {}
    half_way = asyncio.Event()

    async def save(server: LiveServer, numbers: range) -> None:
        try:
            async with agent(server) as client:
                for number in numbers:
                    title = f"Saved {number}"
                    body = f"Word{number}x 第{number}号记忆\n" + "filler " * 50
                    acknowledged[title] = await call(client, "memory_save", title=title, body=body)
                    if len(acknowledged) == 100:
                        half_way.set()
        except BaseExceptionGroup:
            return  # The server was killed in the middle of a call: that one is not acknowledged.

    with LiveServer(tmp_path) as server:
        _ = server.token

        async def kill() -> None:
            await half_way.wait()
            await asyncio.to_thread(server.kill9_all)

        await asyncio.gather(kill(), *(save(server, range(start, start + 50)) for start in range(0, 200, 50)))
        assert 100 <= len(acknowledged) < 200
        await asyncio.to_thread(server.start)
        await everything_is_there_once(server, acknowledged)


async def everything_is_there_once(server: LiveServer, acknowledged: dict[str, dict[str, Any]]) -> None:
    folder = server.data / "basic-memory" / "memories" / "global"
    await asyncio.to_thread(no_open_intents, server)
    files = [file for file in folder.rglob("*.md") if ".memrelay" not in file.parts]
    texts = {file: file.read_text() for file in files}
    ids = [re.search(r"^stable_id: (\S+)$", text, re.MULTILINE)[1] for text in texts.values()]  # type: ignore[index]
    assert len(ids) == len(set(ids))
    async with agent(server) as client:
        for title, saved in acknowledged.items():
            assert ids.count(saved["memory_id"]) == 1, title
            assert saved["memory_id"] in texts[folder / saved["path"]]
            read = await call(client, "memory_get", memory_id=saved["memory_id"])
            assert (read["title"], read["revision"]) == (title, saved["revision"])
            found = await call(client, "memory_search", query=f"Word{title.split()[1]}x")
            assert [hit["memory_id"] for hit in found["results"]].count(saved["memory_id"]) == 1


def no_open_intents(server: LiveServer) -> None:
    def count() -> int:
        with sqlite3.connect(server.data / "memrelay" / "db" / "memrelay.sqlite3", timeout=20) as database:
            return int(database.execute("SELECT count(*) FROM memories_fileintent").fetchone()[0])

    wait_until(lambda: count() == 0, 30, what="all intents are cleared")


async def test_twenty_agents_and_an_editor_at_once(tmp_path: Path) -> None:
    """1,000 saves, 4,000 reads, 100 appends to one memory, an editor at work: no error, no lock, no loss."""
    done: list[str] = []
    with LiveServer(tmp_path, web_processes=2) as server:
        async with agent(server) as client:
            first = [await call(client, "memory_save", title=f"Base {n}", body=f"base text {n}\n") for n in range(20)]
        await asyncio.to_thread(no_open_intents, server)
        folder = server.data / "basic-memory" / "memories" / "global"
        edited = [folder / one["path"] for one in first[:10]]

        async def work(number: int) -> None:
            dice = random.Random(number)
            async with agent(server) as client:
                for turn in range(SAVES_EACH):
                    title = f"Agent {number} note {turn}"
                    await call(client, "memory_save", title=title, body=f"text {number} {turn} 内容\n")
                    done.append(title)
                    for _ in range(READS_EACH // SAVES_EACH):
                        if dice.random() < 0.5:
                            await call(client, "memory_get", memory_id=dice.choice(first)["memory_id"])
                        else:
                            await call(client, "memory_search", query=f"text {dice.randrange(20)}", limit=3)
                    if turn % 10 == 0:
                        await call(
                            client, "memory_append", memory_id=first[19]["memory_id"], text=f"from {number}-{turn}"
                        )

        async def edit() -> list[str]:
            marks = []
            while len(done) < AGENTS * SAVES_EACH:
                file = random.choice(edited)
                mark = f"edited outside {len(marks)} at {time.monotonic_ns()}"
                new = file.with_name(".editor")
                new.write_text(file.read_text() + f"{mark}\n")
                os.replace(new, file)
                marks.append(mark)
                await asyncio.sleep(0.5)
            return marks

        results = await asyncio.gather(edit(), *(work(number) for number in range(AGENTS)))
        marks = results[0]
        await asyncio.to_thread(check_everything, server, done, marks, first[19]["memory_id"])
        assert "database is locked" not in server.log()


def check_everything(server: LiveServer, done: list[str], marks: list[str], appended: str) -> None:
    database = sqlite3.connect(server.data / "memrelay" / "db" / "memrelay.sqlite3", timeout=20)

    def documents() -> str:
        return "\n".join(
            bytes(row[0]).decode() for row in database.execute("SELECT document FROM memories_memoryrevision")
        )

    wait_until(lambda: all(mark in documents() for mark in marks), 90, what="every outside edit is a revision")
    no_open_intents(server)
    titles = [row[0] for row in database.execute("SELECT title FROM memories_memory WHERE status = 'active'")]
    assert sorted(title for title in titles if title.startswith("Agent")) == sorted(done)
    newest = database.execute(
        "SELECT r.document FROM memories_memoryrevision r JOIN memories_memory m ON m.id = r.memory_id"
        " AND m.revision = r.number WHERE m.stable_id = ?",
        [appended],
    ).fetchone()
    text = bytes(newest[0]).decode()
    assert all(
        text.count(f"from {number}-{turn}\n") == 1 for number in range(AGENTS) for turn in range(0, SAVES_EACH, 10)
    )
    indexed = database.execute("SELECT count(*) FROM search_document").fetchone()[0]
    assert indexed == len(titles)
    assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    database.close()

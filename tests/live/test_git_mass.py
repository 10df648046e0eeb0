"""Writes from twenty agents while their Git server goes and comes back and processes are killed (must hold 3).

In the suite it is short. ``GIT_MASS_WRITES=2000`` makes it as long as it is meant to be; ``GIT_MASS_SEED`` repeats a run.
"""

import asyncio
import os
import random
import re
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError

from tests.doubles.git_servers import TOKEN, USER, GitServers
from tests.live.server import LiveServer, children_of, wait_until
from tests.live.test_agents import agent

AGENTS = 20
WRITES = int(os.environ.get("GIT_MASS_WRITES", "150"))
SEED = int(os.environ.get("GIT_MASS_SEED", "20"))
WRITES_OF_A_ROUND = 150
SECONDS = 120 + WRITES / 2  # No run takes this long; one that hangs ends.
# The Git server takes a moment before and after it moves the branch, and says so: it goes away in the middle of pushes.
HOOKS = ("pre-receive", "post-receive")
SLOW = '#!/bin/sh\ncat >/dev/null\ntouch "$0.runs"\nsleep 0.2\nrm "$0.runs"\n'
PUSH_SECONDS = 5.0  # So long a push is waited for; while everything is down there is none.
WRITTEN = ("memory_save", "memory_append", "memory_archive", "memory_delete")
PASSING = {"SCOPE_BUSY", "UNAVAILABLE"}  # Refusals that say: later.


@dataclass
class Told:
    """What the agents were told, and what they never heard of again."""

    acknowledged: list[tuple[str, str, int]] = field(default_factory=list)  # A mark, the memory, its revision.
    text: set[str] = field(default_factory=set)  # The acknowledged marks that stand in a document.
    unheard: list[str] = field(default_factory=list)  # Marks of calls that broke off and were not repeated.
    broken: int = 0
    at_work: int = AGENTS
    due: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))  # Writes that may be begun.


class Writer:
    """One agent: it saves, appends, archives and deletes, and repeats most of what breaks off."""

    def __init__(self, number: int, server: LiveServer, told: Told) -> None:
        self.number, self.server, self.told = number, server, told
        self.dice = random.Random(SEED * 1000 + number)
        self.left = WRITES // AGENTS + (number < WRITES % AGENTS)
        self.turn = 0
        self.own: list[str] = []
        self.call: tuple[str, dict[str, Any]] | None = None

    async def work(self) -> None:
        try:
            while self.left:
                await self.talk()
        finally:
            self.told.at_work -= 1

    async def talk(self) -> None:
        """Write until all is written or the conversation breaks off."""
        try:
            async with agent(self.server) as client:
                while self.left:
                    await self.write(client)
        except* (httpx2.HTTPError, OSError, MCPError):
            self.told.broken += 1
            self.give_up_sometimes()
            await asyncio.sleep(0.1)

    async def write(self, client: Client) -> None:
        if self.call is None:
            await self.told.due.acquire()
            self.call = self.next_call()
        name, arguments = self.call
        result = await client.call_tool(name, arguments)
        answer: dict[str, Any] = result.structured_content or {}
        if result.is_error:
            assert answer["error"]["code"] in PASSING, (name, answer)
            await asyncio.sleep(0.1)
            return
        memory_id = answer["memory_id"]
        self.told.acknowledged.append((arguments["request_id"], memory_id, answer["revision"]))
        if name in ("memory_save", "memory_append"):
            self.own.append(memory_id)
            self.told.text.add(arguments["request_id"])
        self.call, self.left = None, self.left - 1

    def next_call(self) -> tuple[str, dict[str, Any]]:
        self.turn += 1
        mark = f"Mark{self.number}x{self.turn}x"
        chance = self.dice.random()
        if not self.own or chance < 0.6:
            body = f"{mark} 第{self.turn}号\n" + "filler " * self.dice.randrange(200)
            return "memory_save", {"title": f"Note {mark}", "body": body, "request_id": mark}
        memory_id = self.own.pop(self.dice.randrange(len(self.own)))
        if chance < 0.9:
            return "memory_append", {"memory_id": memory_id, "text": f"{mark} more", "request_id": mark}
        name = "memory_archive" if chance < 0.95 else "memory_delete"
        return name, {"memory_id": memory_id, "request_id": mark}

    def give_up_sometimes(self) -> None:
        """Some agents never repeat a call that broke off: it may be recorded or not, once."""
        if self.call and self.dice.random() < 0.3:
            self.told.unheard.append(self.call[1]["request_id"])
            self.call = None
            self.told.due.release()  # Another one takes its place.


class Trouble:
    """What goes wrong, at moments and for victims that the seed chooses."""

    def __init__(self, server: LiveServer, remote: GitServers, bare: Path, told: Told) -> None:
        self.server, self.remote, self.bare, self.told = server, remote, bare, told
        self.dice = random.Random(SEED)
        self.happened: Counter[str] = Counter()

    async def make(self) -> None:
        """Deal out the writes, some for each deed, so that it comes among them."""
        deeds = [deed for _round in range(max(1, WRITES // WRITES_OF_A_ROUND)) for deed in self.round()]
        for place, deed in enumerate(deeds):
            before, after = WRITES * place // len(deeds), WRITES * (place + 1) // len(deeds)
            for _write in range(before, after):
                self.told.due.release()
            await self.until_written(self.dice.randrange(before, after))
            self.happened[deed.__name__] += 1
            await asyncio.to_thread(deed)

    def round(self) -> list[Callable[[], None]]:
        """Everything and everybody once, the remote twice: it goes before it comes."""
        kills = [self.web_process, self.web, self.jobs_process, self.jobs, self.keeper, self.everything]
        self.dice.shuffle(kills)
        count = len(kills) + 4
        places = sorted(self.dice.sample(range(count), 4))
        remote = dict(zip(places, (self.away, self.back) * 2, strict=True))
        return [remote.get(place) or kills.pop() for place in range(count)]

    async def until_written(self, count: int) -> None:
        await asyncio.to_thread(
            wait_until,
            lambda: len(self.told.acknowledged) >= count or not self.told.at_work,
            SECONDS,
            what=f"{count} writes are acknowledged",
        )
        await asyncio.sleep(self.dice.random() * 0.1)

    def away(self) -> None:
        """In the middle of a push, or at any moment."""
        if self.dice.random() < 0.5:
            self.wait_for_a_push()
        self.remote.stop()

    def wait_for_a_push(self) -> None:
        runs = self.bare / "hooks" / f"{self.dice.choice(HOOKS)}.runs"
        runs.unlink(missing_ok=True)
        with suppress(AssertionError):
            wait_until(runs.exists, PUSH_SECONDS)
            self.happened[f"cut in {runs.stem}"] += 1

    def back(self) -> None:
        """Pushes come back by themselves, each time after a longer pause; or somebody tests the connection."""
        self.remote.start()
        if self.dice.random() < 0.5:
            headers = {"Authorization": f"Bearer {self.server.token}"}
            with suppress(httpx2.HTTPError):
                self.happened["tested"] += 1
                httpx2.post(f"{self.server.url}/api/v1/git/connections/test", headers=headers, timeout=20)

    def web_process(self) -> None:
        self.kill_one_of("web")

    def web(self) -> None:
        kill(self.server.child("web"))

    def jobs_process(self) -> None:
        self.kill_one_of("jobs")

    def jobs(self) -> None:
        kill(self.server.child("jobs"))

    def keeper(self) -> None:
        kill(self.server.child("keeper"))

    def everything(self) -> None:
        self.server.kill9_all()
        self.server.start()

    def kill_one_of(self, name: str) -> None:
        kill(self.dice.choice(wait_until(lambda: sorted(children_of(self.server.child(name))), what=f"{name} has any")))


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, SIGKILL)


@pytest.fixture
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServers]:
    with GitServers(tmp_path_factory.mktemp("g")) as running:  # A short name: a socket's path may have 107 bytes.
        yield running


async def test_every_acknowledged_write_is_one_commit_here_and_at_the_remote(
    tmp_path: Path, remote: GitServers
) -> None:
    bare, told = remote.create("mass.git"), Told()
    with LiveServer(tmp_path, web_processes=2, git_retry_seconds=1, rate_per_minute=0) as server:
        await switch_on(server, remote)
        slow_down(bare)
        began, trouble = time.monotonic(), Trouble(server, remote, bare, told)
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as together:
            together.create_task(trouble.make())
            for number in range(AGENTS):
                together.create_task(Writer(number, server, told).work())
        written = time.monotonic()
        await asyncio.to_thread(wait_until, lambda: is_mirrored(server), 180, what="everything is at the remote")
        failures = Counter(re.findall(r"not pushed: (\w+)", server.log()))
        print(
            f"seed {SEED}: {len(told.acknowledged)} acknowledged in {written - began:.1f} s, at the remote"
            f" {time.monotonic() - written:.1f} s later; {told.broken} conversations broke, {len(told.unheard)} writes"
            f" were given up; {dict(trouble.happened)}; {dict(failures)}"
        )
        memories = server.data / "basic-memory" / "memories"
        await asyncio.to_thread(check, server, memories, bare, told)


def slow_down(bare: Path) -> None:
    for name in HOOKS:
        (bare / "hooks" / name).write_text(SLOW)
        (bare / "hooks" / name).chmod(0o755)


async def switch_on(server: LiveServer, remote: GitServers) -> None:
    async with agent(server) as client:
        connection = {"url": remote.https_url("mass.git"), "user_name": USER, "secret": TOKEN}
        saved = await client.call_tool("git_connection_save", {**connection, "authorities": remote.authority})
        assert not saved.is_error and saved.structured_content["error"] is None, saved.content
        assert not (await client.call_tool("git_settings_update", {"enabled": True})).is_error
    await asyncio.to_thread(wait_until, lambda: is_mirrored(server), 30, what="the baseline is at the remote")


def rows(server: LiveServer, statement: str) -> list[tuple[Any, ...]]:
    file = server.data / "memrelay" / "db" / "memrelay.sqlite3"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=20)) as database:
        return database.execute(statement).fetchall()


def is_mirrored(server: LiveServer) -> bool:
    """No operation waits to be committed, no file to be written, and the remote has the newest commit."""
    waiting = rows(server, "SELECT count(*) FROM memory_git_gitsyncjob WHERE state <> 'completed'")
    intents = rows(server, "SELECT count(*) FROM memories_fileintent")
    heads = rows(server, "SELECT head, pushed_commit, status FROM memory_git_memoryrepository")
    return (waiting, intents) == ([(0,)], [(0,)]) and any(
        head and head == pushed and status == "ready" for head, pushed, status in heads
    )


def check(server: LiveServer, memories: Path, bare: Path, told: Told) -> None:
    commits = operations_of(memories)
    closed = rows(
        server, "SELECT id, name FROM memories_logicaloperation WHERE state <> 'open' ORDER BY closing_number"
    )
    assert commits == [operation for operation, _name in closed]
    assert {name for _operation, name in closed} <= {"git_baseline", *WRITTEN}
    assert len(commits) == len(set(commits)) and commits == operations_of(bare)
    assert git(memories, "rev-parse", "main") == git(bare, "rev-parse", "main")
    for repository in (memories, bare):
        assert [line for line in git(repository, "fsck", "--strict", "--full") if not line.startswith("dangling")] == []
    assert differences(bare, memories) == []
    check_acknowledged(server, told, Counter(commits))
    check_marks(server, told)


def check_acknowledged(server: LiveServer, told: Told, commits: Counter[str]) -> None:
    """Each acknowledged revision belongs to an operation of its own, and that one has its commit."""
    statement = (
        "SELECT m.stable_id, r.number, c.operation_id FROM memories_memoryrevision r"
        " JOIN memories_memory m ON m.id = r.memory_id JOIN memories_scopecommit c ON c.id = r.commit_id"
    )
    operation_of = {(memory_id, number): operation for memory_id, number, operation in rows(server, statement)}
    operations = [operation_of[memory_id, revision] for _mark, memory_id, revision in told.acknowledged]
    assert len(set(operations)) == len(operations) == WRITES
    assert [operation for operation in operations if commits[operation] != 1] == []


def check_marks(server: LiveServer, told: Told) -> None:
    """What was acknowledged is in the documents once; what nobody heard of again at most once; nothing else is."""
    newest = (
        "SELECT r.document FROM memories_memoryrevision r JOIN memories_memory m ON m.id = r.memory_id"
        " WHERE r.number = (SELECT max(number) FROM memories_memoryrevision WHERE memory_id = m.id AND action <> 'delete')"
    )
    texts = [bytes(document).decode().partition("\n---\n")[2] for (document,) in rows(server, newest)]
    found = Counter(mark for text in texts for mark in re.findall(r"Mark\d+x\d+x", text))
    assert [mark for mark, times in found.items() if times > 1] == []
    assert told.text <= set(found) <= told.text | set(told.unheard)


def operations_of(repository: Path) -> list[str]:
    """The operation that each commit names, in the order of history; empty where one names none."""
    return git(repository, "log", "--first-parent", "--reverse", f"--format=%(trailers:{TRAILER})", "main")


TRAILER = "key=MemRelay-Operation,valueonly,separator=%x2C"


def differences(bare: Path, folder: Path) -> list[str]:
    """Between the newest commit at the remote and the files of the memories folder."""
    index = {"GIT_INDEX_FILE": str(bare / "index-of-the-test")}
    place = [f"--git-dir={bare}", f"--work-tree={folder}", "-c", "core.bare=false"]
    git(folder, *place, "read-tree", "main", **index)
    return git(folder, *place, "status", "--porcelain", **index)


def git(folder: Path, *arguments: str, **environment: str) -> list[str]:
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments], cwd=folder, capture_output=True, text=True, timeout=120,
        env={"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"], **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()

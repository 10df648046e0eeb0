"""A hundred thousand notes brought in by ``memory_import``, and searched for from the first second on.

While the job works an agent searches for notes that it has brought in already: each has to be found, and nobody should wait.
Afterwards every file is accounted for, and notes are read back and compared. Embeddings follow in the background; nothing
here waits for them.
"""

import asyncio
import os
import random
import shutil
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.client import LIMIT, Agent, agent_of
from bench.datasets import RUNS, forget_ended_runs
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.servers import Cpu, Product
from bench.vault import FOLDER_NOTES, is_in, write_vault
from bench.workload import EXACT_KINDS, Query, note, plants, queries

SIZE, QUICK_SIZE = 100_000, 4_000
MINUTES = 15
SEARCH_SECONDS = 1.0  # What the slowest of a hundred searches may take meanwhile.
PAUSE, LOOK = 0.25, 5.0  # Between two searches; between two looks at memory.
AFTER, READ_BACK = 200, 200
DONE = "completed"
ENDED = (DONE, "cancelled", "failed", "paused")
TITLES = "title"
TEXT, BOTH = "text", "hybrid"


class Importer(Product):
    """MemRelay with a folder that imports may read, and an agent that may start them."""

    token_arguments = ("--toolset", "agent", "--rights", "read,write,administer")

    def __init__(self, folder: Path, vault: Path) -> None:
        super().__init__(folder)
        self.vault = vault

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "MEMRELAY_IMPORT_FOLDERS": str(self.vault)}


@dataclass
class Search:
    """How long searches took, by what was looked for, and what was not found."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    missed: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[float]:
        return [taken for times in self.times.values() for taken in times]

    async def ask(self, agent: Agent, query: Query, mode: str = TEXT) -> None:
        started = time.perf_counter()
        found = await agent.call("memory_search", {"query": query.text, "limit": LIMIT, "mode": mode})
        self.times[query.kind].append(time.perf_counter() - started)
        if query.target and query.target not in [hit["title"] for hit in found["results"]]:
            self.missed.append(query.text)


@dataclass
class Run:
    """What an import was seen to do."""

    server: Importer
    size: int
    seconds: float = 0.0
    job: dict[str, Any] = field(default_factory=dict)
    meanwhile: Search = field(default_factory=Search)
    afterwards: Search = field(default_factory=Search)
    peak: Counter[str] = field(default_factory=Counter)
    rest: Counter[str] = field(default_factory=Counter)
    cpu: Counter[str] = field(default_factory=Counter)
    by_both: Search = field(default_factory=Search)
    embedded: int = 0
    failures: list[str] = field(default_factory=list)

    async def go(self) -> None:
        dice = random.Random("bulk import")
        async with agent_of(self.server) as agent:
            cpu, started = Cpu(self.server), time.monotonic()
            self.job = await tool(agent, "memory_import", folder=str(self.server.vault))
            looked = 0.0
            while self.job["state"] not in ENDED:
                await self._search_meanwhile(agent, dice)
                if time.monotonic() - looked > LOOK:
                    self._look()
                    looked = time.monotonic()
                await asyncio.sleep(PAUSE)
                self.job = await tool(agent, "job_get", job_id=self.job["job_id"])
            self.seconds, self.cpu = time.monotonic() - started, cpu.used()
            self._look()
            self.embedded = (await tool(agent, "search_state_get"))["indexed"]
            for query in chosen(dice, self.size, AFTER):
                await self.afterwards.ask(agent, query)
            for query in chosen(dice, self.size, AFTER // 4):
                await self.by_both.ask(agent, query, BOTH)
            await self._read_back(agent, dice)
        self._account()

    async def _search_meanwhile(self, agent: Agent, dice: random.Random) -> None:
        done = self.job["done"]
        if done >= FOLDER_NOTES:
            [query] = chosen(dice, done, 1)
            await self.meanwhile.ask(agent, query)

    def _look(self) -> None:
        now = self.server.pss()
        self.peak = max(self.peak, now, key=Counter.total)

    async def _read_back(self, agent: Agent, dice: random.Random) -> None:
        """Notes are there, word for word."""
        for number in dice.sample(range(self.size), READ_BACK):
            one = note(number)
            found = await agent.call("memory_search", {"query": one.title, "limit": 3, "mode": TEXT})
            ids = [hit["memory_id"] for hit in found["results"] if hit["title"] == one.title]
            read = await agent.read(ids[0]) if ids else {"body": ""}
            if one.body not in read["body"]:
                self.failures.append(f"note {number} was brought in and is not there")

    def _account(self) -> None:
        if self.job["state"] != DONE or self.job["imported"] != self.size:
            told = {name: self.job[name] for name in ("state", "imported", "skipped", "error")}
            self.failures.append(f"not every file was brought in: {told}")
        for when, search in (("meanwhile", self.meanwhile), ("afterwards", self.afterwards)):
            if search.missed:
                self.failures.append(f"{len(search.missed)} not found {when}, such as {search.missed[0]!r}")


async def tool(agent: Agent, name: str, **arguments: Any) -> dict[str, Any]:
    """A tool that is not in the agent's short list."""
    return await agent.call("tool_run", {"name": name, "arguments": arguments})


def chosen(dice: random.Random, done: int, count: int) -> Iterator[Query]:
    """Things to look for among the first notes: rare words, phrases, Chinese, paths and codes, and any note by its title."""
    planted = [query for kind in EXACT_KINDS for query in queries(kind)]
    numbers = {plant.text: number for number, plant in plants().items()}
    there = [query for query in planted if is_in(numbers[query.text], done)]
    for _ in range(count):
        if there and dice.random() < 0.5:
            yield dice.choice(there)
        else:
            title = note(dice.randrange(done // FOLDER_NOTES * FOLDER_NOTES)).title
            yield Query(TITLES, title, title)


@contextmanager
def prepared(size: int) -> Iterator[Importer]:
    """A server without memories, and a vault beside it; both are gone afterwards."""
    forget_ended_runs()
    folder = RUNS / f"{os.getpid()}-bulk"
    try:
        (folder / "product").mkdir(parents=True)
        write_vault(folder / "vault", size)
        os.sync()  # Its writing out must not fall into the measuring.
        yield Importer(folder / "product", folder / "vault")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(options: Options) -> Report:
    size = QUICK_SIZE if options.quick else SIZE
    with prepared(size) as server, server.running():
        server.wait_until_quiet(60)
        seen = Run(server, size)
        seen.rest = server.pss()
        asyncio.run(seen.go())
        disk = {name: megabytes(server.data / place) for name, place in PLACES.items()}
    allowed = MINUTES * 60 * size / SIZE
    figures = [
        Figure(f"{size:,} notes, of {allowed / 60:g} minutes", seen.seconds / allowed, 1.0),
        Figure(f"p99 of a search meanwhile, of {SEARCH_SECONDS:g} s", ninety_nine(seen.meanwhile.all), SEARCH_SECONDS),
    ]
    return Report(figures, told(seen, disk), seen.failures)


PLACES = {"Markdown": "basic-memory", "database": "memrelay/db"}


def told(seen: Run, disk: dict[str, float]) -> list[str]:
    rows = []
    phases = {"meanwhile": seen.meanwhile, "afterwards": seen.afterwards, "by words and meaning": seen.by_both}
    for when, search in phases.items():
        for kind in sorted(search.times):
            times = search.times[kind]
            rows.append(
                [f"{kind}, {when}", f"{len(times)}", f"{median(times) * 1000:.1f}", f"{ninety_nine(times) * 1000:.1f}"]
            )
    cpu = sum(seen.cpu.values())
    return [
        f"{seen.size:,} notes in {seen.seconds:.1f} s: {seen.size / seen.seconds:.0f} a second,"
        f" {cpu * 1000 / seen.size:.2f} CPU ms a note ({by_role(seen.cpu, ' s')}).",
        f"PSS {seen.rest.total():.0f} MB before, at most {seen.peak.total():.0f} MB ({by_role(seen.peak, ' MB')}).",
        f"Embedded when the import ended: {seen.embedded:,}. The searches above the last rows are by words alone.",
        f"Disk: {', '.join(f'{name} {size:.0f} MB' for name, size in disk.items())}.",
        *table(["searches", "calls", "p50 ms", "p99 ms"], rows),
    ]


def by_role(figures: Counter[str], unit: str) -> str:
    return ", ".join(f"{role} {figure:.0f}{unit}" for role, figure in sorted(figures.items()) if figure >= 0.5)


def ninety_nine(times: list[float]) -> float:
    return quantiles(times, n=100)[-1] if len(times) > 1 else sum(times)


def megabytes(folder: Path) -> float:
    """As the disk counts it."""
    told = subprocess.run(["du", "-sk", str(folder)], capture_output=True, text=True, check=True).stdout
    return int(told.split()[0]) / 1024


def make(options: Options) -> None:
    """A run writes its notes anew; that takes it half a minute."""


BENCHMARK = Benchmark("100,000 Markdown files by memory_import, searched for meanwhile", make, run)

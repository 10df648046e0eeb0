"""Twenty agents at once, four of five calls reading or searching: calls a second, beside the floor's.

The agents live in one process, as in the trials that other memory servers were put through, so that the servers have the
rest of the machine. Whatever a server acknowledged is read back afterwards and compared.
"""

import asyncio
import random
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from statistics import median, quantiles

from bench.client import Agent, agent_of
from bench.datasets import LARGE, SMALL, prepare
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.rounds import Contender, Pair, Run, serving
from bench.servers import Cpu
from bench.tables import costs
from bench.workload import EXACT_KINDS, note, queries

CLIENTS = 20
ROUNDS, SECONDS = 4, 6.0
SAVES, SEARCHES = 0.2, 0.4  # Shares of all calls; the others read.
LIMIT = 0.5


@dataclass
class Crowd:
    """The agents of one server, and what became of their calls."""

    contender: Contender
    agents: list[Agent]
    rates: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    saved: dict[str, int] = field(default_factory=dict)  # The id of each acknowledged note, with its number.
    errors: Counter[str] = field(default_factory=Counter)
    numbers: count = field(default_factory=count)

    async def rush(self, seconds: float, number: int) -> None:
        """All agents call as fast as they are answered, for a time."""
        self.times, cpu, started = [], Cpu(self.contender.server), time.perf_counter()
        deadline = started + seconds
        await asyncio.gather(
            *(self._work(agent, deadline, f"{number} {turn}") for turn, agent in enumerate(self.agents))
        )
        self.rates.append(len(self.times) / (time.perf_counter() - started))
        self.contender.driven += cpu.used()
        self.contender.calls += len(self.times)

    async def _work(self, agent: Agent, deadline: float, seed: str) -> None:
        dice = random.Random(f"mixed {seed}")
        while time.perf_counter() < deadline:
            started = time.perf_counter()
            try:
                await self._call(agent, dice)
            except Exception as error:
                # Every kind of failure counts, the benchmark fails on the first, and the others tell how it went on.
                self.errors[f"{self.contender.name}: {type(error).__name__}: {str(error)[:160]}"] += 1
            else:
                self.times.append(time.perf_counter() - started)

    async def _call(self, agent: Agent, dice: random.Random) -> None:
        lot = dice.random()
        if lot < SAVES:
            number = next(self.numbers)
            self.saved[await agent.save(note(number, "m"))] = number
        elif lot < SAVES + SEARCHES:
            await agent.search(dice.choice(queries(dice.choice(EXACT_KINDS))).text)
        else:
            await agent.read(dice.choice(self.contender.ids))

    async def read_back(self) -> None:
        """Every acknowledged note is there, word for word."""
        waiting = list(self.saved.items())

        async def check(agent: Agent) -> None:
            while waiting:
                note_id, number = waiting.pop()
                answer = await agent.read(note_id)
                if answer["body"].strip() != note(number, "m").body.strip():
                    self.errors[f"{self.contender.name}: note {number} was acknowledged and is lost"] += 1

        await asyncio.gather(*(check(agent) for agent in self.agents))


async def rush_by_turns(pair: Pair, rounds: int, seconds: float) -> list[Crowd]:
    async with AsyncExitStack() as held:
        crowds = []
        for contender in (pair.product, pair.floor):
            agents = [await held.enter_async_context(agent_of(contender.server)) for _ in range(CLIENTS)]
            crowds.append(Crowd(contender, agents))
        for crowd in crowds:  # Warm up; nothing of it is counted.
            await crowd.rush(min(2.0, seconds), -1)
            crowd.rates.clear()
            crowd.contender.driven.clear()
            crowd.contender.calls = 0
        run = Run([crowd.contender for crowd in crowds])
        for number in range(rounds):
            for crowd in crowds if number % 2 else reversed(crowds):
                await crowd.rush(seconds, number)
        run.end()
        for crowd in crowds:
            await crowd.read_back()
    return crowds


def run(options: Options) -> Report:
    rounds, seconds = (2, 2.0) if options.quick else (ROUNDS, SECONDS)
    report = Report([])
    rows = []
    for size in (SMALL, LARGE):
        with serving(size) as [pair]:
            crowds = asyncio.run(rush_by_turns(pair, rounds, seconds))
        product, floor = crowds
        ratio = median(mine / theirs for mine, theirs in zip(product.rates, floor.rates, strict=True))
        report.figures.append(Figure(f"calls a second at {size:,}", ratio, LIMIT, at_least=True))
        report.lines += costs([pair])
        for crowd in crowds:
            rows.append(_row(crowd))
            report.failures += [f"{times}x {error}" for error, times in crowd.errors.most_common(3)]
    heads = ["20 agents", "calls a second", "p50 ms", "p95 ms", "saves kept", "errors"]
    report.lines = [*table(heads, rows), *report.lines]
    return report


def _row(crowd: Crowd) -> list[str]:
    return [
        crowd.contender.name,
        f"{median(crowd.rates):.0f}",
        f"{median(crowd.times) * 1000:.1f}",
        f"{quantiles(crowd.times, n=20)[-1] * 1000:.1f}",
        f"{len(crowd.saved)}",
        f"{crowd.errors.total()}",
    ]


def make(options: Options) -> None:
    for size in (SMALL, LARGE):
        prepare(size)


BENCHMARK = Benchmark("calls a second of 20 agents at once, four of five reading, beside the floor's", make, run)

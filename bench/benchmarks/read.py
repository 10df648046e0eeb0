"""How long an agent waits for ``memory_get``, beside a server that only selects a row."""

import asyncio
import random
from functools import partial

from bench import tables
from bench.client import Agent
from bench.datasets import LARGE, SMALL, prepare
from bench.registry import Benchmark, Options
from bench.report import Report
from bench.rounds import Contender, Deed, in_rounds, serving
from bench.workload import note

KINDS = ["read"]
ROUNDS, CALLS = 16, 60


def run(options: Options) -> Report:
    rounds, calls = (3, 10) if options.quick else (ROUNDS, CALLS)
    wrong: list[str] = []

    async def read(contender: Contender, agent: Agent, number: int) -> None:
        answer = await agent.read(contender.ids[number])
        if answer["body"].strip() != note(number).body.strip():
            wrong.append(f"{contender.name} answers note {number} with another text")

    def reads(contender: Contender, agent: Agent, number: int) -> list[Deed]:
        dice = random.Random(f"reads {number}")
        return [Deed("read", partial(read, contender, agent, dice.randrange(contender.size))) for _ in range(calls)]

    with serving(SMALL, LARGE) as pairs:
        asyncio.run(in_rounds(pairs, rounds, reads))
    figures = [*tables.worst(pairs, KINDS, what="read", limit=2), tables.growth(pairs, KINDS, limit=1.5)]
    return Report(figures, [*tables.times(pairs, KINDS), *tables.costs(pairs)], wrong)


def make(options: Options) -> None:
    for size in (SMALL, LARGE):
        prepare(size)


BENCHMARK = Benchmark("memory_get beside the floor's, at 1,000 and 20,000 memories", make, run)

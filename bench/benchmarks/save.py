"""How long an agent waits for ``memory_save``, beside a server that only inserts a row and index it."""

import asyncio
from functools import partial

from bench import tables
from bench.client import Agent
from bench.datasets import LARGE, SMALL, prepare
from bench.registry import Benchmark, Options
from bench.report import Report
from bench.rounds import Contender, Deed, in_rounds, serving
from bench.workload import note

KINDS = ["save"]
ROUNDS, CALLS = 12, 40
AIM_CPU = 6.0  # CPU milliseconds a save.


def run(options: Options) -> Report:
    rounds, calls = (3, 10) if options.quick else (ROUNDS, CALLS)

    def saves(contender: Contender, agent: Agent, number: int) -> list[Deed]:
        notes = [note(number * calls + turn, "s") for turn in range(calls)]
        return [Deed("save", partial(agent.save, one)) for one in notes]

    with serving(SMALL, LARGE) as pairs:
        asyncio.run(in_rounds(pairs, rounds, saves))
    figures = [*tables.worst(pairs, KINDS, what="save", limit=2.5), tables.growth(pairs, KINDS, limit=1.5)]
    aim = f"Aim: {AIM_CPU:g} CPU ms a save; it takes {max(sum(pair.product.cpu()) for pair in pairs):.2f}."
    return Report(figures, [*tables.times(pairs, KINDS), *tables.costs(pairs), aim])


def make(options: Options) -> None:
    for size in (SMALL, LARGE):
        prepare(size)


BENCHMARK = Benchmark("memory_save beside the floor's, at 1,000 and 20,000 memories", make, run)

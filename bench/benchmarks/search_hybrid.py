"""How long an agent waits for ``memory_search`` by words, and by words and meaning, beside a server that only asks FTS5.

Twenty thousand memories with a vector for every passage (made up ones: see ``bench/seeding.py``); questions are embedded by the
default model as they come. All kinds of queries are asked in turn, and the kinds are not told apart: every search by meaning
scans the same passages.
"""

import asyncio
import time
from functools import partial

from bench import tables
from bench.client import Agent, agent_of
from bench.datasets import LARGE, SMALL, prepare
from bench.registry import Benchmark, Options
from bench.report import Figure, Report
from bench.rounds import MEMRELAY, Contender, Deed, in_rounds, serving
from bench.servers import NotServing
from bench.workload import EXACT_KINDS, LOOSE_KINDS, Query, queries

MODES = ("text", "hybrid")
AWAKE_SECONDS = 120.0
LIMITS = {"text": 3, "hybrid": 8}
ROUNDS, CALLS = 10, 2  # Calls of each kind of query and mode. No query comes twice, so that no cache answers it.


def run(options: Options) -> Report:
    rounds, calls = (3, 1) if options.quick else (ROUNDS, CALLS)
    missed: list[str] = []

    async def search(contender: Contender, agent: Agent, mode: str, query: Query) -> None:
        found = await agent.search(query.text, mode)
        if query.target and query.target not in found and contender.name.startswith(MEMRELAY):
            missed.append(f"{mode}: {query.text}")

    def searches(contender: Contender, agent: Agent, number: int) -> list[Deed]:
        deeds = []
        for place, mode in enumerate(MODES):
            first = (number * len(MODES) + place) * calls
            for kind in (*EXACT_KINDS, *LOOSE_KINDS):
                deeds += [
                    Deed(mode, partial(search, contender, agent, mode, query))
                    for query in _distinct(kind)[first : first + calls]
                ]
        return deeds

    with serving(SMALL if options.quick else LARGE, with_meaning=True) as pairs:
        asyncio.run(_awake(pairs[0].product))
        asyncio.run(in_rounds(pairs, rounds, searches))
    figures = [Figure(f"{mode} search at {pairs[0].size:,}", pairs[0].ratio(mode), LIMITS[mode]) for mode in MODES]
    lost = [f"{len(missed)} not found, such as {missed[0]}"] if missed else []
    return Report(figures, [*tables.times(pairs, MODES), *tables.costs(pairs)], lost)


def _distinct(kind: str) -> list[Query]:
    """Common words are drawn from so few that some come twice."""
    return list({query.text: query for query in queries(kind)}.values())


async def _awake(product: Contender) -> None:
    """Until the embedder has loaded model and vectors: the first search by meaning sets it going and does not wait for it."""
    deadline = time.monotonic() + AWAKE_SECONDS
    async with agent_of(product.server) as agent:
        while time.monotonic() < deadline:
            answer = await agent.call("memory_search", {"query": "is the model there", "mode": "hybrid"})
            if answer["mode"] == "hybrid":
                return
            await asyncio.sleep(1.0)
    raise NotServing(f"The embedder is not there after {AWAKE_SECONDS:.0f} s.")


def make(options: Options) -> None:
    prepare(SMALL if options.quick else LARGE)


BENCHMARK = Benchmark("memory_search by words and by meaning beside the floor's, at 20,000 memories", make, run)

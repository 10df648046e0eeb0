"""How long an agent waits for ``memory_search``, by what it looks for, beside a server that only asks FTS5.

Exact words (a rare word, a phrase, a Chinese word of two characters, a path, an error code) occur in one note, which has to
be among the ten that are answered. Common words and questions occur in hundreds; there the scoring costs, not the finding.
"""

import asyncio
from collections import defaultdict
from functools import partial

from bench import tables
from bench.client import Agent
from bench.datasets import LARGE, SMALL, prepare
from bench.registry import Benchmark, Options
from bench.report import Report
from bench.rounds import MEMRELAY, Contender, Deed, in_rounds, serving
from bench.workload import EXACT_KINDS, LOOSE_KINDS, Query, queries

KINDS = [*EXACT_KINDS, *LOOSE_KINDS]
ROUNDS, CALLS = 10, 10  # Calls of each kind. No query comes twice, so that no cache answers it.


def run(options: Options) -> Report:
    rounds, calls = (3, 4) if options.quick else (ROUNDS, CALLS)
    missed: dict[str, list[str]] = defaultdict(list)

    async def search(contender: Contender, agent: Agent, query: Query) -> None:
        found = await agent.search(query.text)
        if (query.target and query.target not in found) or not found:
            missed[contender.name].append(query.text)

    def searches(contender: Contender, agent: Agent, number: int) -> list[Deed]:
        turn = slice(number * calls, (number + 1) * calls)
        chosen = [query for kind in KINDS for query in queries(kind)[turn]]
        return [Deed(query.kind, partial(search, contender, agent, query)) for query in chosen]

    with serving(SMALL, LARGE) as pairs:
        asyncio.run(in_rounds(pairs, rounds, searches))
    figures = [
        *tables.worst(pairs, EXACT_KINDS, what="exact words", limit=3),
        *tables.worst(pairs, LOOSE_KINDS, what="other words", limit=10),
        tables.growth(pairs, EXACT_KINDS, limit=1.5),
    ]
    told = [f"{name} did not find {len(texts)}, such as {texts[0]!r}" for name, texts in missed.items()]
    ours = [line for line in told if line.startswith(MEMRELAY)]
    return Report(figures, [*tables.times(pairs, KINDS), *tables.costs(pairs), *told], ours)


def make(options: Options) -> None:
    for size in (SMALL, LARGE):
        prepare(size)


BENCHMARK = Benchmark("memory_search beside the floor's, by kind of query, at 1,000 and 20,000 memories", make, run)

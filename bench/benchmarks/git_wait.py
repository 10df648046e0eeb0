"""Whether a save waits for Git: the same server with Memory Git on and off, in alternating blocks of paced saves."""

import asyncio
from contextlib import ExitStack
from functools import partial

from bench.client import Agent
from bench.datasets import SMALL, copy_of, prepare
from bench.registry import Benchmark, Options
from bench.report import Figure, Report
from bench.rounds import REST_SECONDS, Contender, Deed, Pair, in_rounds, ratio
from bench.servers import Product
from bench.workload import note

ROUNDS, CALLS = 10, 30
PACE_SECONDS = 0.08
DRAIN_SECONDS = 4.0  # Between blocks: the commits of the last saves are made.
KIND = "save"


def run(options: Options) -> Report:
    rounds, calls = (3, 10) if options.quick else (ROUNDS, CALLS)
    with ExitStack() as held:
        on, off = (_contender(held, name) for name in ("on", "off"))

        def saves(contender: Contender, agent: Agent, number: int) -> list[Deed]:
            deeds = []
            for turn in range(calls):
                deeds.append(Deed(KIND, partial(agent.save, note(number * calls + turn, "w"))))
                deeds.append(Deed("pause", partial(asyncio.sleep, PACE_SECONDS)))
            return [*deeds, Deed("drain", partial(asyncio.sleep, DRAIN_SECONDS))]

        asyncio.run(in_rounds([Pair(on, off)], rounds, saves))
        commits = on.server._manage("perform", "memory_repository_history", '{"kind": "memory_save", "limit": 200}')  # type: ignore[attr-defined]
    figures = [Figure("memory_save with Git on beside off", ratio(on, off, KIND), 1.15)]
    lines = [
        f"p50: {on.milliseconds(KIND):.2f} ms with Git on, {off.milliseconds(KIND):.2f} off.",
        f"CPU ms a call, with the background: {sum(on.cpu()):.2f} on, {sum(off.cpu()):.2f} off.",
    ]
    failures = [] if "Save" in commits else ["no commit was made"]
    return Report(figures, lines, failures)


def _contender(held: ExitStack, name: str) -> Contender:
    data = held.enter_context(copy_of(SMALL, f"-git-{name}"))
    server: Product = data.product
    server.settings = {"MEMRELAY_EMBEDDING": "off"}
    held.enter_context(server.running())
    if name == "on":
        server._manage("perform", "git_settings_update", '{"enabled": true}')
    server.wait_until_quiet(REST_SECONDS)
    return Contender(server, data.size, data.product_ids, server.pss())


def make(options: Options) -> None:
    prepare(SMALL)


BENCHMARK = Benchmark("memory_save with Memory Git on, beside off", make, run)

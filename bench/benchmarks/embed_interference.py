"""What embedding costs those who save meanwhile: ``memory_save`` beside the same server with embeddings off.

Saves are paced, as agents save, so that the embedder works between and during them; before each block its queue is empty,
so that one server's work does not fall into the other's block. Real model, real server processes, both kept running.
"""

import asyncio
import json
import time
import urllib.request
from contextlib import AsyncExitStack, ExitStack
from statistics import median

from bench.client import Agent, agent_of
from bench.datasets import SMALL, copy_of, prepare
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.rounds import REST_SECONDS, Contender, ratio
from bench.servers import Cpu, Server
from bench.workload import note

ROUNDS, CALLS = 12, 24
PACE_SECONDS = 0.35
DRAIN_SECONDS = 180.0
LIMIT = 1.15


class Embedding(Contender):
    """A server with embeddings on or off."""

    on = True

    @property
    def name(self) -> str:
        return f"embeddings {'on' if self.on else 'off'}"


def run(options: Options) -> Report:
    rounds, calls = (3, 8) if options.quick else (ROUNDS, CALLS)
    with ExitStack() as held:
        on, off = (_contender(held, is_on) for is_on in (True, False))
        asyncio.run(_in_rounds([on, off], rounds, calls))
        waited = _state(on.server)["indexed"]
    figures = [Figure("save with embeddings on beside off", ratio(on, off, "save"), LIMIT)]
    failures = [] if waited > SMALL else ["Nothing was embedded meanwhile."]
    rows = [
        [one.name, f"{one.milliseconds('save'):.2f}", *(f"{seconds:.2f}" for seconds in one.cpu())] for one in (on, off)
    ]
    lines = table(["", "save ms, median", "CPU ms answering", "CPU ms behind"], rows)
    return Report(figures, lines, failures)


def _contender(held: ExitStack, is_on: bool) -> Embedding:
    data = held.enter_context(copy_of(SMALL, "-on" if is_on else "-off"))
    data.product.settings = {} if is_on else {"MEMRELAY_EMBEDDING": "off"}
    held.enter_context(data.product.running())
    data.product.wait_until_quiet(REST_SECONDS)
    one = Embedding(data.product, SMALL, data.product_ids, data.product.pss())
    one.on = is_on
    return one


async def _in_rounds(contenders: list[Embedding], rounds: int, calls: int) -> None:
    """Turns, forwards and backwards. The first round warms up and wakes the embedder, and is not counted."""
    async with AsyncExitStack() as held:
        agents = {id(one): await held.enter_async_context(agent_of(one.server)) for one in contenders}
        whole = {id(one): Cpu(one.server) for one in contenders}
        for number in range(rounds + 1):
            for one in contenders if number % 2 else reversed(contenders):
                await asyncio.to_thread(_wait_until_drained, contenders[0].server)
                await _block(one, agents[id(one)], number, calls, is_counted=number > 0)
        await asyncio.to_thread(_wait_until_drained, contenders[0].server)
        for one in contenders:
            one.whole = whole[id(one)].used()


async def _block(one: Embedding, agent: Agent, number: int, calls: int, *, is_counted: bool) -> None:
    cpu, times = Cpu(one.server), []
    for turn in range(calls):
        started = time.perf_counter()
        await agent.save(note(number * calls + turn, "e"))
        times.append(time.perf_counter() - started)
        await asyncio.sleep(max(0.0, PACE_SECONDS - times[-1]))
    if is_counted:
        one.driven += cpu.used()
        one.calls += calls
        one.times["save"].append(median(times))


def _wait_until_drained(server: Server) -> None:
    deadline = time.monotonic() + DRAIN_SECONDS
    while _state(server)["pending"]:
        if time.monotonic() > deadline:
            raise TimeoutError("The embedder does not come to an end.")
        time.sleep(0.5)


def _state(server: Server) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {server.token}"}
    request = urllib.request.Request(f"{server.url}/api/v1/search/state", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        told: dict[str, int] = json.load(answer)
    return told


def make(options: Options) -> None:
    prepare(SMALL)


BENCHMARK = Benchmark("memory_save with embeddings on beside off, paced, with the real model", make, run)

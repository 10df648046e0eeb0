"""How servers are compared: all up at the same time, one driven at a time, in short blocks that take turns (D-46).

A ratio is taken within each round, where both servers met the same weather, and the median of all rounds counts.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from bench import processes
from bench.client import Agent, agent_of
from bench.datasets import copy_of
from bench.servers import Cpu, Product, Server

WARMING_CALLS = 3
REST_SECONDS = 120.0
BACKGROUND = ("jobs", "keeper", "embedd")  # The kernel cuts names: memrelay-embedd.
MEMRELAY = "memrelay"


@dataclass(frozen=True)
class Deed:
    """One call to be timed, with the kind it is counted under."""

    kind: str
    do: Callable[[], Awaitable[Any]]


@dataclass
class Contender:
    """One server with one data set, and what was measured of it."""

    server: Server
    size: int
    ids: list[str]
    idle_pss: Counter[str]
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # Medians of blocks, in seconds.
    calls: int = 0
    driven: Counter[str] = field(default_factory=Counter)  # CPU seconds while it was driven, by role.
    whole: Counter[str] = field(default_factory=Counter)  # CPU seconds of the whole run.
    others_cores: float = 0.0

    @property
    def name(self) -> str:
        return f"{MEMRELAY if isinstance(self.server, Product) else 'floor'} {self.size:,}"

    def milliseconds(self, kind: str) -> float:
        return median(self.times[kind]) * 1000

    def cpu(self) -> tuple[float, float]:
        """CPU milliseconds a call: of what answers, and of what follows up in the background.

        The background is counted over the whole run, since it does its share later; its idle work is in it.
        """
        background = sum(self.whole[role] for role in BACKGROUND)
        answering = sum(seconds for role, seconds in self.driven.items() if role not in BACKGROUND)
        return answering * 1000 / self.calls, background * 1000 / self.calls


@dataclass(frozen=True)
class Pair:
    """MemRelay and the floor with the same notes."""

    product: Contender
    floor: Contender

    @property
    def size(self) -> int:
        return self.product.size

    def ratio(self, kind: str) -> float:
        return ratio(self.product, self.floor, kind)


def ratio(one: Contender, other: Contender, kind: str) -> float:
    """How many times longer one took than the other: the median of the rounds' ratios."""
    return median(mine / theirs for mine, theirs in zip(one.times[kind], other.times[kind], strict=True))


@contextmanager
def serving(*sizes: int, with_meaning: bool = False) -> Iterator[list[Pair]]:
    """Both servers at each size, ready and at rest. Without meaning nothing is embedded: an embedder at work takes a core."""
    with ExitStack() as held:
        pairs = []
        for size in sizes:
            data = held.enter_context(copy_of(size))
            data.product.settings = {} if with_meaning else {"MEMRELAY_EMBEDDING": "off"}
            product = _contender(held, data.product, size, data.product_ids)
            pairs.append(Pair(product, _contender(held, data.floor, size, data.floor_ids)))
        yield pairs


def _contender(held: ExitStack, server: Server, size: int, ids: list[str]) -> Contender:
    held.enter_context(server.running())
    server.wait_until_quiet(REST_SECONDS)
    return Contender(server, size, ids, server.pss())


async def in_rounds(
    pairs: Iterable[Pair], rounds: int, deeds_of: Callable[[Contender, Agent, int], list[Deed]]
) -> None:
    """Let the contenders take turns. The first round warms all of them up and is not counted."""
    contenders = [contender for pair in pairs for contender in (pair.product, pair.floor)]
    async with AsyncExitStack() as held:
        agents = {id(one): await held.enter_async_context(agent_of(one.server)) for one in contenders}
        for number in range(rounds + 1):
            if number == 1:
                run = Run(contenders)
            # Forwards and backwards by turns, so that nobody always comes first.
            for contender in contenders if number % 2 else reversed(contenders):
                agent = agents[id(contender)]
                await _block(contender, agent, deeds_of(contender, agent, number), is_counted=number > 0)
        run.end()


async def _block(contender: Contender, agent: Agent, deeds: list[Deed], *, is_counted: bool) -> None:
    for _ in range(WARMING_CALLS):  # The caches of the processor belong to the one before.
        await agent.read(contender.ids[0])
    cpu = Cpu(contender.server)
    times = defaultdict(list)
    for deed in deeds:
        started = time.perf_counter()
        await deed.do()
        times[deed.kind].append(time.perf_counter() - started)
    if is_counted:
        contender.driven += cpu.used()
        contender.calls += len(deeds)
        for kind, taken in times.items():
            contender.times[kind].append(median(taken))


class Run:
    """The whole of a run: the CPU time of all processes from first to last, and of the rest of the machine."""

    def __init__(self, contenders: list[Contender]) -> None:
        self.contenders = contenders
        self.cpus = [Cpu(contender.server) for contender in contenders]
        self.began = time.monotonic()
        self.machine = processes.machine_seconds()
        self.own = processes.cpu_seconds(os.getpid())

    def end(self) -> None:
        for contender in self.contenders:
            contender.server.wait_until_quiet(REST_SECONDS)  # What the saves left to do belongs to them.
        seconds = time.monotonic() - self.began
        ours = processes.cpu_seconds(os.getpid()) - self.own
        for contender, cpu in zip(self.contenders, self.cpus, strict=True):
            contender.whole = cpu.used()
            ours += sum(contender.whole.values())
        others = (processes.machine_seconds() - self.machine - ours) / seconds
        for contender in self.contenders:
            contender.others_cores = max(0.0, others)

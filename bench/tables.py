"""The tables that the benchmarks of single calls have in common."""

from collections.abc import Sequence

from bench.report import Figure, table
from bench.rounds import Contender, Pair, ratio

MEMORY_AIM = 350  # Megabytes of all processes at rest.


def times(pairs: Sequence[Pair], kinds: Sequence[str]) -> list[str]:
    """Each kind of call: milliseconds of both servers, their ratio, and the growth from the first size to the last."""
    heads = ["p50 of a call, ms"]
    for pair in pairs:
        heads += [f"memrelay {pair.size:,}", "floor", "ratio"]
    rows = [[kind, *(cell for pair in pairs for cell in _cells(pair, kind)), *_growths(pairs, kind)] for kind in kinds]
    return table([*heads, "memrelay grows", "floor grows"], rows)


def _cells(pair: Pair, kind: str) -> list[str]:
    return [
        f"{pair.product.milliseconds(kind):.2f}",
        f"{pair.floor.milliseconds(kind):.2f}",
        f"{pair.ratio(kind):.2f}x",
    ]


def _growths(pairs: Sequence[Pair], kind: str) -> list[str]:
    first, last = pairs[0], pairs[-1]
    return [f"{ratio(last.product, first.product, kind):.2f}x", f"{ratio(last.floor, first.floor, kind):.2f}x"]


def costs(pairs: Sequence[Pair]) -> list[str]:
    """CPU and memory, and how busy the machine was with other things."""
    heads = ["", "calls", "CPU ms a call", "of it background", "PSS at rest, MB"]
    rows = [_cost(contender) for pair in pairs for contender in (pair.product, pair.floor)]
    others = max(pair.product.others_cores for pair in pairs)
    return [
        *table(heads, rows),
        f"Aim: {MEMORY_AIM} MB at rest. Memory by process: {_memory(pairs[-1].product)}.",
        f"Others used {others:.2f} cores meanwhile{'; trust CPU more than times' if others > 0.3 else ''}.",
    ]


def _cost(contender: Contender) -> list[str]:
    answering, background = contender.cpu()
    return [
        contender.name,
        f"{contender.calls}",
        f"{answering + background:.2f}",
        f"{background:.2f}",
        f"{sum(contender.idle_pss.values()):.0f}",
    ]


def _memory(contender: Contender) -> str:
    return ", ".join(f"{role} {size:.0f}" for role, size in sorted(contender.idle_pss.items()))


def worst(pairs: Sequence[Pair], kinds: Sequence[str], *, what: str, limit: float) -> list[Figure]:
    """At each size the kind that compares worst."""
    figures = []
    for pair in pairs:
        kind = max(kinds, key=pair.ratio)
        figures.append(Figure(f"{what} at {pair.size:,}{_named(kind, kinds)}", pair.ratio(kind), limit))
    return figures


def growth(pairs: Sequence[Pair], kinds: Sequence[str], *, limit: float) -> Figure:
    """The kind that grows most between the sizes."""
    small, large = pairs[0].product, pairs[-1].product
    kind = max(kinds, key=lambda kind: ratio(large, small, kind))
    return Figure(f"growth {large.size:,}/{small.size:,}{_named(kind, kinds)}", ratio(large, small, kind), limit)


def _named(kind: str, kinds: Sequence[str]) -> str:
    return f" [{kind}]" if len(kinds) > 1 else ""

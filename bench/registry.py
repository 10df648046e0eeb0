"""The benchmarks there are: every module of ``bench/benchmarks`` that holds a ``BENCHMARK``, under the module's name."""

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from bench.report import Report


@dataclass(frozen=True)
class Options:
    quick: bool = False
    data: Path | None = None


@dataclass(frozen=True)
class Benchmark:
    summary: str
    prepare: Callable[[Options], None]
    run: Callable[[Options], Report]
    takes_data: bool = False  # ``--data FILE``


def benchmarks() -> dict[str, Benchmark]:
    package = import_module("bench.benchmarks")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return {name: import_module(f"bench.benchmarks.{name}").BENCHMARK for name in names}

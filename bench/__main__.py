"""``python -m bench`` lists the benchmarks; ``python -m bench NAME`` runs one, its figures stand in the last line."""

import argparse
import signal
import sys
from pathlib import Path

from bench.registry import Benchmark, Options, benchmarks


def main() -> int:
    known = benchmarks()
    given = parsed(known)
    if given.name is None:
        for name, benchmark in known.items():
            print(f"{name:<14}{benchmark.summary}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit(143))  # Servers are ended on the way out.
    options = Options(quick=given.quick, data=given.data)
    if given.prepare:
        known[given.name].prepare(options)
        if not given.check:
            print(f"{given.name}: prepared")
            return 0
    report = known[given.name].run(options)
    print("\n".join([*report.lines, report.last_line(given.name)]))
    return 1 if given.check and not report.holds else 0


def parsed(known: dict[str, Benchmark]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure MemRelay against the plainest server."
    )
    parser.add_argument("name", nargs="?", choices=sorted(known), metavar="NAME", help="one of those listed without it")
    parser.add_argument("--prepare", action="store_true", help="make the data it needs; alone, do no more than that")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a figure is short of its limit")
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="data to measure with, for the benchmarks that take some"
    )
    parser.add_argument("--quick", action="store_true", help="few calls: to see that it works, not to measure")
    given = parser.parse_args()
    if given.data and not (given.name and known[given.name].takes_data):
        parser.error(f"{given.name or 'the list'} takes no --data")
    if given.data and not given.data.is_file():
        parser.error(f"there is no file {given.data}")
    return given


if __name__ == "__main__":
    sys.exit(main())

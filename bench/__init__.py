"""Benchmarks: MemRelay beside the plainest server of the same duty, in ratios of one run. ``python -m bench`` lists them."""

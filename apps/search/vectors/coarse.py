"""A first look at very many passages: by the signs of their numbers, then exactly at those that look near.

Above ``COARSE_ABOVE`` a scan of all numbers takes too long and too much memory. The signs are a thirty-second of it, and what is
nearest is among the few thousand whose signs differ least from the question's (recall .996 at a million).
"""

import numpy as np
from numpy.typing import NDArray

COARSE_ABOVE = 200_000
RESCORED = 4_000  # Of each language.
MEASURED = 20_000  # So many, evenly taken, tell mean and spread.

Signs = NDArray[np.uint64]


def signs_of(vectors: NDArray[np.floating]) -> Signs:
    """One bit a number, filled up to whole words."""
    bits = np.packbits(vectors > 0, axis=-1)
    missing = -bits.shape[-1] % 8
    if missing:
        bits = np.concatenate([bits, np.zeros((*bits.shape[:-1], missing), np.uint8)], axis=-1)
    return np.ascontiguousarray(bits).view(np.uint64)


def likeness(signs: Signs, question: Signs) -> NDArray[np.float32]:
    """How many signs are the same, up to a constant: more is nearer."""
    differing = np.bitwise_count(signs ^ question).sum(axis=1, dtype=np.uint16)
    return -differing.astype(np.float32)

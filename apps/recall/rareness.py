"""How much a word tells by being rare. Pure."""

from math import log

# In a store of ten memories a word that two of them hold is no common word yet.
SMALLEST_STORE = 200


def rareness(frequency: int, total: int) -> float:
    """1 for what a single memory holds, near 0 for what all of a large store hold."""
    size = max(total, SMALLEST_STORE)
    return log(1 + size / max(frequency, 1)) / log(1 + size)

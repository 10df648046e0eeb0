"""Manners of a process that holds much memory."""

import ctypes
import sys
from contextlib import suppress
from functools import cache
from typing import Any

M_ARENA_MAX = -8
OOM_SCORE = "500"  # Of 1000: whatever is short of memory, the web and the ledger's processes are the last to go.


def be_modest() -> None:
    """Few heaps for many threads, and the first to be killed where memory runs out: nothing is lost with it."""
    if libc := _libc():
        with suppress(AttributeError):
            libc.mallopt(M_ARENA_MAX, 2)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write(OOM_SCORE)


def give_memory_back() -> None:
    """What was needed for a moment goes back to the system; the allocator would keep it."""
    if libc := _libc():
        with suppress(AttributeError):  # Only glibc knows it.
            libc.malloc_trim(0)


def resident_kilobytes() -> int:
    with suppress(OSError, ValueError), open("/proc/self/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    return 0


@cache
def _libc() -> Any:
    return ctypes.CDLL(None) if sys.platform == "linux" else None

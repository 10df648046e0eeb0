"""Which processor a thread runs on, so that two that work at the same time do not share one.

A kernel wakes a thread beside its waker unless it knows an idle processor. In a virtual machine it often does not: a processor
that has halted counts as taken away by the host, and two threads take turns on one while the other stands still.
"""

import ctypes
import os
from contextlib import suppress
from functools import cache
from typing import Any


def here() -> int | None:
    """The processor that runs the calling thread just now; nothing where the system does not tell."""
    ask = _sched_getcpu()
    number = int(ask()) if ask else -1
    return number if number >= 0 else None


def keep_off(thread: int, processor: int | None) -> None:
    """Let a thread, by its native id, run on every processor of its process but this one, if there is another.

    It stays so until the next call.
    """
    if not isinstance(processor, int):  # It may have come from another process.
        return
    with suppress(OSError, AttributeError):  # The thread has ended, a sandbox forbids it, or this is not Linux.
        if others := os.sched_getaffinity(os.getpid()) - {processor}:
            os.sched_setaffinity(thread, others)


def make_way() -> None:
    """Let others that wait for this processor run first."""
    with suppress(OSError, AttributeError):
        os.sched_yield()


@cache
def _sched_getcpu() -> Any:
    """The C library's function, which Python does not offer; only Linux has it."""
    with suppress(OSError, TypeError):
        return getattr(ctypes.CDLL(None), "sched_getcpu", None)
    return None

"""What Linux tells and does about processes: who is whose child, and that children die with their parent.

No Django here: gunicorn's configuration and freshly forked children use it too.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Process:
    """One line of /proc. ``started`` tells a process from a later one that was given the same pid."""

    pid: int
    parent: int
    started: int
    zombie: bool


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent dies, however it dies."""
    if _libc:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def call_itself(name: str) -> None:
    """The name that ``top`` and ``ps -o comm`` show for this process and those it forks; at most 15 letters."""
    if _libc:
        _libc.prctl(PR_SET_NAME, name.encode()[:15])


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent dies, so that none escapes."""
    if _libc:
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)


def look_at(pid: int) -> Process | None:
    """The process with this pid, or nothing where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name stands in brackets and may hold anything, brackets and spaces too.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Process(pid=pid, parent=int(fields[1]), started=int(fields[19]), zombie=fields[0] in (b"Z", b"X"))


def everyone() -> Iterator[Process]:
    """All processes of the machine. The kernel's own lists of children are not compiled in everywhere."""
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (process := look_at(int(name))):
                yield process


def kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def kill(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)

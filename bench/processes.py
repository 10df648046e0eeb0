"""What Linux tells of a server's processes: who belongs to it, its CPU time, its memory."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from apps.instance.serving.processes import everyone, kill

TICK = os.sysconf("SC_CLK_TCK")
USER, NICE, SYSTEM, IRQ, SOFTIRQ = 1, 2, 3, 6, 7  # Columns of /proc/stat.
GONE_SECONDS = 10.0


def family(root: int) -> dict[int, int]:
    """The process and all its descendants with the parent of each, parents before children."""
    parents = {process.pid: process.parent for process in everyone() if not process.zombie}
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found = [root] if root in parents else []
    for pid in found:
        found += children.get(pid, [])
    return {pid: parents[pid] for pid in found}


def name_of(pid: int) -> str:
    """What it calls itself."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of those children of it that have ended; 0 when it is gone.

    The process's own clock counts nanoseconds, /proc counts hundredths, too coarse for a block of quick calls.
    """
    try:
        own = time.clock_gettime((~pid << 3) | 2)  # What clock_getcpuclockid(3) answers.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return own + (int(fields[13]) + int(fields[14])) / TICK


def pss_megabytes(pid: int) -> float:
    """Memory of a process, where pages shared with others are counted by halves, thirds and so on."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def machine_seconds() -> float:
    """CPU time that the whole machine has used."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(int(fields[column]) for column in (USER, NICE, SYSTEM, IRQ, SOFTIRQ)) / TICK


def end(root: int, seconds: float) -> None:
    """Ask a server to stop, and kill what is left of its family after the time."""
    known = set(family(root))
    kill(root, signal.SIGTERM)
    for _ in _until(time.monotonic() + seconds):
        known.update(family(root))
        if not _alive(known):
            return
    for pid in _alive(known):
        kill(pid, signal.SIGKILL)
    for _ in _until(time.monotonic() + GONE_SECONDS):
        if not _alive(known):
            return


def _alive(pids: set[int]) -> list[int]:
    return [process.pid for process in everyone() if process.pid in pids and not process.zombie]


def _until(deadline: float) -> Iterator[None]:
    while time.monotonic() < deadline:
        yield
        time.sleep(0.05)

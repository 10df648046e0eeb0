"""One supervised child of ``serve``: how it starts, how its trouble shows, how long until the next try.

Children are forked, not started as programs of their own: what is loaded once is shared by all of them.
"""

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from apps.instance.serving.processes import Process, call_itself, die_with_parent, kill, kill_group, look_at

QUIET_SECONDS = 60.0  # Whoever lived this long has its earlier deaths forgiven.
LONGEST_PAUSE = 30.0
FAILING_AFTER = 4  # Deaths in a row before /readyz says "failing".


def pause_before(deaths: int) -> float:
    """Seconds until the next start after so many deaths in a row: none at first, then doubling."""
    return 0.0 if deaths <= 1 else min(LONGEST_PAUSE, 0.5 * 2 ** (deaths - 2))


@dataclass
class Child:
    """A process in a group of its own.

    With ``has_family`` its own children are watched, too: when one of them vanishes, all of them are killed and started
    anew. The job cluster needs that: where a killed process held the lock of one that looks after it, nobody inside
    would ever notice.

    With ``is_wanted`` it starts when that says so, and may end by itself: a clean end is no trouble.
    """

    name: str
    work: Callable[[], None]
    has_family: bool = False
    is_wanted: Callable[[], bool] | None = None

    pid: int = 0  # 0 while it does not run.
    exit_status: int | None = None
    started_at: float = 0.0
    next_start: float = 0.0
    deaths: int = 0
    starts: int = 0
    last_trouble: str = ""
    family: dict[int, int] = field(default_factory=dict)  # pid -> when it started

    def start(self) -> None:
        supervisor = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # The collector would touch, and so copy, every page that is shared.
        self.pid = os.fork() or _live(self.name, self.work, supervisor)
        self.exit_status = None
        self.started_at = time.monotonic()
        self.starts += 1
        self.family = {}

    @property
    def state(self) -> str:
        if self.deaths >= FAILING_AFTER:
            return "failing"
        if self.pid:
            return "running"
        return "resting" if self.is_wanted and not self.deaths else "restarting"

    def meet(self, processes: Iterable[Process]) -> None:
        """Take note of its children, if they are to be watched."""
        if self.has_family and self.pid:
            self.family |= {p.pid: p.started for p in processes if p.parent == self.pid and not p.zombie}

    def has_ended(self) -> bool:
        if self.pid and self.exit_status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_status = os.waitstatus_to_exitcode(status)
        return self.exit_status is not None

    def trouble(self) -> str:
        """Why it has to be started anew; empty while all is well."""
        if not self.pid:
            return ""
        if self.has_ended():
            return _ending(self.exit_status or 0)
        for pid, started in self.family.items():
            process = look_at(pid)
            if process is None or process.zombie or process.started != started:
                return f"its child process {pid} vanished"
        return ""

    def is_due(self) -> bool:
        """Whether it is time to start it. One that dies while it is needed is started once more without being asked."""
        if self.pid or time.monotonic() < self.next_start:
            return False
        return self.is_wanted is None or self.deaths == 1 or self.is_wanted()

    def has_come_to_rest(self) -> bool:
        """Whether it ended by itself, as one that is started when wanted may."""
        return bool(self.is_wanted and self.pid and self.has_ended() and self.exit_status == 0)

    def rest(self) -> None:
        self.kill()
        self.deaths = 0

    def put_down(self, trouble: str) -> None:
        """Kill what is left of it and say when it may start again."""
        self.kill()
        now = time.monotonic()
        self.deaths = 1 if now - self.started_at > QUIET_SECONDS else self.deaths + 1
        self.next_start = now + pause_before(self.deaths)
        self.last_trouble = trouble

    def forgive(self) -> None:
        if self.deaths and self.pid and time.monotonic() - self.started_at > QUIET_SECONDS:
            self.deaths = 0

    def ask_to_stop(self) -> None:
        if self.pid and not self.has_ended():
            kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        if self.pid:
            kill_group(self.pid)
            kill(self.pid, signal.SIGKILL)  # It may not lead its group yet.
            if self.exit_status is None:
                os.waitpid(self.pid, 0)
            self.pid = 0


def _live(name: str, work: Callable[[], None], supervisor: int) -> int:
    """The life of the forked process; it never returns to the code that forked it."""
    code = 1
    try:
        os.setsid()
        die_with_parent()
        if os.getppid() != supervisor:
            os._exit(1)  # It died before the kernel knew whom to tell.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        call_itself(f"memrelay-{name}")
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _ending(code: int) -> str:
    return f"it was killed by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"

"""One supervised child of ``serve``: how it starts, how its trouble shows, how long until the next try."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from apps.instance.serving.processes import Process, die_with_parent, kill, kill_group, look_at

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
    """

    name: str
    command: list[str]
    pass_fds: tuple[int, ...] = ()
    has_family: bool = False

    running: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    next_start: float = 0.0
    deaths: int = 0
    starts: int = 0
    last_trouble: str = ""
    family: dict[int, int] = field(default_factory=dict)  # pid -> when it started

    def start(self) -> None:
        self.running = subprocess.Popen(
            self.command,
            pass_fds=self.pass_fds,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_prepare(os.getpid()),
        )
        self.started_at = time.monotonic()
        self.starts += 1
        self.family = {}

    @property
    def pid(self) -> int:
        return self.running.pid if self.running else 0

    @property
    def state(self) -> str:
        if self.deaths >= FAILING_AFTER:
            return "failing"
        return "running" if self.running else "restarting"

    def meet(self, processes: Iterable[Process]) -> None:
        """Take note of its children, if they are to be watched."""
        if self.has_family and self.running:
            self.family |= {p.pid: p.started for p in processes if p.parent == self.pid and not p.zombie}

    def trouble(self) -> str:
        """Why it has to be started anew; empty while all is well."""
        if self.running is None:
            return ""
        if (code := self.running.poll()) is not None:
            return _ending(code)
        for pid, started in self.family.items():
            process = look_at(pid)
            if process is None or process.zombie or process.started != started:
                return f"its child process {pid} vanished"
        return ""

    def put_down(self, trouble: str) -> None:
        """Kill what is left of it and say when it may start again."""
        self.kill()
        now = time.monotonic()
        self.deaths = 1 if now - self.started_at > QUIET_SECONDS else self.deaths + 1
        self.next_start = now + pause_before(self.deaths)
        self.last_trouble = trouble

    def forgive(self) -> None:
        if self.deaths and self.running and time.monotonic() - self.started_at > QUIET_SECONDS:
            self.deaths = 0

    def ask_to_stop(self) -> None:
        if self.running:
            kill(self.running.pid, signal.SIGTERM)

    def kill(self) -> None:
        if self.running:
            kill_group(self.running.pid)
            self.running.wait()
            self.running = None


def _prepare(supervisor: int) -> Callable[[], None]:
    def in_child() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        die_with_parent()
        if os.getppid() != supervisor:
            os._exit(1)  # It died before the kernel knew whom to tell.

    return in_child


def _ending(code: int) -> str:
    return f"it was killed by {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"

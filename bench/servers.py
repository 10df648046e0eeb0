"""The two servers side by side: MemRelay as an operator starts it, and the floor. Neither outlives its ``with``."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from apps.instance.serving.processes import die_with_parent
from bench import processes

PROJECT = Path(__file__).resolve().parent.parent
START_SECONDS = 90.0
STOP_SECONDS = 20.0
QUIET_CORES = 0.05
QUIET_SECONDS = 3.5  # Longer than MemRelay's keeper pauses between two rounds of work.
CHILDREN = "memrelay-"  # What the names of the processes begin with that `serve` starts.
FLOOR_TOKEN = "the floor's"


class NotServing(Exception):
    """A server did not start (with the end of its log), or does not come to rest."""


class Server:
    """A server on a folder and a port of its own."""

    name = ""
    id_name = ""  # What its tools call the id of a memory.

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.log_file = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        raise NotImplementedError

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """This process's own, without what is set for other servers of MemRelay."""
        foreign = ("MEMRELAY_", "DJANGO_SETTINGS_MODULE", "PYTEST_")
        return {name: value for name, value in os.environ.items() if not name.startswith(foreign)}

    def lacking(self) -> str:
        """What it lacks to be ready, empty when it is."""
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator["Server"]:
        """Serving, ready and at rest."""
        try:
            self._start()
            yield self
        finally:
            if self.process is not None:
                processes.end(self.process.pid, STOP_SECONDS)
                self.process.wait()
                self.process = None

    def _start(self) -> None:
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=PROJECT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C comes to the benchmark, which ends its servers in good order.
                preexec_fn=die_with_parent,  # A benchmark that is killed takes its servers along.
            )
        deadline = time.monotonic() + START_SECONDS
        while lacking := self.lacking():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise NotServing(f"{self.name} does not serve, {lacking}:\n{self._end_of_log()}")
            time.sleep(0.2)

    def _end_of_log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")[-2000:]

    # ---------------------------------------------------------------------------------------------------- looking at it

    def roles(self) -> dict[int, str]:
        """Each process with the part of the server that it belongs to: what it calls itself, else its parent's."""
        assert self.process is not None
        roles: dict[int, str] = {}
        for pid, parent in processes.family(self.process.pid).items():
            name = processes.name_of(pid)
            is_named = name.startswith(CHILDREN)
            roles[pid] = name.removeprefix(CHILDREN) if is_named else roles.get(parent, self.name)
        return roles

    def wait_until_quiet(self, seconds: float) -> None:
        """Until it has done what it does after it has answered: its first look at all files, making saves durable."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            before = Cpu(self)
            time.sleep(QUIET_SECONDS)
            if before.used().total() < QUIET_CORES * QUIET_SECONDS:
                return
        raise NotServing(f"{self.name} does not come to rest within {seconds:.0f} s.")

    def pss(self) -> Counter[str]:
        """Megabytes by role."""
        return _by_role({pid: (role, processes.pss_megabytes(pid)) for pid, role in self.roles().items()})


class Product(Server):
    """MemRelay by ``manage.py serve``, with the settings it ships with."""

    name = "serve"
    id_name = "memory_id"
    token_arguments: tuple[str, ...] = ("--toolset", "agent")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.settings: dict[str, str] = {}  # What differs from those it ships with.

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def command(self) -> list[str]:
        return [sys.executable, "manage.py", "serve", "--port", str(self.port)]

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "MEMRELAY_DATA": str(self.data), **self.settings}

    def lacking(self) -> str:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5):
                return ""
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.read().decode(errors="replace")[:500]
        except OSError as failure:
            return str(failure)

    @property
    def token(self) -> str:
        """The token of the data folder, made once: one as an agent gets it, with the short list of tools.

        The full list carries output schemas, and the SDK's client checks every answer against them: that is time of the
        client, and as much as all else of a short call.
        """
        file = self.folder / "token-of-an-agent"
        if not file.exists():
            file.write_text(self._manage("token_create", "--name", "bench agent", *self.token_arguments).strip())
        return file.read_text()

    def _manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode:
            raise NotServing(f"manage.py {arguments[0]} failed:\n{done.stderr[-2000:]}")
        return done.stdout


class Floor(Server):
    name = "floor"
    id_name = "id"
    token = FLOOR_TOKEN

    @property
    def database(self) -> Path:
        return self.folder / "floor.sqlite3"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "bench.floor.server", "--database", str(self.database), "--port", str(self.port)]

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "FLOOR_TOKEN": FLOOR_TOKEN}

    def wait_until_quiet(self, seconds: float) -> None:
        """It has done everything when it answers."""

    def lacking(self) -> str:
        with socket.socket() as probe:
            failed = probe.connect_ex(("127.0.0.1", self.port))
            return os.strerror(failed) if failed else ""


class Cpu:
    """The CPU time of a server's processes from now on."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.roles = server.roles()
        self.before = self._read()

    def used(self) -> Counter[str]:
        """Seconds by role. Processes that began meanwhile count with all they used."""
        self.roles = self.server.roles() | self.roles
        after = self._read()
        return _by_role({pid: (self.roles[pid], max(0.0, after[pid] - self.before.get(pid, 0.0))) for pid in after})

    def _read(self) -> dict[int, float]:
        return {pid: processes.cpu_seconds(pid) for pid in self.roles}


def _by_role(figures: dict[int, tuple[str, float]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for role, figure in figures.values():
        total[role] += figure  # type: ignore[assignment]  # Counters add any numbers.
    return total


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])

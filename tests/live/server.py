"""A genuine server for tests: ``manage.py serve`` on a data folder and a port of its own, and the means to kill it.

    with LiveServer(tmp_path) as server:
        httpx2.get(f"{server.url}/healthz")
        server.kill9_all()
        server.start()

Whatever happens in the test, no process of the server outlives the ``with``.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

PROJECT = Path(__file__).resolve().parent.parent.parent
T = TypeVar("T")
START_SECONDS = 60.0
STOP_SECONDS = 20.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_until(look: Callable[[], T], seconds: float = 20.0, *, what: str = "it") -> T:
    """Look again and again until what is seen is true, and answer it."""
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s in vain until {what}"
        time.sleep(0.05)
    return seen


class LiveServer:
    def __init__(self, folder: Path, *, only: str | None = None, port: int | None = None, **settings: Any) -> None:
        """``settings`` are MemRelay's own without their prefix, such as ``web_processes=1``.

        Embeddings are off unless they are set: loading a model costs seconds of processor time that few tests need.
        """
        self.folder = folder
        self.data = folder / "data"
        self.only = only
        self.port = port or free_port()
        settings = {"embedding": "off", **settings}
        self.settings = {f"MEMRELAY_{name.upper()}": str(value) for name, value in settings.items()}
        self.log_file = folder / f"serve-{only or 'all'}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.mark = f"LIVE_SERVER={uuid.uuid4()}"
        self._token = ""

    def __enter__(self) -> "LiveServer":
        try:
            self.start()
        except BaseException:
            self.kill9_all()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        try:
            self.stop()
        finally:
            self.kill9_all()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp_url(self) -> str:
        return f"{self.url}/mcp"

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with the server's own settings instead of the tests'."""
        foreign = ("MEMRELAY_", "DJANGO_SETTINGS_MODULE", "PYTEST_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return {**kept, "MEMRELAY_DATA": str(self.data), **self.settings}

    # ------------------------------------------------------------------------------------------ starting and ending

    def launch(self) -> None:
        """Start the process and wait for nothing."""
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        command += ["--only", self.only] if self.only else []
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=PROJECT,
                env=self.environment | dict([self.mark.split("=")]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start, and wait until the server is ready; one that serves no web is only launched."""
        self.launch()
        if self.only == "worker":
            return
        if self.only == "web":
            self.wait_until_answering()
        else:
            self.wait_until_ready()

    def stop(self) -> int | None:
        """End it as an operator does, with SIGTERM; answer its exit code."""
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGTERM)
        return self._wait(STOP_SECONDS)

    def restart(self) -> None:
        self.stop()
        self.start()

    def kill9_all(self) -> None:
        """What a power cut does to the processes: all of them die at the same moment, unasked."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._wait(STOP_SECONDS)
        wait_until(lambda: not self.pids(), what="all processes are gone")

    def _wait(self, seconds: float) -> int | None:
        if self.process is None:
            return None
        try:
            return self.process.wait(seconds)
        finally:
            if self.process.returncode is not None:
                self.process = None

    # ---------------------------------------------------------------------------------------------------- looking at it

    def wait_until_answering(self) -> None:
        self._wait_for_probe("healthz")

    def wait_until_ready(self) -> None:
        self._wait_for_probe("readyz")

    def _wait_for_probe(self, probe: str) -> None:
        def answered() -> bool:
            assert self.process is not None and self.process.poll() is None, f"serve ended:\n{self.log()}"
            return self.probe(probe)[0] == 200

        try:
            wait_until(answered, START_SECONDS, what=f"/{probe} is green")
        except AssertionError as failure:
            raise AssertionError(f"{failure}; {self.probe(probe)}\n{self.log()}") from failure

    def probe(self, name: str) -> tuple[int, dict[str, Any]]:
        """Status and answer of ``healthz`` or ``readyz``; status 0 while nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/{name}", timeout=5) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as response:
            with response:
                body = response.read()
            return response.code, json.loads(body) if body.startswith(b"{") else {}
        except OSError:
            return 0, {}

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""

    def pids(self) -> list[int]:
        """Every process of this server, whoever its parent is: all inherited the mark."""
        return [pid for pid in _all_pids() if self.mark.encode() in _environment_of(pid)]

    def child(self, name: str) -> int:
        """The pid of a child that ``serve`` started: ``web``, ``jobs`` or ``keeper``. Waits while it is being replaced."""
        file = self.data / "memrelay" / "run" / f"serve-{'web' if name == 'web' else 'worker'}.json"

        def running() -> int:
            pid = int(json.loads(file.read_text())["children"][name]["pid"])
            return pid if pid in self.pids() else 0

        return wait_until(running, what=f"the child {name} runs")

    # --------------------------------------------------------------------------------------------------------- using it

    def manage(self, *arguments: str) -> str:
        """Run a command of ``manage.py`` on this data folder; answer what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"manage.py {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
        return done.stdout

    @property
    def token(self) -> str:
        """A token that may do everything, with all tools."""
        if not self._token:
            self._token = self.new_token("--toolset", "full", "--rights", "read,write,administer")
        return self._token

    def new_token(self, *arguments: str, name: str = "live") -> str:
        return self.manage("token_create", "--name", name, *arguments).strip()

    def first_password(self) -> str:
        """The administrator's one-time password, from the note of a start without a terminal."""
        note = (self.data / "memrelay" / "first-sign-in.txt").read_text(encoding="utf-8")
        found = re.search(r"\w{4}-\w{4}-\w{4}-\w{4}", note)
        assert found, note
        return found.group()


def children_of(pid: int) -> list[int]:
    found = []
    for candidate in _all_pids():
        with suppress(OSError):
            fields = Path(f"/proc/{candidate}/stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == pid and fields[0] != b"Z":
                found.append(candidate)
    return found


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()  # Empty for a zombie.
    except OSError:
        return b""

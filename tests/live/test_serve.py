"""``manage.py serve``: it starts, refuses, heals and ends."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.server import PROJECT, LiveServer, children_of, wait_until

HEALED_SECONDS = 25.0


def web_master(server: LiveServer) -> int:
    return server.children("web")["web"]


def web_process(server: LiveServer) -> int:
    return children_of(web_master(server))[0]


def keeper(server: LiveServer) -> int:
    return server.children("worker")["keeper"]


def cluster(server: LiveServer) -> int:
    return server.children("worker")["jobs"]


def sentinel(server: LiveServer) -> int:
    return children_of(cluster(server))[0]


def job_processes(server: LiveServer) -> list[int]:
    return sorted(children_of(sentinel(server)))


def first_job_process(server: LiveServer) -> int:
    return job_processes(server)[0]


def last_job_process(server: LiveServer) -> int:
    return job_processes(server)[-1]


def ring(server: LiveServer, job: str, file: Path) -> None:
    server.manage("shell", "-c", f"from apps.base.bells import ring; ring('tests.live.jobs.{job}', {str(file)!r})")


def lines_of(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def test_sigterm_ends_all_processes_cleanly(server: LiveServer) -> None:
    assert len(server.pids()) > 8

    began = time.monotonic()
    assert server.stop() == 0

    assert time.monotonic() - began < 12
    assert server.pids() == []
    assert "killed" not in server.log()


def test_what_the_first_start_makes_is_private(server: LiveServer) -> None:
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
    readable = [path for path in server.data.rglob("*") if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert readable == []
    assert server.first_password() not in server.log()
    assert (server.data / "memrelay" / "keys" / "secret_key").stat().st_size >= 50


def test_the_second_start_answers_within_5_seconds(server: LiveServer) -> None:
    server.stop()

    began = time.monotonic()
    server.launch()
    server.wait_until_answering()

    assert time.monotonic() - began < 5
    server.wait_until_ready()


@pytest.mark.parametrize("only", [None, "web", "worker"])
def test_a_second_server_of_the_same_role_refuses(server: LiveServer, only: str | None) -> None:
    second = [sys.executable, "manage.py", "serve", "--port", "0", *(["--only", only] if only else [])]
    refused = subprocess.run(second, cwd=PROJECT, env=server.environment, capture_output=True, text=True, timeout=60)

    assert refused.returncode == 1
    assert "already runs on this data folder" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert server.probe("readyz")[0] == 200


def test_a_port_in_use_is_named(server: LiveServer, tmp_path: Path) -> None:
    other = LiveServer(tmp_path / "other", port=server.port)
    other.folder.mkdir()
    other.launch()
    assert other._wait(60) == 1
    assert f"Port {server.port} of 127.0.0.1 is in use by another program." in other.log()


@pytest.mark.parametrize("victim", [web_master, web_process], ids=lambda victim: victim.__name__)
def test_a_killed_web_process_is_replaced(server: LiveServer, victim: Callable[[LiveServer], int]) -> None:
    pid = victim(server)
    os.kill(pid, signal.SIGKILL)

    wait_until(lambda: pid not in server.pids(), HEALED_SECONDS)
    server.wait_until_ready()
    wait_until(lambda: len(children_of(web_master(server))) == 2, HEALED_SECONDS, what="two web processes serve")


def test_a_killed_keeper_is_replaced(server: LiveServer) -> None:
    pid = keeper(server)
    os.kill(pid, signal.SIGKILL)

    wait_until(lambda: keeper(server) not in (0, pid), HEALED_SECONDS, what="a new keeper runs")
    server.wait_until_ready()


@pytest.mark.parametrize(
    "victim", [cluster, sentinel, first_job_process, last_job_process], ids=lambda victim: victim.__name__
)
def test_after_any_process_of_the_cluster_is_killed_jobs_run_again(
    server: LiveServer, tmp_path: Path, victim: Callable[[LiveServer], int]
) -> None:
    old = [cluster(server), sentinel(server), *job_processes(server)]
    os.kill(victim(server), signal.SIGKILL)

    wait_until(lambda: not set(old) & set(server.pids()), HEALED_SECONDS, what="the old cluster is gone")
    ring(server, "note", tmp_path / "note")
    wait_until(lambda: lines_of(tmp_path / "note") == ["ran"], HEALED_SECONDS, what="a job ran")


def test_a_job_whose_idle_sibling_is_killed_runs_again(server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "note"
    ring(server, "take_a_while", file)
    wait_until(lambda: lines_of(file) == ["began"], HEALED_SECONDS, what="the job began")

    os.kill(first_job_process(server), signal.SIGKILL)

    wait_until(lambda: lines_of(file) == ["began", "began", "ended"], HEALED_SECONDS, what="the job ended")


def test_a_killed_supervisor_leaves_no_process_and_the_next_one_starts(server: LiveServer) -> None:
    assert server.process
    os.kill(server.process.pid, signal.SIGKILL)
    server._wait(5)

    wait_until(lambda: not server.pids(), 5, what="all processes are gone")
    server.start()


def test_web_and_worker_can_be_two_services(tmp_path: Path) -> None:
    with LiveServer(tmp_path, only="web") as web:
        status, answer = web.probe("readyz")
        assert status == 503
        assert answer["parts"]["worker"] == "not running"
        with LiveServer(tmp_path, only="worker") as worker:
            web.wait_until_ready()
            assert worker.stop() == 0
            assert web.probe("healthz")[0] == 200

"""``manage.py serve``: it starts, refuses, heals and ends."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from tests.live.server import PROJECT, LiveServer, children_of, wait_until

HEALED_SECONDS = 25.0


def web_master(server: LiveServer) -> int:
    return server.child("web")


def web_process(server: LiveServer) -> int:
    return children_of(web_master(server))[0]


def keeper(server: LiveServer) -> int:
    return server.child("keeper")


def cluster(server: LiveServer) -> int:
    return server.child("jobs")


def job_processes(server: LiveServer) -> list[int]:
    return wait_until(lambda: sorted(children_of(cluster(server))), what="the cluster has processes")


def first_job_process(server: LiveServer) -> int:
    return job_processes(server)[0]


def last_job_process(server: LiveServer) -> int:
    return job_processes(server)[-1]


def ring(server: LiveServer, job: str, file: Path) -> None:
    server.manage("shell", "-c", f"from apps.base.bells import ring; ring('tests.live.jobs.{job}', {str(file)!r})")


def lines_of(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


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
def test_a_second_server_of_the_same_role_refuses(shared_server: LiveServer, only: str | None) -> None:
    second = [sys.executable, "manage.py", "serve", "--port", "0", *(["--only", only] if only else [])]
    refused = subprocess.run(
        second, cwd=PROJECT, env=shared_server.environment, capture_output=True, text=True, timeout=60
    )

    assert refused.returncode == 1
    assert "already runs on this data folder" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert shared_server.probe("readyz")[0] == 200


def test_the_longest_question_fits_into_an_address(shared_server: LiveServer) -> None:
    """Four bytes a character, each written as three. Who asks is looked at only when the line has been read."""
    with pytest.raises(HTTPError, match="401"):
        urlopen(f"{shared_server.url}/api/v1/memories/search?query={quote('𠮷' * 2000)}", timeout=30)


def test_a_port_in_use_is_named(shared_server: LiveServer, tmp_path: Path) -> None:
    other = LiveServer(tmp_path / "other", port=shared_server.port)
    other.folder.mkdir()
    other.launch()
    assert other._wait(60) == 1
    assert f"Port {shared_server.port} of 127.0.0.1 is in use by another program." in other.log()


@pytest.mark.parametrize("victim", [web_master, web_process], ids=lambda victim: victim.__name__)
def test_a_killed_web_process_is_replaced(shared_server: LiveServer, victim: Callable[[LiveServer], int]) -> None:
    pid = victim(shared_server)
    os.kill(pid, signal.SIGKILL)

    wait_until(lambda: pid not in shared_server.pids(), HEALED_SECONDS)
    shared_server.wait_until_ready()
    wait_until(lambda: len(children_of(web_master(shared_server))) == 2, HEALED_SECONDS, what="two web processes serve")


def test_a_killed_keeper_is_replaced(shared_server: LiveServer) -> None:
    pid = keeper(shared_server)
    os.kill(pid, signal.SIGKILL)

    wait_until(lambda: keeper(shared_server) != pid, HEALED_SECONDS, what="a new keeper runs")
    shared_server.wait_until_ready()


@pytest.mark.parametrize("victim", [cluster, first_job_process, last_job_process], ids=lambda victim: victim.__name__)
def test_after_any_process_of_the_cluster_is_killed_jobs_run_again(
    shared_server: LiveServer, tmp_path: Path, victim: Callable[[LiveServer], int]
) -> None:
    old = [cluster(shared_server), *job_processes(shared_server)]
    os.kill(victim(shared_server), signal.SIGKILL)

    wait_until(lambda: not set(old) & set(shared_server.pids()), HEALED_SECONDS, what="the old cluster is gone")
    ring(shared_server, "note", tmp_path / "note")
    wait_until(lambda: lines_of(tmp_path / "note"), HEALED_SECONDS, what="a job ran")


def test_a_job_whose_idle_sibling_is_killed_runs_again(shared_server: LiveServer, tmp_path: Path) -> None:
    file = tmp_path / "note"
    ring(shared_server, "take_a_while", file)
    [(word, busy)] = wait_until(lambda: lines_of(file), HEALED_SECONDS, what="the job began")
    assert word == "began"

    idle = next(pid for pid in job_processes(shared_server) if pid != int(busy))
    os.kill(idle, signal.SIGKILL)

    words = ["began", "began", "ended"]
    wait_until(lambda: [line[0] for line in lines_of(file)] == words, HEALED_SECONDS, what="the job ran again")


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

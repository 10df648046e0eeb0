"""Memory Git under kills: exactly one commit for each acknowledged operation, in closing order (must hold 3, in small)."""

import json
import os
import signal
import subprocess
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.live.server import LiveServer, children_of, wait_until
from tests.live.test_fault_points import Machine

CLIENTS, SAVES = 4, 25


class GitMachine(Machine):
    def git(self, what: str, **fault: Any) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "tests.live.git_deeds", what, **fault)

    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.git("state").stdout)
        return found


def git(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("point", ["git-before-ref", "git-after-ref"])
def test_a_worker_killed_around_the_branch_commits_everything_once(tmp_path: Path, point: str) -> None:
    machine = GitMachine(tmp_path)
    machine.git("on")
    machine.git("save")
    assert machine.git("work", fault=point).returncode == -signal.SIGKILL
    machine.git("work")
    told = machine.told()
    assert told["commits"] == told["operations"] and told["waiting"] == 0
    memories = machine.data / "basic-memory" / "memories"
    assert git(memories, "log", "--reverse", "--format=%H") == told["shas"]
    assert [line for line in git(memories, "fsck", "--strict") if not line.startswith("dangling")] == []


def test_a_change_of_strategy_killed_among_its_moves_is_undone_and_done(tmp_path: Path) -> None:
    """GIT-017."""
    machine = GitMachine(tmp_path)
    machine.git("on")
    machine.git("save")
    machine.git("work")
    assert machine.git("migrate", fault="git-moving").returncode == -signal.SIGKILL
    machine.git("work")
    told = machine.told()
    assert told["roots"] == ["global"] and ["migration", "completed"] in told["deeds"]
    memories = machine.data / "basic-memory" / "memories"
    assert not (memories / ".git").exists()
    assert git(memories / "global", "log", "--reverse", "--format=%H") == told["shas"]
    assert told["commits"] == told["operations"][1:]  # The baseline of nothing belonged to no scope.


def test_saves_from_many_clients_under_kills_have_one_commit_each(server: LiveServer) -> None:
    token = server.token
    server.manage("perform", "git_settings_update", '{"enabled": true}')
    acknowledged: list[str] = []
    stop = threading.Event()

    def client(number: int) -> None:
        for turn in range(SAVES):
            name = f"Note {number} {turn}"
            while not stop.is_set():
                try:
                    acknowledged.append(post(server, token, title=name, body="Text.", request_id=name)["memory_id"])
                    break
                except OSError:
                    time.sleep(0.1)  # The server is away: the same request again.

    with ThreadPoolExecutor(CLIENTS) as pool:
        clients = [pool.submit(client, number) for number in range(CLIENTS)]
        try:
            for _turn in range(2):
                time.sleep(1.0)
                for pid in children_of(server.child("jobs"))[:3]:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.5)
            server.kill9_all()
            server.start()
            for one in clients:
                one.result(timeout=120)
        finally:
            stop.set()
    assert len(set(acknowledged)) == CLIENTS * SAVES

    def drained() -> bool:
        status = get(server, token, "/git/status")
        return status["waiting"] == 0 and not status["preparing"]

    wait_until(drained, 90, what="every commit is made")
    memories = server.data / "basic-memory" / "memories"
    subjects = git(memories, "log", "--reverse", "--format=%s")
    saved = [subject for subject in subjects if subject.startswith("Save Note")]
    missing = {f"Save Note {number} {turn}" for number in range(CLIENTS) for turn in range(SAVES)} - set(saved)
    in_baseline = int(subjects[0].partition(": ")[2].split()[0]) if ": " in subjects[0] else 0
    assert len(saved) == len(set(saved)) and len(missing) <= in_baseline
    trailers = git(memories, "log", "--reverse", "--format=%(trailers:key=MemRelay-Operation,valueonly)")
    operations = [line for line in trailers if line]
    assert len(operations) == len(set(operations)) == len(subjects)
    closed = server.manage(
        "shell", "-c",
        "from apps.memories.models import LogicalOperation as L;"
        "print(*L.objects.exclude(state='open').order_by('closing_number').values_list('pk', flat=True))",
    ).split()  # fmt: skip
    order = {operation: number for number, operation in enumerate(closed)}
    committed = [order[operation] for operation in operations[1:]]
    assert committed == sorted(committed)
    assert [line for line in git(memories, "fsck", "--strict") if not line.startswith("dangling")] == []


def post(server: LiveServer, token: str, **fields: Any) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server.url}/api/v1/memories", json.dumps(fields).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def get(server: LiveServer, token: str, path: str) -> dict[str, Any]:
    request = urllib.request.Request(f"{server.url}/api/v1{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
    return answer

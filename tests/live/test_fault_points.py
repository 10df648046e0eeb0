"""Killed between any two steps of the road, then a power cut's worth of damage: the same end (must hold 3)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.base.faults import POINTS
from tests.live.server import PROJECT

SWEEP_POINTS = ("before-sync", "after-sync", "after-clear")
ROAD = [(point, "none") for point in POINTS if point not in SWEEP_POINTS]
ROAD += [(point, damage) for point in ("after-rename", "between-files") for damage in ("truncated", "removed", "nul")]


class Machine:
    """One data folder, and processes that work on it."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        (self.data / "memrelay" / "db").mkdir(parents=True)
        self.run("manage.py", "migrate", "--verbosity", "0")

    def run(self, *command: str, fault: str = "", passes: int = 0) -> subprocess.CompletedProcess[str]:
        foreign = ("MEMRELAY_", "DJANGO_SETTINGS_MODULE", "PYTEST_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        environment |= {
            "MEMRELAY_DATA": str(self.data),
            "MEMRELAY_SECRET_KEY": "a key of the tests alone, long enough to be one",
            "MEMRELAY_FAULT_POINT": f"{fault}:{passes}" if fault else "",
        }
        done = subprocess.run(
            [sys.executable, *command], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        if not fault:
            assert done.returncode == 0, done.stderr
        return done

    def deeds(self, what: str, **fault: Any) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "tests.live.deeds", what, **fault)

    def state(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.deeds("state").stdout)
        return told

    def damage(self, kind: str) -> None:
        """What a power cut leaves of files whose fsync is still to come."""
        for file in self.data.rglob("*.md"):
            if ".memrelay" in file.parts or kind == "none":
                continue
            if kind == "removed":
                file.unlink()
            else:
                text = file.read_bytes()
                file.write_bytes(text[: len(text) // 3] if kind == "truncated" else b"\0" * len(text))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated folder to copy: migrating anew for each case would be most of the time."""
    folder = tmp_path_factory.mktemp("prepared")
    Machine(folder)
    return folder


@pytest.fixture
def machine(prepared: Path, tmp_path: Path) -> Machine:
    subprocess.run(["cp", "-r", f"{prepared}/data", str(tmp_path)], check=True)
    copied = object.__new__(Machine)
    copied.data = tmp_path / "data"
    return copied


def acknowledged(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def check(machine: Machine, deeds: list[dict[str, Any]]) -> dict[str, Any]:
    """Every acknowledged deed is there once: row, revision, file, search. Nothing else is half there."""
    state = machine.state()
    assert (state["intents"], state["open"]) == (0, 0)
    for memory in state["memories"].values():
        if memory["status"] == "deleted":
            assert memory["file"] is None and memory["found"] == 0
        else:
            assert memory["file"] == memory["document"]
            assert memory["found"] == 1
    for deed in deeds:
        memory = state["memories"][deed["title"]]
        assert memory["revision"] >= deed["revision"]
        assert memory["revisions"] == memory["revision"]
    memories: dict[str, Any] = state["memories"]
    return memories


@pytest.mark.parametrize(("point", "damage"), ROAD)
def test_killed_on_the_road(machine: Machine, point: str, damage: str) -> None:
    killed = machine.deeds("work", fault=point, passes=3)
    assert killed.returncode == -signal.SIGKILL, f"{point} was never passed"
    deeds = acknowledged(killed.stdout)
    machine.damage(damage)
    check(machine, deeds)
    again = machine.deeds("work")  # The client repeats everything with its request ids.
    state = check(machine, acknowledged(again.stdout))
    assert {title: (memory["revision"], memory["status"]) for title, memory in state.items()} == {
        "Kept": (2, "active"),
        "Away": (2, "archived"),
        "Gone": (2, "deleted"),
        "Point": (1, "active"),
    }


@pytest.mark.parametrize(
    ("point", "damage"),
    [("before-sync", "truncated"), ("before-sync", "removed"), ("after-sync", "none"), ("after-clear", "none")],
)
def test_killed_in_the_sweep(machine: Machine, point: str, damage: str) -> None:
    deeds = acknowledged(machine.deeds("work").stdout)
    killed = machine.deeds("sweep", fault=point)
    assert killed.returncode == -signal.SIGKILL
    machine.damage(damage)  # Only before the sync: later the files are durable and no power cut takes them.
    check(machine, deeds)

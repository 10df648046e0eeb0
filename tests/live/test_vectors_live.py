"""Vectors whatever befalls them: killed between any two steps, a full disk, a model that is gone (must hold 5)."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.base.faults import EMBEDDING_POINTS
from tests.live.embedding_deeds import MEMORIES
from tests.live.test_fault_points import Machine

DEEDS = "tests.live.embedding_deeds"
DISK = "size=24m"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated folder to copy."""
    folder = tmp_path_factory.mktemp("prepared")
    Machine(folder)
    return folder / "data"


def machine_on(prepared: Path, folder: Path) -> Machine:
    subprocess.run(["cp", "-r", str(prepared), str(folder / "data")], check=True)
    machine = object.__new__(Machine)
    machine.data = folder / "data"
    return machine


@pytest.fixture
def machine(prepared: Path, tmp_path: Path) -> Machine:
    return machine_on(prepared, tmp_path)


@pytest.fixture
def small_disk(prepared: Path, tmp_path: Path) -> Iterator[Machine]:
    """A data folder on a disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        if os.environ.get("CI") == "true":
            pytest.fail("No small disk can be mounted here, which CI must be able to.")
        pytest.skip("Only root may mount a small disk.")
    try:
        yield machine_on(prepared, disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def told(done: "subprocess.CompletedProcess[str]") -> Any:
    return json.loads(done.stdout.splitlines()[-1])


def check(state: dict[str, Any], **wanted: Any) -> None:
    """Nothing is half there and nothing old is served; words find everything at any time."""
    assert (state["wrong"], state["orphans"], state["old_served"]) == ([], 0, [])
    assert state["by_words"] == MEMORIES
    assert {name: state[name] for name in wanted} == wanted


@pytest.mark.parametrize(("point", "passes"), [(point, place % 2) for place, point in enumerate(EMBEDDING_POINTS)])
def test_killed_while_embedding(machine: Machine, point: str, passes: int) -> None:
    killed = machine.run("-m", DEEDS, "work", fault=point, passes=passes)
    assert killed.returncode == -signal.SIGKILL, f"{point} was never passed"
    state, after = told(machine.run("-m", DEEDS, "again"))
    check(state)
    assert state["states"].count("indexed") == state["by_meaning"]
    check(after, states=["indexed"] * MEMORIES, by_meaning=MEMORIES)


def test_a_full_disk_costs_vectors_for_a_while_and_no_words(small_disk: Machine) -> None:
    refused, meanwhile, after = told(small_disk.run("-m", DEEDS, "full"))
    assert "full" in refused["refused"] or "I/O" in refused["refused"]
    check(meanwhile, states=["pending"] * MEMORIES, by_meaning=0)
    check(after, states=["indexed"] * MEMORIES, by_meaning=MEMORIES)


def test_a_model_that_is_gone_is_told_and_taken_up_again_by_itself(machine: Machine) -> None:
    meanwhile, after = told(machine.run("-m", DEEDS, "removed"))
    check(meanwhile, states=["pending"] * MEMORIES, by_meaning="EMBEDDING_UNAVAILABLE")
    assert meanwhile["semantic"] == ["failing", "The folder of the model is gone."]
    check(after, states=["indexed"] * MEMORIES, by_meaning=MEMORIES)
    assert after["semantic"][1] != "The folder of the model is gone."

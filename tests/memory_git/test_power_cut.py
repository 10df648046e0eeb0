"""A power cut takes what nobody waited for: what a killed pass stored must be looked at, what replaces must be on disk."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.memories import store
from apps.memory_git.models import MemoryRepository
from apps.memory_git.repository import local, objects
from tests.memory_git.conftest import Git, Saving
from tests.world import World, call

pytestmark = pytest.mark.django_db


class PowerCut(BaseException):
    """No process goes on after it."""


def loose() -> set[Path]:
    return set((Path(settings.MEMORIES_FOLDER) / ".git" / "objects").glob("??/*"))


@pytest.fixture
def syncs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many loose objects there were at each sync of the file system."""
    seen: list[int] = []
    monkeypatch.setattr(store, "_sync_file_system", lambda _folder: not seen.append(len(loose())))
    return seen


def cut_before_the_branch(memory_git: Git, monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """A pass ends when its objects are stored; answers those."""
    before = loose()

    def cut(*_arguments: Any) -> None:
        raise PowerCut

    with monkeypatch.context() as during:
        during.setattr(local, "move_branch", cut)
        with pytest.raises(PowerCut):
            memory_git.work()
    return loose() - before


@pytest.mark.parametrize("left", [b"", b"\0" * 40, b"x\x01"], ids=["nothing", "zeros", "something else"])
def test_objects_that_a_power_cut_left_damaged_are_written_again(
    memory_git: Git, save: Saving, monkeypatch: pytest.MonkeyPatch, left: bytes
) -> None:
    memory_git.on()
    save("Saved before the cut")
    stored = cut_before_the_branch(memory_git, monkeypatch)
    assert len(stored) > 3
    for file in stored:
        file.chmod(0o644)
        file.write_bytes(left)
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save Saved before the cut" and memory_git.is_sound()


def test_objects_that_a_killed_pass_left_whole_are_made_durable_by_the_next(
    memory_git: Git, save: Saving, monkeypatch: pytest.MonkeyPatch, syncs: list[int]
) -> None:
    memory_git.on()
    save("Saved before the kill")
    cut_before_the_branch(memory_git, monkeypatch)
    syncs.clear()
    memory_git.work()
    assert syncs and memory_git.is_sound()


def test_many_objects_are_durable_before_the_branch_moves(
    memory_git: Git, save: Saving, monkeypatch: pytest.MonkeyPatch, syncs: list[int]
) -> None:
    monkeypatch.setattr(objects, "MANY", 0)
    save("In a pack")
    memory_git.on()
    assert not loose() and syncs and memory_git.is_sound()


def test_a_pack_is_durable_before_what_it_replaces_goes(
    memory_git: Git, save: Saving, monkeypatch: pytest.MonkeyPatch, syncs: list[int], world: World
) -> None:
    memory_git.on()
    save("Packed")
    memory_git.work()
    monkeypatch.setattr("shutil.which", lambda _name: None)
    call(world.operator, "memory_repository_maintain", repository_id=MemoryRepository.objects.get().pk)
    count = len(loose())
    syncs.clear()
    memory_git.work()
    monkeypatch.undo()
    assert syncs == [count] and not loose() and memory_git.is_sound()

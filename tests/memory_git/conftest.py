"""Repositories of these tests: real ones in a temporary folder, read by the genuine git where that is what is claimed.

Whatever a test did, ``git fsck --strict`` and ``git log`` read every repository it leaves behind, and a clone with the
line ends of Windows shows no change (ACC-043). A test that damages one asks for ``leaves_damage``.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.memory_git.jobs import work_here
from tests.world import World, call


class Git:
    """Memory Git as a test uses it: switched on and off, its worker run, its repositories asked by genuine git."""

    def __init__(self, world: World) -> None:
        self.world = world

    def on(self, **arguments: Any) -> None:
        call(self.world.operator, "git_settings_update", enabled=True, **arguments)
        self.work()

    def off(self) -> None:
        call(self.world.operator, "git_settings_update", enabled=False)

    def work(self) -> None:
        work_here()

    def run(self, *arguments: str, root: str = "") -> str:
        folder = Path(settings.MEMORIES_FOLDER) / root
        return git(folder, *arguments)

    def subjects(self, root: str = "") -> list[str]:
        """Oldest first."""
        return self.run("log", "--reverse", "--format=%s", root=root).splitlines()

    def files(self, root: str = "") -> list[str]:
        return self.run("ls-tree", "-r", "--name-only", "HEAD", root=root).splitlines()

    def is_sound(self, root: str = "") -> bool:
        found = self.run("fsck", "--strict", "--full", root=root)
        return not [line for line in found.splitlines() if not line.startswith("dangling")]


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", *arguments], cwd=folder, capture_output=True, text=True, timeout=60,
        env={"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def leaves_damage() -> None:
    """What this test leaves behind is not to be read by genuine git."""


@pytest.fixture(autouse=True)
def _left_sound(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    yield
    if "leaves_damage" in request.fixturenames:
        return
    for number, folder in enumerate(left_in(tmp_path)):
        git(folder, "fsck", "--strict", "--full", "--no-dangling")
        if git(folder, "log", "--branches", "--format=%H %s") and (folder / ".git").is_dir():
            clone = f"clone-of-the-teardown-{number}"
            git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(folder), clone)
            assert git(tmp_path / clone, "status", "--porcelain") == ""


def left_in(folder: Path) -> list[Path]:
    """Every repository below, with a work tree or without."""
    found = []
    for current, folders, files in os.walk(folder):
        if ".git" in folders or ("HEAD" in files and "objects" in folders):
            found.append(Path(current))
        folders[:] = [name for name in folders if name not in (".git", "objects", "refs")]
    return sorted(found)


@pytest.fixture
def memory_git(world: World) -> Git:
    return Git(world)


Saving = Callable[..., Any]


@pytest.fixture
def save(world: World) -> Saving:
    """Save a memory in the shared space and answer its id."""

    def saving(title: str, body: str = "Text.", **arguments: Any) -> str:
        arguments.setdefault("scope", "shared")
        return world.alices_agent.call("memory_save", title=title, body=body, **arguments).memory_id

    return saving

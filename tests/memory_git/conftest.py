"""Repositories of these tests: real ones in a temporary folder, read by the genuine git where that is what is claimed."""

import subprocess
from collections.abc import Callable
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

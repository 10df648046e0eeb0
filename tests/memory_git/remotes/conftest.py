"""A Git server that is a folder, and Memory Git connected to it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from dulwich.repo import Repo

from apps.base.keyring import ensure_keyring
from apps.memory_git.models import GitSyncJob, MemoryRepository
from tests.memory_git.conftest import git, memory_git, save
from tests.memory_git.remotes.made import MAIN, bare, foreign_commit
from tests.world import World, call

__all__ = ["memory_git", "save"]


class Server:
    """Repositories below a folder, as a server has them; ``away`` takes the folder away."""

    def __init__(self, folder: Path, world: World) -> None:
        self.folder, self.world = folder, world
        folder.mkdir()

    def create(self, name: str = "memory.git") -> Path:
        bare(self.folder / name).close()
        return self.folder / name

    def url(self, name: str = "memory.git") -> str:
        return f"file://{self.folder}/{name}"

    def connect(self, name: str = "memory.git", **arguments: Any) -> Any:
        return call(self.world.operator, "git_connection_save", url=self.url(name), **arguments)

    def subjects(self, name: str = "memory.git") -> list[str]:
        return git(self.folder / name, "log", "--reverse", "--format=%s", "main").splitlines()

    def push_foreign(self, name: str = "memory.git", files: dict[str, str] | None = None, *, anew: bool = False) -> str:
        """Somebody else's commit on top of what is there; ``anew``: instead of it."""
        with Repo(str(self.folder / name)) as there:
            parent = None if anew else there.refs.read_ref(MAIN)
            return foreign_commit(there, parent, files or {"foreign.md": "Not ours.\n"}).decode()

    def away(self) -> None:
        self.folder.rename(self.folder.with_suffix(".away"))

    def back(self) -> None:
        self.folder.with_suffix(".away").rename(self.folder)


@pytest.fixture(autouse=True)
def keyring(request: pytest.FixtureRequest) -> None:
    if "world" in request.fixturenames:
        request.getfixturevalue("data_folder")
        ensure_keyring()


@pytest.fixture
def server(tmp_path: Path, world: World):
    made = Server(tmp_path / "server", world)
    with override_settings(GIT_FILE_FOLDERS=[str(made.folder)], GIT_RETRY_SECONDS=600):
        yield made


@pytest.fixture
def repository() -> Callable[[], MemoryRepository]:
    return lambda: MemoryRepository.objects.get(archived_at=None)


@pytest.fixture
def states() -> Callable[[], list[str]]:
    """Of the outbox, in order."""
    return lambda: list(GitSyncJob.objects.order_by("pk").values_list("state", flat=True))

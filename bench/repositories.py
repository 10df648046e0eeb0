"""Git repositories to measure with: made once by genuine git's fast-import, and Memory Git at work on copies of them.

The product runs inside this process, on a data folder of this run's own, with one workspace for each repository.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.datasets import KEPT
from bench.inside import data_folder, set_up
from bench.workload import note

if TYPE_CHECKING:
    from apps.memory_git.models import MemoryRepository
    from apps.operations.caller import Caller

FILES_A_FOLDER = 500
TEXTS = 400
WHO = b"Bench <bench@example.org>"
FIRST_SECOND = 1_700_000_000


def git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """Genuine git, with no configuration of this machine's."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "-c", "gc.auto=0", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"},
    )
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]}: {done.stderr[-500:].decode(errors='replace')}")
    return done.stdout


def path_of(number: int) -> str:
    folder = number // FILES_A_FOLDER + 2
    return f"memories/2026/01-{folder}/note-{number}.md"


def document(number: int, version: int = 0) -> bytes:
    text = note((number * 7 + version) % TEXTS, "g").body
    return f"---\nstable_id: mem_bench{number}\ntitle: Note {number}\nrevision: {version + 1}\n---\n\n{text}\n".encode()


def template(files: int, commits: int = 1) -> Path:
    """A packed repository, made if it is not there: all files in the first commit, then one change of one file each."""
    place = KEPT / f"git-{files}-{commits}"
    if place.exists():
        return place
    making = place.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    git(making, "init", "-q", "-b", "main", ".")
    stream = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=making, stdin=subprocess.PIPE)
    assert stream.stdin is not None
    for number in range(commits):
        changed = range(files) if number == 0 else [number % files]
        when = b"%d +0000" % (FIRST_SECOND + number)
        stream.stdin.write(b"commit refs/heads/main\nauthor %s %s\ncommitter %s %s\n" % (WHO, when, WHO, when))
        stream.stdin.write(_data(b"Commit %d\n" % number))
        for one in changed:
            stream.stdin.write(b"M 100644 inline %s\n" % path_of(one).encode() + _data(document(one, number // files)))
    stream.stdin.close()
    if stream.wait():
        raise RuntimeError("git fast-import failed")
    git(making, "repack", "-adq")
    making.rename(place)
    return place


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


class Store:
    """The product inside this process, with Memory Git on and one repository for each workspace."""

    def __init__(self, caller: "Caller") -> None:
        self.caller = caller

    def call(self, name: str, /, **arguments: Any) -> Any:
        from apps.operations.operation import OPERATIONS

        return OPERATIONS[name].answer(self.caller, arguments)

    def workspace(self, name: str) -> str:
        return str(self.call("project_create", name=name).project_id)

    def take_in(self, project_id: str, kept: Path, commits: int) -> "MemoryRepository":
        """Give a workspace a copy of a prepared repository as its own."""
        from apps.memory_git.models import MemoryRepository
        from apps.memory_git.repository import local
        from apps.memory_git.repository.roots import folder_of_root

        root = f"projects/{project_id}"
        folder = folder_of_root(root)
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copytree(kept / ".git", folder / ".git")
        local.write_manifest(folder)
        repository = MemoryRepository(
            id=f"repo_{project_id[-20:]}",
            mode="per_workspace",
            scope_key=f"project/{project_id}",
            root=root,
            name=f"memrelay-{project_id}",
            head=git(folder, "rev-parse", "HEAD").decode().strip(),
            position=commits,
        )
        repository.save(force_insert=True)
        return repository

    def switch_on(self) -> None:
        from apps.memory_git.jobs import work_here

        self.call("git_settings_update", enabled=True)
        work_here()


@contextmanager
def store(name: str) -> Iterator[Store]:
    """Once a process, since Django is set up for it; the folder goes with the ``with``."""
    with data_folder(name, MEMRELAY_EMBEDDING="off", MEMRELAY_LOG_LEVEL="WARNING"):
        yield _set_up()


def _set_up() -> Store:
    set_up()
    from apps.operations.caller import Caller

    made = Store(Caller.for_command("bench"))
    made.call("git_settings_update", strategy="per_workspace")
    return made

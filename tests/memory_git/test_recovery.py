"""What Git must stand: crashes, stale locks, foreign commits, damage, files that cannot be written, secrets."""

import os
import shutil
import time
from pathlib import Path

import pytest
from django.conf import settings

from apps.base import clock
from apps.memories.ledger.sweep import sweep
from apps.memories.models import FileIntent
from apps.memory_git.committing import making
from apps.memory_git.models import GitCommit, GitSyncJob, MemoryRepository
from apps.memory_git.repository import local
from tests.memory_git.conftest import Git, Saving, git
from tests.world import World, call

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def states() -> list[str]:
    """Of what was queued, oldest first (GIT-034)."""
    return list(GitSyncJob.objects.order_by("pk").values_list("state", flat=True))


def due() -> None:
    GitSyncJob.objects.update(next_retry_at=None)


def test_a_crash_between_branch_and_rows_is_found_by_the_trailer(
    memory_git: Git, save: Saving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L-21, GIT-055, REL-017."""
    memory_git.on()

    def crash(*_arguments: object) -> None:
        raise RuntimeError("killed")

    save("One")
    save("Two")
    with monkeypatch.context() as patched:
        patched.setattr(making, "enter", crash)
        with pytest.raises(RuntimeError):
            memory_git.work()
    assert memory_git.subjects()[1:] == ["Save One", "Save Two"] and GitCommit.objects.count() == 1
    save("Three")
    assert states()[-3:] == ["committing", "committing", "pending"]
    memory_git.work()
    assert set(states()) == {"completed"}
    assert memory_git.subjects()[1:] == ["Save One", "Save Two", "Save Three"]
    rows = GitCommit.objects.order_by("position")
    assert [row.sha for row in rows] == memory_git.run("log", "--reverse", "--format=%H").split()
    assert rows[1].versions.get().title == "One"


def test_git_locks_of_a_killed_process_are_removed_and_those_of_others_respected(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on()
    control = Path(settings.MEMORIES_FOLDER) / ".git"
    lock = control / "refs" / "heads" / "main.lock"

    lock.touch()
    (control / local.LOCK).write_bytes(local.MOVING)  # A worker of ours died in there.
    save("One")
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save One" and not lock.exists()

    lock.touch()  # Somebody's Git works here right now.
    save("Two")
    memory_git.work()
    status = call(world.operator, "memory_repository_status")
    assert status.repositories[0].error_code == "REPOSITORY_LOCKED" and status.waiting == 1
    old = time.time() - local.STALE_SECONDS - 1
    os.utime(lock, (old, old))
    due()
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save Two"
    assert call(world.operator, "memory_repository_status").state == "ready"


def test_a_commit_waits_for_the_file_it_shows(memory_git: Git, save: Saving, world: World) -> None:
    """ACC-060, REL-012."""
    memory_git.on()
    place = Path(settings.MEMORIES_FOLDER) / "global" / "memories" / f"{clock.now():%Y/%m}" / "blocked.md"
    place.mkdir(parents=True)
    save("Blocked")
    save("Behind it")
    memory_git.work()
    assert memory_git.subjects() == ["Git baseline"]
    status = call(world.operator, "memory_repository_status")
    assert (status.waiting, status.repositories[0].error_code) == (2, "FILE_PENDING")
    assert states() == ["failed", "pending"]
    place.rmdir()
    due()
    memory_git.work()
    assert memory_git.subjects()[1:] == ["Save Blocked", "Save Behind it"] and place.is_file()


def test_what_a_killed_save_left_unwritten_is_written_before_its_commit(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on()
    save("Deploy")
    place = next(Path(settings.MEMORIES_FOLDER).rglob("deploy.md"))
    place.unlink()  # As if the process had died before the rename; the intent is open.
    assert FileIntent.objects.exists()
    memory_git.work()
    assert place.is_file() and memory_git.subjects()[-1] == "Save Deploy"


def test_adopted_text_with_a_secret_stays_out_and_the_commit_says_so(
    memory_git: Git, save: Saving, world: World
) -> None:
    """L-22, D-14."""
    memory_git.on()
    memory_id = save("Deploy", "Harmless.")
    memory_git.work()
    sweep(at_once=True)
    place = next(Path(settings.MEMORIES_FOLDER).rglob("deploy.md"))
    place.write_bytes(place.read_bytes() + f"token = {SECRET}\n".encode())
    os.utime(place, (1, 1))
    world.alices_agent.call("memory_get", memory_id=memory_id)
    memory_git.work()
    message = memory_git.run("log", "-1", "--format=%B")
    assert "Withheld: memories/" in message
    assert SECRET not in memory_git.run("log", "-p", "--all")
    assert "Harmless." in memory_git.run("show", f"HEAD:global/{_path(memory_git)}")
    world.alices_agent.call("memory_delete", memory_id=memory_id)
    memory_git.work()
    assert not [name for name in memory_git.files() if name.endswith(".md")]


def _path(memory_git: Git) -> str:
    return next(name for name in memory_git.files() if name.endswith(".md")).removeprefix("global/")


def test_commits_somebody_makes_here_stay_in_history(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    save("Before")
    memory_git.work()
    folder = Path(settings.MEMORIES_FOLDER)
    git(folder, "read-tree", "HEAD")
    git(folder, "-c", "user.name=Ann", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "By hand")
    save("After")
    memory_git.work()
    assert memory_git.subjects()[1:] == ["Save Before", "By hand", "Save After"]
    by_hand = call(world.operator, "memory_repository_history", kind="outside_commit").commits[0]
    assert (by_hand.operator, by_hand.subject) == ("Ann", "By hand")


def test_a_rewritten_history_is_red_until_switching_on_again_mends_it(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on()
    save("One")
    save("Two")
    memory_git.work()
    git(Path(settings.MEMORIES_FOLDER), "update-ref", "refs/heads/main", "HEAD~1")
    save("Three")
    memory_git.work()
    assert call(world.operator, "memory_repository_status").state == "local_error"
    memory_git.off()
    memory_git.on()
    assert call(world.operator, "memory_repository_status").state == "ready"
    names = [name.rpartition("/")[2] for name in memory_git.files() if name.endswith(".md")]
    assert names == ["one.md", "three.md", "two.md"] and memory_git.is_sound()


def test_a_removed_repository_is_begun_anew(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    save("One")
    memory_git.work()
    shutil.rmtree(Path(settings.MEMORIES_FOLDER) / ".git")
    memory_git.off()
    memory_git.on()
    assert memory_git.subjects() == ["Git baseline: 1 document"] and memory_git.is_sound()
    assert MemoryRepository.objects.count() == 1


def test_somebody_elses_repository_is_not_taken_over(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-018."""
    folder = Path(settings.MEMORIES_FOLDER) / "global"
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", ".")
    memory_git.on()
    told = call(world.operator, "git_settings_get")
    assert "global" in told.problem and not (Path(settings.MEMORIES_FOLDER) / ".git").exists()
    save("Saved all the same")


def test_line_ends_are_the_same_on_every_system(memory_git: Git, save: Saving, tmp_path: Path) -> None:
    """ACC-043, GIT-021."""
    memory_git.on()
    save("Windows", "One.\r\nTwo.\r\n")
    save("Unix", "One.\nTwo.\n")
    memory_git.work()
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(settings.MEMORIES_FOLDER), "clone")
    clone = tmp_path / "clone"
    assert git(clone, "-c", "core.autocrlf=true", "status", "--porcelain") == ""
    assert all(b"\r" not in file.read_bytes() for file in clone.rglob("*.md"))
    memory_git.run("reset", "-q")
    assert memory_git.run("status", "--porcelain") == ""
    windows = next(Path(settings.MEMORIES_FOLDER).rglob("windows.md"))
    assert b"\r\n" in windows.read_bytes()


def test_packing_keeps_everything_and_makes_it_small(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    memory_id = save("Grows", "Line.\n" * 50)
    for number in range(5):
        world.alices_agent.call("memory_append", memory_id=memory_id, text=f"More {number}.")
    memory_git.work()
    subjects = memory_git.subjects()
    repository = MemoryRepository.objects.get()
    call(world.operator, "memory_repository_maintain", repository_id=repository.pk)
    memory_git.work()
    assert memory_git.run("count-objects").startswith("0 objects")
    world.alices_agent.call("memory_append", memory_id=memory_id, text="After.")
    memory_git.work()
    assert memory_git.subjects() == [*subjects, "Append to Grows"] and memory_git.is_sound()


def test_packing_without_git_does_the_same(
    memory_git: Git, save: Saving, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_git.on()
    memory_id = save("Grows", "Line.\n" * 50)
    for number in range(5):
        world.alices_agent.call("memory_append", memory_id=memory_id, text=f"More {number}.")
    memory_git.work()
    monkeypatch.setattr("shutil.which", lambda _name: None)
    call(world.operator, "memory_repository_maintain", repository_id=MemoryRepository.objects.get().pk)
    memory_git.work()
    monkeypatch.undo()
    assert memory_git.run("count-objects").startswith("0 objects") and memory_git.is_sound()
    assert memory_git.subjects()[-1] == "Append to Grows"


def test_rows_that_are_lost_are_made_anew_from_the_repository(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    memory_id = save("Deploy", "One.")
    world.alices_agent.call("memory_append", memory_id=memory_id, text="Two.")
    save("Other", project_id=world.workspace.pk, scope="")
    world.alices_agent.call("memory_archive", memory_id=memory_id)
    memory_git.work()

    def told() -> list[tuple[str, str, str, str, int]]:
        found = call(world.operator, "memory_repository_history", resource_id=memory_id).commits
        return [(one.commit, one.subject, one.operator, one.change, one.revision) for one in found]

    before, everything = told(), call(world.operator, "memory_repository_history").commits
    memory_git.off()
    GitSyncJob.objects.all().delete()
    MemoryRepository.objects.all().delete()
    assert not GitCommit.objects.exists()
    memory_git.on()
    assert told() == before
    again = call(world.operator, "memory_repository_history").commits
    assert [(one.commit, one.kind, one.origin, one.scopes) for one in again if one.scopes] == [
        (one.commit, one.kind, one.origin, one.scopes) for one in everything if one.scopes
    ]
    save("After")
    memory_git.work()
    assert memory_git.subjects()[-2:] == ["Archive Deploy", "Save After"]

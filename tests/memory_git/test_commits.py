"""Every closed operation becomes one commit, read here by genuine git."""

import pytest

from apps.memory_git.models import GitCommit, GitSyncJob, MemoryRepository
from tests.memory_git.conftest import Git, Saving
from tests.world import World

pytestmark = pytest.mark.django_db


def test_without_the_switch_there_is_no_repository_and_no_row(memory_git: Git, save: Saving, settings) -> None:
    """GIT-001, GIT-002."""
    save("Before")
    assert not list(settings.MEMORIES_FOLDER.rglob(".git"))
    assert not GitSyncJob.objects.exists() and not MemoryRepository.objects.exists()


def test_the_first_switching_on_makes_one_commit_of_what_is_there(memory_git: Git, save: Saving) -> None:
    """GIT-004."""
    save("One")
    save("Two")
    memory_git.on()
    assert memory_git.subjects() == ["Git baseline: 2 documents"]
    assert [name for name in memory_git.files() if name.endswith(".md")] and ".gitattributes" in memory_git.files()
    assert memory_git.is_sound()


def test_one_operation_is_one_commit_with_author_subject_and_trailers(memory_git: Git, save: Saving) -> None:
    """GIT-050, GIT-052, GIT-053."""
    memory_git.on(author_name="Memory Keeper", author_email="keeper@example.org")
    memory_id = save("Deploy", "How to deploy.\r\nStep two.")
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save Deploy"
    assert memory_git.run("log", "-1", "--format=%an <%ae>").strip() == "Memory Keeper <keeper@example.org>"
    trailers = memory_git.run("log", "-1", "--format=%(trailers:only,unfold)")
    row = GitCommit.objects.get(subject="Save Deploy")
    assert f"MemRelay-Operation: {row.operation_id}" in trailers and f"MemRelay-Memory: {memory_id}" in trailers
    assert "MemRelay-Caller: agent" in trailers
    path = memory_git.run("show", "--name-only", "--format=", "HEAD", "--", "*.md").strip()
    assert b"\r" not in memory_git.run("show", f"HEAD:{path}").encode()
    assert memory_git.is_sound()


def test_commits_follow_the_order_of_closing(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    memory_id = save("First")
    world.alices_agent.call("memory_append", memory_id=memory_id, text="More.")
    world.alices_agent.call("memory_archive", memory_id=memory_id)
    world.alices_agent.call("memory_delete", memory_id=memory_id)
    memory_git.work()
    assert memory_git.subjects()[1:] == ["Save First", "Append to First", "Archive First", "Delete First"]
    assert not [name for name in memory_git.files() if name.endswith(".md")]
    numbers = list(GitCommit.objects.order_by("position").values_list("position", flat=True))
    assert numbers == list(range(1, 6))


def test_working_twice_commits_nothing_twice(memory_git: Git, save: Saving) -> None:
    memory_git.on()
    save("Once")
    memory_git.work()
    GitSyncJob.objects.update(state="pending")
    memory_git.work()
    assert memory_git.subjects().count("Save Once") == 1
    assert set(GitSyncJob.objects.values_list("state", flat=True)) == {"completed"}

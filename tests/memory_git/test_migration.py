"""Changing the strategy, there and back, and a failure in the middle of it."""

from pathlib import Path

import pytest
from django.conf import settings

from apps.memory_git.migrating import moving as migrating
from apps.memory_git.models import GitCommit, GitDeed, MemoryRepository
from tests.memory_git.conftest import Git, Saving, git
from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def lived_in(memory_git: Git, save: Saving, world: World) -> dict[str, str]:
    """Three scopes with some history, in one repository; ids by name."""
    memory_git.on()
    ids = {"shared": save("Shared note")}
    ids["relay"] = save("Relay note", project_id=world.workspace.pk, scope="")
    ids["bob"] = world.bobs_agent.call("memory_save", title="Bob's own", body="Private.").memory_id
    world.alices_agent.call("memory_append", memory_id=ids["relay"], text="More.")
    world.alices_agent.call("memory_move", memory_id=ids["shared"], to_project_id=world.workspace.pk)
    memory_git.work()
    return ids


def change(world: World, strategy: str) -> GitDeed:
    plan = call(world.operator, "memory_repository_migrate_plan", strategy=strategy)
    assert plan.obstacles == []
    job = call(world.operator, "memory_repository_migrate", strategy=strategy, digest=plan.digest)
    migrating_job = GitDeed.objects.get(pk=job.job_id)
    Git(world).work()
    migrating_job.refresh_from_db()
    return migrating_job


def history(world: World, **asked: str) -> list[str]:
    return [commit.subject for commit in call(world.operator, "memory_repository_history", **asked).commits]


def test_there_and_back_keeps_every_commit_and_nests_nothing(
    memory_git: Git, save: Saving, world: World, lived_in: dict[str, str]
) -> None:
    """GIT-015, GIT-016, ACC-038."""
    project, memories = world.workspace.pk, Path(settings.MEMORIES_FOLDER)
    before = {key: history(world, resource_id=memory_id) for key, memory_id in lived_in.items()}
    text = memory_git.run(
        "show", f"HEAD:projects/{project}/memories/2026/11/relay-note.md".replace("2026/11", _month())
    )

    deed = change(world, "per_workspace")
    assert deed.state == "completed", deed.error
    assert not (memories / ".git").exists()
    roots = set(MemoryRepository.objects.filter(archived_at=None).values_list("root", flat=True))
    assert roots == {"global", "profiles/bob", f"projects/{project}"}
    assert {key: history(world, resource_id=memory_id) for key, memory_id in lived_in.items()} == before
    assert all(memory_git.is_sound(root) for root in roots)
    inside = f"HEAD:memories/{_month()}/relay-note.md"
    assert memory_git.run("show", inside, root=f"projects/{project}") == text
    save("Later", project_id=project, scope="")
    memory_git.work()
    assert memory_git.subjects(f"projects/{project}")[-1] == "Save Later"

    deed = change(world, "single")
    assert deed.state == "completed", deed.error
    assert [str(place.parent.relative_to(memories)) for place in memories.rglob(".git")] == ["."]
    assert memory_git.is_sound()
    assert {key: history(world, resource_id=memory_id) for key, memory_id in lived_in.items()} == before
    assert memory_git.subjects()[-1] == "Save Later"
    assert memory_git.subjects().count("Move Shared note") == 1
    save("At last")
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save At last"
    positions = GitCommit.objects.filter(listed=True).order_by("position").values_list("position", flat=True)
    assert list(positions) == list(range(1, len(positions) + 1))


def _month() -> str:
    from apps.base import clock

    return f"{clock.now():%Y/%m}"


def test_a_failure_in_the_middle_leaves_everything_as_it_was(
    memory_git: Git, save: Saving, world: World, lived_in: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT-017."""
    memories = Path(settings.MEMORIES_FOLDER)
    tip, told = memory_git.run("rev-parse", "HEAD"), history(world)

    def broken(*_arguments: object) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(migrating, "_make_it_count", broken)
    deed = change(world, "per_workspace")
    assert (deed.state, deed.error) == ("waiting", "the disk is full")
    assert memory_git.run("rev-parse", "HEAD") == tip and history(world) == told
    assert [str(place.parent.relative_to(memories)) for place in memories.rglob(".git")] == ["."]
    assert MemoryRepository.objects.count() == 1
    save("Saved meanwhile")
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save Saved meanwhile"
    monkeypatch.undo()
    GitDeed.objects.filter(pk=deed.pk).update(updated_at="2020-01-01T00:00:00Z")
    memory_git.work()
    deed.refresh_from_db()
    assert deed.state == "completed" and MemoryRepository.objects.filter(archived_at=None).count() == 3


def test_somebody_elses_repository_is_in_the_way(memory_git: Git, world: World, lived_in: dict[str, str]) -> None:
    """GIT-018."""
    folder = Path(settings.MEMORIES_FOLDER) / "projects" / world.workspace.pk
    git(folder, "init", "-q", ".")
    plan = call(world.operator, "memory_repository_migrate_plan", strategy="per_workspace")
    assert "projects/" in plan.obstacles[0]

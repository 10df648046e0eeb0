"""Repositories of workspaces: begun with them, left by what moves, closed to writes while a whole is restored."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.base.errors import MemRelayError
from apps.leases.services import slot
from apps.memories.jobs import run_here
from apps.memory_git.leasing import all_scopes, whole
from apps.memory_git.models import GitDeed, MemoryRepository
from tests.memory_git.conftest import Git, Saving, git
from tests.world import World, call

pytestmark = pytest.mark.django_db


def test_a_new_workspace_begins_with_a_repository_and_its_manifest(memory_git: Git, world: World) -> None:
    """GIT-045, ACC-033 (the local half)."""
    memory_git.on(strategy="per_workspace")
    project = world.workspace.pk
    memory_git.work()
    root = f"projects/{project}"
    assert memory_git.files(root) == [".gitattributes", ".gitignore", ".memrelay/scope.json"]
    assert memory_git.subjects(root) == ["Workspace created"]
    call(world.operator, "project_update", project_id=project, revision=1, description="What it is for.")
    memory_git.work()
    assert "What it is for." in memory_git.run("show", "HEAD:.memrelay/scope.json", root=root)
    name = MemoryRepository.objects.get(root=root).name
    call(world.operator, "project_update", project_id=project, revision=2, name="Another name")
    memory_git.work()
    assert MemoryRepository.objects.get(root=root).name == name and len(memory_git.subjects(root)) == 3


def test_a_memory_that_moves_leaves_one_repository_and_comes_into_the_other(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on(strategy="per_workspace")
    memory_id = save("Wanders")
    memory_git.work()
    world.alices_agent.call("memory_move", memory_id=memory_id, to_project_id=world.workspace.pk)
    memory_git.work()
    root = f"projects/{world.workspace.pk}"
    assert not [name for name in memory_git.files("global") if name.endswith(".md")]
    assert [name for name in memory_git.files(root) if name.endswith("wanders.md")]
    assert memory_git.subjects("global")[-1] == memory_git.subjects(root)[-1] == "Move Wanders"
    history = call(world.operator, "memory_repository_history", resource_id=memory_id).commits
    assert sorted(commit.change for commit in history) == ["added", "added", "deleted"]


def test_a_workspace_that_is_merged_leaves_its_history_in_the_archive(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on(strategy="per_workspace")
    other = call(world.operator, "project_create", name="Other").project_id
    save("Comes along", project_id=other, scope="")
    memory_git.work()
    call(world.operator, "project_merge", project_id=other, into=world.workspace.pk)
    memory_git.work()
    row = MemoryRepository.objects.get(scope_key=f"project/{other}")
    assert row.archived_at is not None and row.commits.filter(name="memory_save").exists()
    root = f"projects/{world.workspace.pk}"
    assert [name for name in memory_git.files(root) if name.endswith("comes-along.md")]
    assert memory_git.is_sound(root)
    archive = Path(settings.STATE_FOLDER) / "git-archive" / row.pk
    assert "comes-along" not in git(archive, "ls-tree", "-r", "--name-only", "HEAD")


def test_while_a_whole_is_worked_on_its_scopes_take_no_writes(memory_git: Git, save: Saving, world: World) -> None:
    """REL-013, REL-020, ACC-060."""
    memory_git.on()
    save("Before")
    memory_git.work()
    with whole(all_scopes(), work="snapshot restore"):
        with pytest.raises(MemRelayError) as refused:
            save("Meanwhile")
        assert refused.value.code == "SCOPE_BUSY" and refused.value.retryable
    save("Afterwards")
    memory_git.work()
    assert memory_git.subjects()[-1] == "Save Afterwards"


def test_a_repository_is_made_by_whoever_holds_the_slot(memory_git: Git, world: World) -> None:
    """Beside a change of strategy or a pass it could come to lie where another one is just being put."""
    memory_git.on(strategy="per_workspace")
    with slot("git"):
        with pytest.raises(MemRelayError) as refused:
            call(world.operator, "memory_repository_create", scope="library")
        assert refused.value.code == "GIT_AT_WORK" and refused.value.retryable
        assert not MemoryRepository.objects.filter(root="library").exists()
    made = call(world.operator, "memory_repository_create", scope="library")
    assert made.root == "library"
    assert call(world.operator, "memory_repository_create", scope="library").repository_id == made.repository_id


def test_a_baseline_waits_for_whoever_has_a_scope(memory_git: Git, save: Saving, world: World) -> None:
    save("Before")
    with whole(all_scopes(), work="ending"):
        memory_git.on()
    deed = GitDeed.objects.get(kind="baseline")
    told = call(world.operator, "git_settings_get")
    assert deed.state == "waiting" and told.preparing and told.problem
    save("Meanwhile")
    GitDeed.objects.update(updated_at="2020-01-01T00:00:00Z")
    memory_git.work()
    assert memory_git.subjects() == ["Git baseline: 2 documents", "Save Meanwhile"]
    assert not call(world.operator, "git_settings_get").problem


def test_an_import_is_one_commit(memory_git: Git, world: World, tmp_path: Path, settings: Any) -> None:
    """GIT-051."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(5):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nText.\n")
    settings.IMPORT_FOLDERS = [str(folder)]
    memory_git.on()
    job = call(world.operator, "memory_import", folder=str(folder), scope="shared")
    run_here(job.job_id)
    memory_git.work()
    assert memory_git.subjects()[1:] == ["Memory import: 5 documents"]

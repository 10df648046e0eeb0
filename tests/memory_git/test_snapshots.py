"""Everything as it was at a commit, and the end of a workspace's repository."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.base.errors import MemRelayError
from apps.leases.held import exclusive_key
from apps.leases.services import holding
from apps.memory_git.jobs import work_here
from apps.memory_git.models import GitDeed, MemoryRepository
from apps.memory_git.schemas import SnapshotPreview
from tests.memory_git.conftest import Git, Saving, git
from tests.world import World, call

pytestmark = pytest.mark.django_db


def preview(world: World, commit: str, repository_id: str) -> SnapshotPreview:
    return call(world.operator, "memory_snapshot_preview", repository_id=repository_id, commit=commit)


def restore(world: World, commit: str, repository_id: str) -> GitDeed:
    job = call(world.operator, "memory_snapshot_restore", repository_id=repository_id, commit=commit)
    work_here()
    return GitDeed.objects.get(pk=job.job_id)


def test_a_snapshot_comes_back_by_new_revisions_and_one_commit(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-062 to GIT-064, ACC-037."""
    agent = world.alices_agent
    memory_git.on()
    changed, deleted, archived = save("Changed", "Old text."), save("Deleted"), save("Archived")
    memory_git.work()
    then = call(world.operator, "memory_repository_history").commits[0]
    agent.call("memory_update", memory_id=changed, revision=1, body="New text.")
    agent.call("memory_delete", memory_id=deleted)
    agent.call("memory_archive", memory_id=archived)
    later = save("Later")
    memory_git.work()
    before = memory_git.subjects()

    deed = restore(world, then.commit, then.repository_id)
    assert deed.state == "completed", deed.error
    assert (deed.result["restored"], deed.result["deleted"]) == (3, 1)
    read = {key: agent.call("memory_get", memory_id=key) for key in (changed, deleted, archived)}
    assert read[changed].body.strip() == "Old text." and read[changed].revision == 3
    assert [one.status for one in read.values()] == ["active"] * 3
    with pytest.raises(MemRelayError):
        agent.call("memory_get", memory_id=later)
    assert memory_git.subjects() == [*before, "Memory snapshot restore: 4 documents"]
    files = memory_git.run("diff", "--name-status", then.commit, "HEAD").splitlines()
    assert all(line.startswith("M\t") and line.endswith(".md") for line in files)
    assert {hit.memory_id for hit in agent.call("memory_search", query="Old text").results} >= {changed}
    assert memory_git.is_sound()


def test_a_snapshot_is_told_before_it_is_restored(memory_git: Git, save: Saving, world: World) -> None:
    agent = world.alices_agent
    memory_git.on()
    names = ("changed", "gone", "active", "archived", "same")
    ids = {name: save(name.capitalize(), "Old text.") for name in names}
    agent.call("memory_archive", memory_id=ids["archived"])
    memory_git.work()
    then = call(world.operator, "memory_repository_history").commits[0]
    agent.call("memory_update", memory_id=ids["changed"], revision=1, body="New text.")
    agent.call("memory_delete", memory_id=ids["gone"])
    agent.call("memory_archive", memory_id=ids["active"])
    agent.call("memory_unarchive", memory_id=ids["archived"])
    later = save("Later")
    memory_git.work()
    before = memory_git.subjects()

    told = preview(world, then.commit, then.repository_id)
    expected = {
        later: "deleted",
        ids["archived"]: "archived",
        ids["changed"]: "changed",
        ids["active"]: "unarchived",
        ids["gone"]: "created",
    }
    assert {one.resource_id: one.change for one in told.documents} == expected
    assert [one.change for one in told.documents] == list(expected.values())  # What goes away stands first.
    counts = (told.changed, told.created, told.archived, told.unarchived, told.deleted)
    assert (counts, told.exact, told.waiting, told.obstacles) == ((1, 1, 1, 1, 1), True, 0, [])
    assert memory_git.subjects() == before and agent.call("memory_get", memory_id=later).title == "Later"

    deed = restore(world, then.commit, then.repository_id)
    assert (deed.result["restored"], deed.result["deleted"]) == (4, 1)
    found = {key: agent.call("memory_get", memory_id=key) for key in ids.values()}
    assert found[ids["archived"]].status == "archived" and found[ids["active"]].status == "active"
    assert not preview(world, then.commit, then.repository_id).documents


def test_a_preview_tells_what_is_in_the_way_and_of_very_many_counts_files(
    memory_git: Git, save: Saving, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_git.on()
    changed = save("Changed")
    memory_git.work()
    then = call(world.operator, "memory_repository_history").commits[0]
    world.alices_agent.call("memory_append", memory_id=changed, text="More.")
    save("Later")
    memory_git.work()
    save("Not committed yet")
    with holding(exclusive_key("global/shared"), kind="something"):
        told = preview(world, then.commit, then.repository_id)
    assert told.waiting == 1 and "worked on as a whole" in told.obstacles[0]
    monkeypatch.setattr("apps.memory_git.restoring.previewing.MOST_READ", 0)
    told = preview(world, then.commit, then.repository_id)
    assert (told.exact, told.changed, told.deleted, told.documents) == (False, 1, 1, [])


def test_a_preview_leaves_deleted_workspaces_out_and_is_for_administrators(
    memory_git: Git, save: Saving, world: World
) -> None:
    memory_git.on()
    project = world.workspace.pk
    save("Relay note", project_id=project, scope="")
    memory_git.work()
    then = call(world.operator, "memory_repository_history").commits[0]
    call(world.operator, "project_delete", project_id=project)
    memory_git.work()
    told = preview(world, then.commit, then.repository_id)
    assert (told.skipped_scopes, told.documents) == ([f"project/{project}"], [])
    deed = restore(world, then.commit, then.repository_id)
    assert (deed.result["skipped_scopes"], deed.result["restored"]) == ([f"project/{project}"], 0)
    with pytest.raises(MemRelayError):
        world.bobs_agent.call("memory_snapshot_preview", repository_id=then.repository_id, commit=then.commit)


def test_a_hostile_or_broken_tree_restores_nothing(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    save("Good")
    memory_git.work()
    folder = Path(settings.MEMORIES_FOLDER)
    git(folder, "read-tree", "HEAD")
    (folder / "global" / "evil.md").symlink_to("/etc/passwd")
    git(folder, "add", "-f", "global/evil.md")
    git(folder, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "Mine")
    (folder / "global" / "evil.md").unlink()
    save("After")
    memory_git.work()
    outside = call(world.operator, "memory_repository_history", kind="outside_commit").commits[0]
    deed = restore(world, outside.commit, outside.repository_id)
    assert (deed.state, deed.error_code) == ("failed", "UNSAFE_TREE") and "evil.md" in deed.error
    assert memory_git.subjects()[-1] == "Save After"


def test_a_foreign_file_out_of_order_is_left_alone_and_a_document_of_ours_never_lost(
    memory_git: Git, save: Saving, world: World, settings: Any
) -> None:
    """A cold start leaves such files in the tree: they must not keep every later snapshot from coming back."""
    memory_git.on()
    changed = save("Changed", "Old text.")
    memory_git.work()
    folder = Path(settings.MEMORIES_FOLDER)
    git(folder, "read-tree", "HEAD")
    foreign = git_object(folder, b"No head.")
    git(folder, "update-index", "--add", "--cacheinfo", f"100644,{foreign},global/memories/none.md")
    git(folder, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "Mine")
    save("After")
    memory_git.work()
    then = call(world.operator, "memory_repository_history").commits[0]
    world.alices_agent.call("memory_update", memory_id=changed, revision=1, body="New text.")
    memory_git.work()

    assert preview(world, then.commit, then.repository_id).changed == 1
    deed = restore(world, then.commit, then.repository_id)
    assert (deed.state, deed.result.get("restored"), deed.result.get("deleted")) == ("completed", 1, 0), deed.error
    assert "global/memories/none.md" in memory_git.files()

    world.alices_agent.call("memory_append", memory_id=changed, text="More.")
    memory_git.work()
    settings.IMPORT_FILE_BYTES = 10  # No document of ours can be read any more.
    with pytest.raises(MemRelayError, match="too large"):
        preview(world, then.commit, then.repository_id)
    assert restore(world, then.commit, then.repository_id).error_code == "UNSAFE_TREE"
    assert world.alices_agent.call("memory_get", memory_id=changed).title == "Changed"


def git_object(folder: Path, content: bytes) -> str:
    (folder / "object").write_bytes(content)
    return git(folder, "hash-object", "-w", "object").strip()


def test_a_deleted_workspaces_repository_moves_to_the_archive_and_is_read_there(
    memory_git: Git, save: Saving, world: World
) -> None:
    """GIT-065, GIT-066, ACC-040."""
    memory_git.on(strategy="per_workspace")
    project = world.workspace.pk
    memory_id = save("Relay note", "Kept.", project_id=project, scope="")
    memory_git.work()
    root = f"projects/{project}"
    repository = MemoryRepository.objects.get(root=root)
    assert repository.name.startswith("memrelay-relay-") and memory_git.is_sound(root)
    assert memory_git.subjects(root)[-1] == "Save Relay note"

    call(world.operator, "project_delete", project_id=project)
    memory_git.work()
    repository.refresh_from_db()
    archive = Path(settings.STATE_FOLDER) / "git-archive" / repository.pk
    assert repository.archived_at and not (Path(settings.MEMORIES_FOLDER) / root / ".git").exists()
    assert git(archive, "log", "--format=%s").splitlines()[0].startswith(("Project delete", "Delete", "Workspace"))
    history = call(world.operator, "memory_repository_history", repository_id=repository.pk)
    saved = next(commit for commit in history.commits if commit.kind == "memory_save")
    assert (
        call(world.operator, "memory_version_get", resource_id=memory_id, commit=saved.commit).body.strip() == "Kept."
    )
    again = world.alices_agent.call(
        "memory_version_restore", resource_id=memory_id, commit=saved.commit, to_scope="shared"
    )
    assert world.alices_agent.call("memory_get", memory_id=again.memory_id).body.strip() == "Kept."

    memory_git.work()
    shared = MemoryRepository.objects.get(root="global")
    with pytest.raises(MemRelayError, match="in use"):
        call(world.operator, "memory_repository_archive_purge", repository_id=shared.pk)
    call(world.operator, "memory_repository_archive_purge", repository_id=repository.pk)
    memory_git.work()
    assert not archive.exists() and not MemoryRepository.objects.filter(pk=repository.pk).exists()


def test_one_repository_for_each_workspace_space_and_the_library(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-013, GIT-019, GIT-045, D-19."""
    save("Shared note")
    world.bobs_agent.call("memory_save", title="Bob's own", body="Private.")
    memory_git.on(strategy="per_workspace")
    save("Relay note", project_id=world.workspace.pk, scope="")
    memory_git.work()
    rows = {row.root: row.name for row in MemoryRepository.objects.all()}
    assert set(rows) == {"global", "profiles/bob", f"projects/{world.workspace.pk}"}
    assert rows["global"] == "memrelay-global" and len(set(rows.values())) == 3
    assert "global/memories" in memory_git.files("profiles/bob")[-1]
    assert all(memory_git.is_sound(root) for root in rows)

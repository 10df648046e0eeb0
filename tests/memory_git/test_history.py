"""Commits, differences and versions, as callers ask for them; and that nobody sees what is not theirs."""

import pytest

from apps.base.errors import MemRelayError
from apps.memories.models import Scope
from tests.memory_git.conftest import Git, Saving
from tests.world import World, call

pytestmark = pytest.mark.django_db


def test_history_is_found_by_person_kind_workspace_document_and_time(
    memory_git: Git, save: Saving, world: World
) -> None:
    """GIT-060."""
    memory_git.on()
    first = save("Deploy")
    save("Relay note", project_id=world.workspace.pk, scope="")
    world.alices_agent.call("memory_append", memory_id=first, text="More.")
    world.bobs_agent.call("memory_save", title="Bob's own", body="Private.")
    memory_git.work()

    def subjects(**asked: str) -> list[str]:
        found = call(world.operator, "memory_repository_history", **asked)
        return [commit.subject for commit in found.commits]

    assert subjects(resource_id=first) == ["Append to Deploy", "Save Deploy"]
    assert subjects(project_id=world.workspace.pk)[0] == "Save Relay note"
    assert subjects(operator="bob's agent") == ["Save Bob's own"]
    assert subjects(kind="memory_append") == ["Append to Deploy"]
    assert subjects(origin="agent", kind="memory_save") == ["Save Bob's own", "Save Relay note", "Save Deploy"]
    assert subjects(since="2020-01-01", until="2020-12-31") == []
    assert subjects()[-1] == "Git baseline"


def test_pages_of_history_neither_repeat_nor_lose_a_commit(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    for number in range(5):
        save(f"Note {number}")
    memory_git.work()
    seen, cursor = [], ""
    while True:
        page = call(world.operator, "memory_repository_history", limit=2, cursor=cursor)
        seen += [commit.subject for commit in page.commits]
        if not (cursor := page.next_cursor):
            break
    assert seen == [*(f"Save Note {number}" for number in (4, 3, 2, 1, 0)), "Git baseline"]


def test_others_spaces_are_seen_in_no_answer(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    save("Everybody's")
    own = world.bobs_agent.call("memory_save", title="Bob's own", body="Private.").memory_id
    memory_git.work()
    carol = world.carols_reader
    history = carol.call("memory_repository_history")
    assert [commit.subject for commit in history.commits] == ["Save Everybody's"]
    bobs = call(world.operator, "memory_repository_history", resource_id=own).commits[0]
    repository = history.commits[0].repository_id
    for refused in (
        lambda: carol.call("memory_repository_commit_get", commit=bobs.commit),
        lambda: carol.call("memory_version_get", resource_id=own, commit=history.commits[0].commit),
        lambda: carol.call("memory_repository_diff", repository_id=repository, from_commit=bobs.commit),
    ):
        with pytest.raises(MemRelayError):
            refused()
    diff = carol.call("memory_repository_diff", repository_id=repository, from_commit=history.commits[0].commit)
    assert not any("profiles/" in file.path for file in diff.files)


def test_a_commit_tells_what_it_changed(memory_git: Git, save: Saving, world: World) -> None:
    memory_git.on()
    memory_id = save("Deploy", "One.\n")
    memory_git.work()
    world.alices_agent.call("memory_append", memory_id=memory_id, text="Two.")
    save("Other")
    memory_git.work()
    append = call(world.operator, "memory_repository_history", kind="memory_append").commits[0]
    told = call(world.operator, "memory_repository_commit_get", commit=append.commit)
    assert [(file.resource_id, file.change) for file in told.files] == [(memory_id, "modified")]
    assert "+Two." in told.files[0].difference and "MemRelay-Operation" in told.message
    diff = call(world.operator, "memory_repository_diff", repository_id=append.repository_id, from_commit=told.parent)
    assert {file.change for file in diff.files} == {"modified", "added"}
    only = call(
        world.operator, "memory_repository_diff", repository_id=append.repository_id, from_commit=told.parent,
        resource_id=memory_id,
    )  # fmt: skip
    assert len(only.files) == 1


def test_a_version_is_read_and_restored_as_a_new_revision(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-061, ACC-037."""
    agent = world.alices_agent
    memory_git.on()
    memory_id = save("Deploy", "Old text.")
    memory_git.work()
    old = call(world.operator, "memory_repository_history", resource_id=memory_id).commits[0]
    agent.call("memory_update", memory_id=memory_id, revision=1, body="New text.", title="Deploying")
    memory_git.work()
    version = agent.call("memory_version_get", resource_id=memory_id, commit=old.commit)
    assert (version.body.strip(), version.title, version.revision) == ("Old text.", "Deploy", 1)
    restored = agent.call("memory_version_restore", resource_id=memory_id, commit=old.commit[:10])
    assert restored.revision == 3
    read = agent.call("memory_get", memory_id=memory_id)
    assert (read.body.strip(), read.title) == ("Old text.", "Deploy")
    assert agent.call("memory_search", query="Old text").results[0].memory_id == memory_id
    memory_git.work()
    assert memory_git.subjects()[-3:] == ["Save Deploy", "Update Deploying", "Restore an older version of Deploy"]
    assert memory_git.is_sound()


def test_a_deleted_document_comes_back_from_its_history(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-069."""
    memory_git.on()
    memory_id = save("Deploy", "Old text.")
    memory_git.work()
    world.alices_agent.call("memory_delete", memory_id=memory_id)
    memory_git.work()
    kept = call(world.operator, "memory_repository_history", resource_id=memory_id).commits[-1]
    world.alices_agent.call("memory_version_restore", resource_id=memory_id, commit=kept.commit)
    assert world.alices_agent.call("memory_get", memory_id=memory_id).status == "active"
    memory_git.work()
    assert [name for name in memory_git.files() if name.endswith("deploy.md")]


def test_restoring_needs_the_switch_and_reading_does_not(memory_git: Git, save: Saving, world: World) -> None:
    """ACC-030, GIT-005."""
    memory_git.on()
    memory_id = save("Deploy")
    memory_git.work()
    row = call(world.operator, "memory_repository_history", resource_id=memory_id).commits[0]
    memory_git.off()
    assert call(world.operator, "memory_version_get", resource_id=memory_id, commit=row.commit).title == "Deploy"
    assert call(world.operator, "memory_repository_status").state == "disabled"
    with pytest.raises(MemRelayError, match="not switched on"):
        world.alices_agent.call("memory_version_restore", resource_id=memory_id, commit=row.commit)


def test_switching_on_again_makes_one_commit_of_what_changed(memory_git: Git, save: Saving, world: World) -> None:
    """GIT-006."""
    memory_git.on()
    first, second = save("One"), save("Two")
    memory_git.work()
    memory_git.off()
    world.alices_agent.call("memory_delete", memory_id=first)
    world.alices_agent.call("memory_append", memory_id=second, text="More.")
    save("Three")
    memory_git.work()
    assert len(memory_git.subjects()) == 3
    memory_git.on()
    assert memory_git.subjects()[-1] == "Git recovery: 3 documents"
    assert sorted(name.rpartition("/")[2] for name in memory_git.files() if name.endswith(".md")) == [
        "three.md",
        "two.md",
    ]
    memory_git.off()
    memory_git.on()
    assert len(memory_git.subjects()) == 4


def test_a_repository_tells_how_its_folder_stands_to_its_newest_commit(
    memory_git: Git, save: Saving, world: World
) -> None:
    """GIT-030."""

    def worktree() -> str:
        told = call(world.operator, "memory_repository_status").repositories
        assert [one.worktree for one in told] == [
            one.worktree for one in call(world.operator, "memory_repository_list").repositories
        ]
        return told[0].worktree

    memory_git.on()
    assert worktree() == "clean"
    save("Waits")
    assert worktree() == "uncommitted"
    Scope.objects.filter(key="global/shared").update(outside_pending=True)
    assert worktree() == "outside_changes"
    Scope.objects.update(outside_pending=False)
    memory_git.work()
    assert worktree() == "clean"

"""Ending workspaces and memory spaces: the page says what goes where, then does it."""

from typing import Any

import pytest
from django.test import Client

from apps.memories.models import Memory
from apps.workspaces.models import Project
from tests.console.looking import sent, text_of
from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def garden(world: World) -> Any:
    return call(world.operator, "project_create", name="Garden")


def test_a_workspace_is_merged_after_a_preview(world: World, alice: Client, garden: Any) -> None:
    for where in (world.workspace.pk, garden.project_id):
        call(world.operator, "memory_save", title="Plan", body="x", project_id=where)
    path = f"/workspace/{garden.project_id}/merge"
    assert path in text_of(alice, f"/workspace/{garden.project_id}/edit")
    page = text_of(alice, path)
    assert "Choose a workspace" in page
    assert "What would happen" not in page
    page = text_of(alice, path, into=world.workspace.pk)
    assert "Memories move to Relay." in page
    assert "<code>plan</code>" in page
    assert Project.objects.get(pk=garden.project_id).deleted_at is None
    page = sent(alice, path, into=world.workspace.pk)
    assert "“Garden” is gone." in page
    assert set(Memory.objects.values_list("scope_id", flat=True)) == {f"project/{world.workspace.pk}"}
    assert alice.get(f"/workspace/{garden.project_id}").status_code in (200, 404)
    assert "Merging" in text_of(alice, "/jobs")


def test_a_workspace_is_deleted_after_a_preview(world: World, alice: Client, garden: Any) -> None:
    call(world.operator, "memory_save", title="Plan", body="x", project_id=garden.project_id)
    path = f"/workspace/{garden.project_id}/delete"
    assert "Memories go to the trash." in text_of(alice, path)
    assert Memory.objects.get().status == "active"
    assert "“Garden” is gone." in sent(alice, path)
    assert Memory.objects.get().status == "deleted"
    assert "Garden" not in text_of(alice, "/workspaces").partition("<tbody>")[2]


def test_a_memory_space_in_use_says_where_its_memories_could_go(world: World, alice: Client) -> None:
    world.bobs_agent.call("memory_save", title="Tea", body="x")
    path = "/space/bob/delete"
    assert path in text_of(alice, "/space/bob/edit")
    assert "/space/shared/delete" not in text_of(alice, "/space/shared/edit")
    assert "still has" in text_of(alice, path) or "Nowhere" in text_of(alice, path)
    page = text_of(alice, path, migrate_to="shared")
    assert "What would happen" in page
    assert "is gone." in sent(alice, path, migrate_to="shared")
    assert Memory.objects.get().scope_id == "global/shared"
    assert alice.get("/space/none/delete").status_code == 404
    assert "notice-warning" in text_of(alice, "/space/shared/delete")


def test_members_end_nothing(world: World, bob: Client, garden: Any) -> None:
    for path in (
        f"/workspace/{garden.project_id}/delete",
        f"/workspace/{garden.project_id}/merge",
        "/space/bob/delete",
    ):
        assert bob.get(path).status_code == 403
        assert bob.post(path, {"into": world.workspace.pk}).status_code == 403
    assert Project.objects.get(pk=garden.project_id).deleted_at is None
    assert f"/workspace/{garden.project_id}/delete" not in text_of(bob, f"/workspace/{garden.project_id}/edit")

"""Several memories at once: each for itself, and what was refused is named."""

from typing import Any

import pytest
from django.test import Client

from apps.memories.models import Memory
from tests.console.looking import sent, text_of
from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def nights(world: World) -> list[Any]:
    return [call(world.operator, "memory_save", title=f"Night {n}", body="x", tags=["old"]) for n in range(3)]


def ticked(saved: list[Any]) -> list[str]:
    return [f"{one.memory_id}:{one.revision}" for one in saved]


def statuses() -> list[str]:
    return list(Memory.objects.order_by("pk").values_list("status", flat=True))


def test_those_ticked_are_archived_and_brought_back(alice: Client, nights: list[Any]) -> None:
    listed = text_of(alice, "/memories", kind="note")
    assert f'value="{ticked(nights)[0]}"' in listed
    assert 'name="next" value="/memories?kind=note"' in listed
    page = sent(alice, "/memories/bulk", memory=ticked(nights[:2]), action="archive", next="/memories?kind=note")
    assert "2 memories are archived." in page
    assert statuses() == ["archived", "archived", "active"]
    archived = text_of(alice, "/memories", status="archived")
    assert 'value="unarchive"' in archived
    assert 'value="archive"' not in archived
    page = sent(alice, "/memories/bulk", memory=[f"{one.memory_id}:2" for one in nights[:2]], action="unarchive")
    assert "2 memories are back from the archive." in page
    assert statuses() == ["active"] * 3


def test_tags_are_added_to_those_there_are(world: World, alice: Client, nights: list[Any]) -> None:
    call(world.operator, "memory_update", memory_id=nights[0].memory_id, revision=1, tags=["old", "since"])
    page = sent(alice, "/memories/bulk", memory=ticked(nights[:2]), action="tag", tags="new，old")
    assert "2 memories have the tags now." in page
    assert [row.tags for row in Memory.objects.order_by("pk")] == [["old", "since", "new"], ["old", "new"], ["old"]]


def test_what_is_refused_keeps_nothing_else_back(world: World, alice: Client, nights: list[Any]) -> None:
    call(world.operator, "memory_update", memory_id=nights[1].memory_id, revision=1, body="Newer.")
    page = sent(alice, "/memories/bulk", memory=[*ticked(nights), "mem_none:1"], action="archive")
    assert "Not all of them are archived" in page
    assert "2 memories stayed as they were" in page
    assert "Somebody changed it in the meantime." in page.partition("Night 1")[2]
    assert "2 memories are done" in page
    assert statuses() == ["archived", "active", "archived"]


def test_nothing_ticked_and_no_tags_do_nothing(alice: Client, nights: list[Any]) -> None:
    assert "Tick the memories" in sent(alice, "/memories/bulk", action="archive")
    assert "Say which tags to add." in sent(alice, "/memories/bulk", memory=ticked(nights), action="tag", tags=" ，")
    assert statuses() == ["active"] * 3


def test_too_many_at_once_are_left_alone(alice: Client, nights: list[Any]) -> None:
    many = [*ticked(nights), *(f"mem_none{n}:1" for n in range(60))]
    assert "At most 50 are done at once." in sent(alice, "/memories/bulk", memory=many, action="archive")


def test_nobody_reaches_what_belongs_to_another(world: World, bob: Client) -> None:
    call(world.operator, "usage_profile_save", profile_id="carol", name="Carol")
    hers = world.agent("carol", profile_id="carol").call("memory_save", title="A secret plan", body="Cake.")
    page = sent(bob, "/memories/bulk", memory=ticked([hers]), action="archive")
    assert "A secret plan" not in page
    assert statuses() == ["active"]

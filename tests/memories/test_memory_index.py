"""``memory_index_get``: one line a memory, the last changed first, the rest counted (OHM-050..052)."""

import re
from typing import Any

import pytest
from django.utils import translation

from apps.memories.models import Memory
from tests.world import World, call

pytestmark = pytest.mark.django_db


def index(world: World, **more: Any) -> Any:
    return world.bobs_agent.call("memory_index_get", **more)


def save_many(world: World, count: int, **more: Any) -> None:
    for start in range(0, count, 100):
        numbers = range(start, min(start + 100, count))
        items = [{"title": f"Note {number}", "body": "x", "summary": "Said in short."} for number in numbers]
        world.bobs_agent.call("memory_save_many", memories=items, **more)


def test_each_memory_is_one_line_and_the_last_changed_comes_first(world: World) -> None:
    tea = world.bobs_agent.call("memory_save", title="Tea", body="x", summary="Green,\nno sugar.", scope="global")
    world.bobs_agent.call("memory_save", title="Deploys", body="x", kind="rule", scope="shared")
    world.bobs_agent.call("memory_append", memory_id=tea.memory_id, text="More.")
    text = index(world).text.splitlines()
    assert text[1:] == [f"- Tea: Green, no sugar. ({tea.memory_id})", text[2]]
    assert re.fullmatch(r"- rule: Deploys \(mem_\w{26}\)", text[2])
    assert "memory_get" in text[0]


def test_what_does_not_fit_is_counted(world: World, settings: Any) -> None:
    save_many(world, 130, scope="global")
    whole = index(world)
    assert len(whole.text) <= 4000 and whole.shown + whole.left_out == 130 and whole.left_out > 0
    assert whole.text.endswith(f"\n{whole.left_out} more: memory_search finds them.")
    assert whole.text.count("\n- ") == whole.shown > 40
    assert "- Note 129:" in whole.text and "- Note 1:" not in whole.text
    settings.INDEX_CHARACTERS = 300
    short = index(world)
    assert len(short.text) <= 300 and 0 < short.shown and short.shown + short.left_out == 130
    settings.INDEX_CHARACTERS = 0
    assert (index(world).text, index(world).left_out) == ("", 130)


def test_of_very_many_the_rest_is_counted_to_a_thousand(world: World) -> None:
    save_many(world, 1100, scope="global")
    found = index(world)
    assert found.text.endswith(f"\nAt least {found.left_out} more: memory_search finds them.")
    assert found.left_out + found.shown == 1000


def test_without_any_there_are_two_lines_that_say_when_to_save_one(world: World) -> None:
    lines = index(world).text.splitlines()
    assert len(lines) == 2 and "memory_save" in lines[1]
    with translation.override("zh-hans"):
        assert "memory_save" in index(world).text.splitlines()[1]


def test_only_what_the_caller_may_see_and_nothing_withheld_put_away_or_deleted(world: World) -> None:
    project = world.workspace.pk
    kept = {}
    for title, where in (
        ("Own", {"scope": "global"}),
        ("Team's", {"scope": "shared"}),
        ("Work", {"project_id": project}),
    ):
        kept[title] = world.bobs_agent.call("memory_save", title=title, body="x", **where)
    secret = world.bobs_agent.call("memory_save", title="Key", body="x", scope="shared")
    Memory.objects.filter(stable_id=secret.memory_id).update(withheld=True)
    for title, deed in (("Old", "memory_archive"), ("Gone", "memory_delete")):
        saved = world.bobs_agent.call("memory_save", title=title, body="x", scope="shared")
        world.bobs_agent.call(deed, memory_id=saved.memory_id, **({"revision": 1} if deed == "memory_archive" else {}))
    world.bobs_agent.call("checkpoint_save", completed="Not a memory.", scope="global")

    def titles(who: Any, **more: Any) -> list[str]:
        return re.findall(r"^- (.+) \(mem_", who.call("memory_index_get", **more).text, re.MULTILINE)

    assert titles(world.bobs_agent) == ["Team's", "Own"]
    assert titles(world.bobs_agent, project_id=project) == ["Work", "Team's", "Own"]
    assert titles(world.carols_reader) == ["Team's"]
    assert titles(world.doras_agent) == ["Work", "Team's"]


def test_it_is_served_over_rest_and_costs_few_queries(world: World, django_assert_max_num_queries: Any) -> None:
    save_many(world, 200, scope="global")
    answer = world.bobs_agent.rest.get("/memories/index")
    assert answer.status_code == 200 and answer.json()["text"] == index(world).text
    caller = world.bobs_agent.caller
    with django_assert_max_num_queries(2):
        call(caller, "memory_index_get")

"""``memory_links``: where the links of a memory lead, and what leads to it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.world import World, call

pytestmark = pytest.mark.django_db


def saved(world: World, title: str, body: str = "x", **more: Any) -> Any:
    return call(world.operator, "memory_save", title=title, body=body, **more)


def links_of(who: Any, memory: Any, **more: Any) -> Any:
    return call(who, "memory_links", memory_id=memory.memory_id, **more)


def ends_of(links: Any) -> dict[str, str | None]:
    return {link.target: link.memory and link.memory.memory_id for link in links.links_to}


def sources_of(links: Any) -> list[str]:
    return [source.title for source in links.linked_from]


def test_a_link_leads_by_title_slug_path_permalink_and_id(world: World) -> None:
    there = saved(world, "Release checklist", project_id=world.workspace.pk)
    names = [
        "Release checklist",
        "release-checklist",
        there.path,
        there.path.removesuffix(".md"),
        f"projects/{world.workspace.pk}/release-checklist",
        there.memory_id,
    ]
    here = saved(world, "Runbook", "\n".join(f"[[{name}]]" for name in names), project_id=world.workspace.pk)
    links = links_of(world.operator, here)
    assert ends_of(links) == dict.fromkeys(names, there.memory_id)
    assert links.is_whole
    back = links_of(world.operator, there)
    assert sources_of(back) == ["Runbook"]
    assert back.links_to == []


def test_a_link_to_nothing_leads_there_once_it_is_written(world: World) -> None:
    here = saved(world, "Runbook", "See [[部署流程]].")
    assert ends_of(links_of(world.operator, here)) == {"部署流程": None}
    there = saved(world, "部署流程")
    assert ends_of(links_of(world.operator, here)) == {"部署流程": there.memory_id}
    assert sources_of(links_of(world.operator, there)) == ["Runbook"]


def test_an_old_name_still_leads(world: World) -> None:
    there = saved(world, "Tea")
    saved(world, "Kitchen", "[[Tea]] is there.")
    call(world.operator, "memory_update", memory_id=there.memory_id, revision=1, title="Green tea", body="x")
    assert sources_of(links_of(world.operator, there)) == ["Kitchen"]


def test_the_nearest_of_two_names_is_meant(world: World) -> None:
    team, ours = saved(world, "Plan"), saved(world, "Plan", project_id=world.workspace.pk)
    at_work = saved(world, "Notes", "[[Plan]]", project_id=world.workspace.pk)
    at_home = saved(world, "Diary", "[[Plan]]")
    assert ends_of(links_of(world.operator, at_work)) == {"Plan": ours.memory_id}
    assert ends_of(links_of(world.operator, at_home)) == {"Plan": team.memory_id}
    assert sources_of(links_of(world.operator, ours)) == ["Notes"]
    assert sources_of(links_of(world.operator, team)) == ["Diary"]


def test_deleted_ends_and_what_belongs_to_another_do_not_exist(world: World) -> None:
    there = saved(world, "Shared plan")
    hers = world.bobs_agent.call("memory_save", title="Mine alone", body="[[Shared plan]]")
    here = saved(world, "Runbook", f"[[Mine alone]] [[{hers.memory_id}]] [[Gone]]")
    gone = saved(world, "Gone", "[[Shared plan]]")
    call(world.operator, "memory_delete", memory_id=gone.memory_id)
    stranger = world.carols_reader
    assert set(ends_of(stranger.call("memory_links", memory_id=here.memory_id)).values()) == {None}
    assert sources_of(stranger.call("memory_links", memory_id=there.memory_id)) == []
    assert sources_of(world.bobs_agent.call("memory_links", memory_id=there.memory_id)) == ["Mine alone"]
    assert stranger.rest.get(f"/memories/{hers.memory_id}/links").status_code == 404


def test_many_links_cost_no_more_queries_and_are_cut(world: World) -> None:
    def asked(number: int) -> int:
        here = saved(world, f"Hub {number}", " ".join(f"[[Target {number} {n}]]" for n in range(number)))
        with CaptureQueriesContext(connection) as queries:
            links = links_of(world.operator, here)
        assert len(links.links_to) == min(number, 50)
        assert links.is_whole is (number <= 50)
        return len(queries)

    assert asked(1) == asked(60)
    there = saved(world, "Centre")
    for number in range(4):
        saved(world, f"Ray {number}", "[[Centre]]")
    cut = links_of(world.operator, there, limit=3)
    assert sources_of(cut) == ["Ray 3", "Ray 2", "Ray 1"]
    assert not cut.is_whole


def test_a_link_said_twice_is_one_and_one_in_code_is_none(world: World) -> None:
    here = saved(world, "Twice", "[[A]] and [[A|again]] but not `[[B]]`, nor [[#heading]]; itself: [[Twice]]")
    links = links_of(world.operator, here)
    assert ends_of(links) == {"A": None, "Twice": here.memory_id}
    assert links.linked_from == []

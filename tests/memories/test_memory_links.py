"""``memory_links``: where the links of a memory lead, and what leads to it."""

import unicodedata
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


def test_a_slug_comes_before_another_memorys_title_and_path(world: World) -> None:
    slugged = saved(world, "Tea")
    other = saved(world, "Kettle", path="tea.md")
    here = saved(world, "Kitchen", "[[tea]] and [[memories/tea]]")
    assert ends_of(links_of(world.operator, here)) == {"tea": slugged.memory_id, "memories/tea": other.memory_id}


@pytest.mark.parametrize("written", ["C++ rules", "c rules", "C-Rules", "c++ RULES#Naming", "C++ rules|ours"])
def test_whatever_the_way_a_name_is_written_both_ends_know_of_it(world: World, written: str) -> None:
    there = saved(world, "C++ rules!")
    here = saved(world, "Runbook", f"See [[{written}]].")
    assert list(ends_of(links_of(world.operator, here)).values()) == [there.memory_id]
    assert sources_of(links_of(world.operator, there)) == ["Runbook"]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_both_unicode_forms_of_a_name_are_one(world: World, form: Any) -> None:
    there = saved(world, unicodedata.normalize("NFC", "01_ナレッジベース Übung"))
    here = saved(world, "Runbook", f"[[{unicodedata.normalize(form, '01_ナレッジベース Übung')}]]")
    assert list(ends_of(links_of(world.operator, here)).values()) == [there.memory_id]
    assert sources_of(links_of(world.operator, there)) == ["Runbook"]


def test_a_title_with_a_slash_and_one_without_a_letter_are_found(world: World) -> None:
    slash, sign, other = saved(world, "CI/CD rules"), saved(world, "🎉"), saved(world, "🚀")
    here = saved(world, "Runbook", "[[CI/CD rules]] [[🎉]] [[🚀]] [[🧨]]")
    assert ends_of(links_of(world.operator, here)) == {
        "CI/CD rules": slash.memory_id,
        "🎉": sign.memory_id,
        "🚀": other.memory_id,
        "🧨": None,
    }
    assert sources_of(links_of(world.operator, slash)) == sources_of(links_of(world.operator, sign)) == ["Runbook"]


def test_a_new_title_leads_too(world: World) -> None:
    there = saved(world, "Tea")
    call(world.operator, "memory_update", memory_id=there.memory_id, revision=1, title="Green tea")
    here = saved(world, "Kitchen", "[[Tea]] is [[green tea]].")
    assert set(ends_of(links_of(world.operator, here)).values()) == {there.memory_id}
    assert sources_of(links_of(world.operator, there)) == ["Kitchen"]


def test_a_move_breaks_no_link(world: World) -> None:
    there = saved(world, "Tea", project_id=world.workspace.pk)
    near = saved(world, "Kitchen", "[[Tea]]", project_id=world.workspace.pk)
    other = call(world.operator, "project_create", name="Elsewhere")
    saved(world, "Tea", scope="shared")
    call(world.operator, "memory_move", memory_id=there.memory_id, to_project_id=other.project_id)
    assert ends_of(links_of(world.operator, near)) == {"Tea": there.memory_id}
    assert sources_of(links_of(world.operator, there)) == ["Kitchen"]
    call(world.operator, "memory_move", memory_id=there.memory_id, to_project_id=world.workspace.pk)
    assert ends_of(links_of(world.operator, near)) == {"Tea": there.memory_id}


def test_a_plain_name_leads_into_no_other_workspace_but_a_whole_address_does(world: World) -> None:
    other = call(world.operator, "project_create", name="Elsewhere")
    there = saved(world, "Tea", project_id=other.project_id)
    whole = f"projects/{other.project_id}/tea"
    here = saved(world, "Kitchen", f"[[Tea]] [[{whole}]] [[{there.memory_id}]]", project_id=world.workspace.pk)
    assert ends_of(links_of(world.operator, here)) == {
        "Tea": None,
        whole: there.memory_id,
        there.memory_id: there.memory_id,
    }
    assert sources_of(links_of(world.operator, there)) == ["Kitchen"]


def test_a_link_ends_with_its_memory_and_comes_back_with_it(world: World) -> None:
    there = saved(world, "Tea")
    here = saved(world, "Kitchen", "[[Tea]]")
    call(world.operator, "memory_delete", memory_id=there.memory_id)
    assert ends_of(links_of(world.operator, here)) == {"Tea": None}
    call(world.operator, "memory_restore", memory_id=there.memory_id)
    assert ends_of(links_of(world.operator, here)) == {"Tea": there.memory_id}
    call(world.operator, "memory_delete", memory_id=here.memory_id)
    assert sources_of(links_of(world.operator, there)) == []

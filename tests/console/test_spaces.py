"""Memory spaces, the timeline, links and moving, as pages."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.profiles.models import Profile
from tests.console.looking import sent, text_of
from tests.world import World, call

pytestmark = pytest.mark.django_db


def saved(world: World, title: str, body: str = "x", **more: Any) -> Any:
    return call(world.operator, "memory_save", title=title, body=body, **more)


def test_a_memory_space_is_made_changed_and_disabled(alice: Client) -> None:
    page = sent(alice, "/spaces/new", name="Lin Xiao", profile_id="", description="Short answers.")
    assert "The memory space “Lin Xiao” is made." in page
    assert "<code>lin-xiao</code>" in page
    assert "Lin Xiao" in text_of(alice, "/spaces")
    page = sent(alice, "/space/lin-xiao/edit", name="Lin", description="")
    assert "“Lin” is saved." in page
    assert "Disabled" in page
    assert "Choose tokens" not in page
    assert Profile.objects.get(pk="lin-xiao").description == ""
    assert 'name="enabled"' in text_of(alice, "/space/lin-xiao/edit")
    assert 'name="enabled"' not in text_of(alice, "/space/shared/edit")
    assert alice.get("/space/none").status_code == 404


def test_a_new_space_changes_no_other_one(alice: Client) -> None:
    page = sent(alice, "/spaces/new", name="Mine", profile_id="shared", description="")
    assert "Another memory space has this short name." in page
    assert Profile.objects.get(pk="shared").name != "Mine"
    assert "aria-invalid" in sent(alice, "/spaces/new", name="Mine", profile_id="Not Good", description="")


def test_tokens_are_bound_and_given_back(world: World, alice: Client) -> None:
    assert "No tokens yet" in text_of(alice, "/space/shared/tokens")
    world.agent("laptop", profile_id=world.bobs_space.pk)
    world.agent("desk")
    page = text_of(alice, "/space/bob/tokens")
    assert "laptop (now: Bob)" in page
    token_ids = {token.name: token.pk for token in world.bobs_space.tokens.model.objects.all()}
    page = sent(alice, "/space/bob/tokens", token_ids=[token_ids["desk"]], save="1")
    assert "The tokens of “Bob” are saved." in page
    assert "<li>desk</li>" in page
    assert "laptop" not in page
    assert "laptop" in text_of(alice, "/space/shared")


def test_a_member_sees_spaces_and_looks_into_their_own(world: World, bob: Client) -> None:
    call(world.operator, "usage_profile_save", profile_id="carol", name="Carol")
    carol = world.agent("carol", profile_id="carol")
    carol.call("memory_save", title="A secret plan", body="Cake.")
    world.bobs_agent.call("memory_save", title="Tea", body="x")
    listed = text_of(bob, "/spaces")
    assert "Carol" in listed
    assert "/spaces/new" not in listed
    assert "bob's agent" not in listed
    assert "Tea" not in text_of(bob, "/space/bob")
    assert "Tea" in sent(bob, "/profile", profile="bob", next="/space/bob")
    page = text_of(bob, "/space/carol")
    assert "A secret plan" not in page
    assert "Only its own people and administrators" in page
    for path in ("/spaces/new", "/space/bob/edit", "/space/bob/tokens"):
        assert bob.get(path).status_code == 403
        assert bob.post(path, {"name": "x"}).status_code == 403
    assert bob.get("/timeline?project_id=global/carol").status_code == 404


def test_an_administrator_narrows_lists_to_any_space(world: World, alice: Client, bob: Client) -> None:
    world.bobs_agent.call("memory_save", title="Tea", body="x")
    assert 'value="global/bob"' in text_of(alice, "/memories")
    assert 'value="global/bob"' not in text_of(bob, "/memories")
    assert "Tea" in text_of(alice, "/memories", project_id="global/bob")
    assert "Tea" not in text_of(alice, "/memories", project_id="global")
    assert "Tea" in text_of(alice, "/memories", project_id="global/bob", query="tea")


# ----------------------------------------------------------------------------------------------------------------- timeline


def test_a_timeline_tells_every_step_and_leads_to_it(world: World, alice: Client) -> None:
    here = {"project_id": world.workspace.pk}
    tea = saved(world, "Tea", **here)
    call(world.operator, "memory_update", memory_id=tea.memory_id, revision=1, body="Green.", reason="Healthier.")
    call(world.operator, "checkpoint_save", title="Half way", completed="x", **here)
    call(
        world.operator,
        "memory_save_many",
        memories=[{"title": f"Night {n}", "body": "x"} for n in range(13)],
        **here,
    )
    page = text_of(alice, "/timeline", **here)
    assert "Healthier." in page
    assert f'href="/memory/{tea.memory_id}/history/2"' in page
    assert f"/memory/{tea.memory_id}/difference?old=1&amp;new=2" in page
    assert "13 changes" in page
    assert "and 3 more" in page
    assert "Half way" in page
    assert "Tea" not in text_of(alice, "/timeline")
    part = alice.get("/timeline", here, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "Nothing happened in that time" in text_of(alice, "/timeline", **here, until="2020-01-01")


@pytest.mark.parametrize("query", ["since=whenever", "cursor=broken"])
def test_a_timeline_by_a_broken_address_starts_anew(alice: Client, query: str) -> None:
    assert alice.get(f"/timeline?{query}").headers["Location"] == "/timeline"


def test_a_long_timeline_asks_no_more_often_than_a_short_one(world: World, alice: Client) -> None:
    def asked(rows: int, first: int) -> int:
        for number in range(rows):
            saved(world, f"Night {first + number}")
        with CaptureQueriesContext(connection) as queries:
            text_of(alice, "/timeline")
        return len(queries)

    asked(1, 0)
    assert asked(1, 1) == asked(8, 2)


# ------------------------------------------------------------------------------------------------------------ links, moving


def test_a_memory_shows_its_links_in_both_directions(world: World, alice: Client) -> None:
    here = {"project_id": world.workspace.pk}
    team = saved(world, "Plan")
    plan = saved(world, "Plan", **here)
    notes = saved(world, "Notes", "See [[Plan]] and [[Nowhere]].", **here)
    page = text_of(alice, f"/memory/{notes.memory_id}")
    assert page.count(f'href="/memory/{plan.memory_id}"') == 2  # In the text and beside it.
    assert team.memory_id not in page
    assert "Not written yet" in page
    assert (
        f'href="/memory/{notes.memory_id}"' in text_of(alice, f"/memory/{plan.memory_id}").partition("Linked from")[2]
    )
    assert "Linked from" not in text_of(alice, f"/memory/{team.memory_id}")


def test_a_memory_moves_where_it_is_told(world: World, alice: Client, bob: Client) -> None:
    tea = saved(world, "Tea")
    path = f"/memory/{tea.memory_id}/move"
    page = text_of(alice, path)
    assert 'value="global"' not in page
    assert f'value="{world.workspace.pk}"' not in page  # It was not there yet.
    assert world.workspace.name == "Relay"
    page = sent(alice, path, to=world.workspace.pk, reason="It is about work.", revision=1)
    assert "“Tea” is in Relay now." in page
    assert "It is about work." in text_of(alice, f"/memory/{tea.memory_id}/history")
    page = sent(alice, path, to="global", reason="", revision=1)
    assert "Somebody changed it in the meantime." in page
    assert "aria-invalid" in sent(alice, path, to="nowhere", reason="", revision=2)
    assert alice.get("/memory/none/move").status_code == 404

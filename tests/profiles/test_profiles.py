"""usage_profile_list and usage_profile_save (WS-038..041, WS-047, MCP-043, MCP-044)."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import McpToken
from apps.base import clock
from apps.changes.models import Change
from apps.profiles.models import Profile


def names(answer):
    return [profile["profile_id"] for profile in answer.json()["profiles"]]


def test_an_instance_begins_with_shared_alone(world):
    """WS-040, WS-041."""
    assert names(world.carols_reader.rest.get("/curation/profiles")) == ["shared"]


def test_a_space_is_made_and_changed_and_what_is_left_out_stays(world):
    rest = world.alices_agent.rest
    made = rest.post("/curation/profiles", profile_id="eve", name="Eve", description="Her habits")
    assert made.status_code == 201 and made.json()["enabled"] is True
    changed = rest.patch("/curation/profiles/eve", name="Eve B.")
    assert changed.status_code == 200
    assert (changed.json()["name"], changed.json()["description"]) == ("Eve B.", "Her habits")
    assert changed.json()["updated_at"] > made.json()["updated_at"]
    assert names(rest.get("/curation/profiles")) == ["eve", "shared"]


@pytest.mark.parametrize(
    ("name", "profile_id"), [("Eve Example", "eve-example"), ("CON", "con-name"), ("Shared", "shared-2")]
)
def test_a_space_without_an_id_gets_a_readable_one(world, name, profile_id):
    assert world.alices_agent.call("usage_profile_save", name=name).profile_id == profile_id


def test_a_name_without_latin_letters_gets_an_opaque_id(world):
    made = world.alices_agent.call("usage_profile_save", name="小明")
    assert made.name == "小明" and made.profile_id.startswith("space-") and made.profile_id.isascii()
    again = world.alices_agent.rest.patch(f"/curation/profiles/{made.profile_id}", description="d")
    assert again.status_code == 200, again.content


@pytest.mark.parametrize("profile_id", ["Eve", "../up", "a/b", "", "-a", "a-", "é", "con", "a" * 65, "a b", "a\n"])
def test_an_id_that_is_no_folder_name_is_refused(world, profile_id):
    refused = world.alices_agent.rest.post("/curation/profiles", profile_id=profile_id, name="Eve")
    assert refused.status_code == 422
    assert "profile_id" in refused.json()["error"]["facts"]["fields"]
    assert Profile.objects.count() == 1


def test_a_new_space_needs_a_name(world):
    for fields in ({}, {"profile_id": "eve"}, {"name": "\u202a"}):
        assert "name" in world.alices_agent.rest.post("/curation/profiles", fields).json()["error"]["facts"]["fields"]


def test_shared_can_be_renamed_and_neither_disabled_nor_deleted(world):
    """WS-040. The database holds it too, whoever writes."""
    rest = world.alices_agent.rest
    assert rest.patch("/curation/profiles/shared", name="Our team", enabled=True).json()["name"] == "Our team"
    refused = rest.patch("/curation/profiles/shared", enabled=False)
    assert refused.status_code == 409 and refused.json()["error"]["code"] == "SHARED_PROFILE_STAYS"
    with pytest.raises(IntegrityError), transaction.atomic():
        Profile.objects.filter(pk="shared").update(enabled=False)
    console = world.at_the_console(world.alice)
    assert console.client.post("/admin/profiles/profile/shared/delete/", {"post": "yes"}).status_code == 403
    assert Profile.objects.filter(pk="shared").exists()


def test_only_administrators_save_spaces(world):
    for agent in (world.bobs_agent, world.carols_reader):
        assert agent.rest.patch("/curation/profiles/shared", name="Mine").status_code == 403
    assert Profile.objects.get(pk="shared").name == "Shared"


def test_saving_can_bind_a_token(world):
    """MCP-044."""
    token_id = world.carols_reader.caller.token_id
    saved = world.alices_agent.call("usage_profile_save", profile_id="carol", name="Carol", token_id=token_id)
    assert [token.name for token in saved.tokens] == ["carol's reader"]
    assert world.carols_reader.caller.profile == "carol"


def test_an_unknown_token_saves_nothing(world):
    refused = world.alices_agent.rest.post("/curation/profiles", profile_id="eve", name="Eve", token_id="tok_nobody")
    assert refused.status_code == 404
    assert not Profile.objects.filter(pk="eve").exists()


def test_a_disabled_space_takes_no_new_token_and_leaves_the_old_one_alone(world):
    """A profile attributes and selects; it takes no right away (WS-047)."""
    agent = world.bobs_agent
    world.alices_agent.call("usage_profile_save", profile_id="bob", enabled=False)
    assert agent.rest.get("/projects").status_code == 200
    refused = world.alices_agent.rest.post("/tokens", name="late", profile_id="bob")
    assert refused.status_code == 409 and refused.json()["error"]["code"] == "PROFILE_DISABLED"
    assert "bob" not in names(world.alices_agent.rest.get("/curation/profiles", with_disabled="false"))


def test_a_space_tells_its_tokens_and_when_its_own_memories_changed(world):
    """MCP-043. The tokens are for administrators to know."""
    agent = world.bobs_agent
    Change.objects.create(
        kind="memory.saved",
        scope_key="global/bob",
        resource="memory",
        stable_id="m",
        origin="agent",
        actor="a",
        at=clock.now(),
    )
    listed = world.alices_agent.call("usage_profile_list").profiles
    bob = next(profile for profile in listed if profile.profile_id == "bob")
    assert bob.changes == 1 and bob.last_changed_at is not None
    assert [token.token_id for token in bob.tokens] == [agent.caller.token_id]
    assert all(not profile.tokens for profile in agent.call("usage_profile_list").profiles)
    McpToken.objects.filter(pk=agent.caller.token_id).update(revoked_at=clock.now())
    listed = world.alices_agent.call("usage_profile_list").profiles
    assert not next(profile for profile in listed if profile.profile_id == "bob").tokens


def test_the_list_costs_three_queries_however_long_it_is(world):
    for number in range(10):
        Profile.objects.create(pk=f"p{number}", name="P")
    caller = world.alices_agent.caller
    from tests.world import call

    with CaptureQueriesContext(connection) as queries:
        call(caller, "usage_profile_list")
    assert len(queries) == 3

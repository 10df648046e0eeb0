"""token_create, token_list, token_revoke, usage_profile_token_bind over REST (API-013, API-042, WS-042, WS-048)."""

import pytest

from apps.accounts.models import McpToken
from apps.accounts.services import token_create
from apps.base.errors import Denied
from apps.operations.reach import WorkspaceMismatch


def test_a_token_is_shown_once_and_opens_the_door(world):
    made = world.alices_agent.rest.post("/tokens", name="claude", rights=["read", "write"], expires_days=30)
    assert made.status_code == 201, made.content
    token = made.json()["token"]
    assert (
        world.agent("x").rest.client.get("/api/v1/projects", headers={"authorization": f"Bearer {token}"}).status_code
        == 200
    )
    listed = world.alices_agent.rest.get("/tokens")
    assert token not in listed.content.decode()
    row = next(row for row in listed.json()["tokens"] if row["name"] == "claude")
    assert row["state"] == "active" and row["hint"] == token[:8] and row["made_by"] == "alice's agent"
    assert row["expires_at"] and row["last_used_at"]


def test_the_defaults_are_the_careful_ones(world):
    made = world.alices_agent.rest.post("/tokens", name="plain").json()
    assert made["toolset"] == "agent" and made["rights"] == ["read", "write"]
    assert made["profile_id"] == "shared" and made["project_id"] is None and made["expires_at"] is None


def test_who_may_only_work_neither_makes_nor_sees_tokens(world):
    for agent in (world.bobs_agent, world.carols_reader):
        assert agent.rest.post("/tokens", name="mine").json()["error"]["code"] == "DENIED"
        assert agent.rest.get("/tokens").status_code == 403
        assert agent.rest.delete("/tokens/tok_1").status_code == 403
    assert McpToken.objects.count() == 2


def test_a_revoked_token_opens_nothing_and_revoking_twice_is_no_error(world):
    token_id = McpToken.objects.get(pk=world.bobs_agent.caller.token_id).pk
    assert world.bobs_agent.rest.get("/projects").status_code == 200
    for _ in range(2):
        revoked = world.alices_agent.rest.delete(f"/tokens/{token_id}")
        assert revoked.json()["state"] == "revoked"
    assert world.bobs_agent.rest.get("/projects").status_code == 401
    listed = world.alices_agent.rest.get("/tokens").json()["tokens"]
    assert token_id not in [row["token_id"] for row in listed]
    everything = world.alices_agent.rest.get("/tokens", with_revoked="true").json()["tokens"]
    assert token_id in [row["token_id"] for row in everything]


def test_a_token_nobody_made_is_not_found(world):
    refused = world.alices_agent.rest.delete("/tokens/tok_nobody")
    assert refused.status_code == 404 and refused.json()["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({}, "name"),
        ({"name": " \ufeff\n "}, "name"),
        ({"name": "a" * 121}, "name"),
        ({"name": "a", "rights": []}, "rights"),
        ({"name": "a", "rights": ["rule"]}, "rights.0"),
        ({"name": "a", "toolset": "everything"}, "toolset"),
        ({"name": "a", "expires_days": 0}, "expires_days"),
        ({"name": "a", "expires_days": 10**30}, "expires_days"),
        ({"name": "a", "colour": "red"}, "colour"),
    ],
)
def test_unsound_arguments_are_named(world, fields, wrong):
    refused = world.alices_agent.rest.post("/tokens", fields)
    assert refused.status_code == 422, refused.content
    assert list(refused.json()["error"]["facts"]["fields"]) == [wrong]


@pytest.mark.parametrize(("argument", "value"), [("profile_id", "nobody"), ("project_id", "prj_nowhere")])
def test_a_token_for_a_space_or_workspace_that_is_not_there_is_refused(world, argument, value):
    refused = world.alices_agent.rest.post("/tokens", {"name": "a", argument: value})
    assert refused.status_code == 404
    assert value in refused.json()["error"]["message"]


def test_a_bound_administrator_stays_in_its_workspace(world):
    """A token bound to one workspace could otherwise make itself a key to all of them."""
    other = world.alices_agent.call("project_create", name="Other")
    bound = world.agent("bound", project_id=world.workspace.pk, rights=["read", "write", "administer"])
    assert bound.call("token_create", name="child").project_id == world.workspace.pk
    with pytest.raises(WorkspaceMismatch):
        bound.call("token_create", name="escape", project_id=other.project_id)
    listed = {token.name for token in bound.call("token_list").tokens}
    assert listed == {"bound", "child"}
    with pytest.raises(Exception, match="no token"):
        bound.call("token_revoke", token_id=world.alices_agent.caller.token_id)
    with pytest.raises(Denied):
        bound.call("usage_profile_save", profile_id="mine", name="Mine")


def test_tokens_are_bound_to_a_space_and_its_former_ones_can_make_room(world):
    """WS-048: re-binding, optionally replacing."""
    first, second = (world.agent(name).caller.token_id for name in ("first", "second"))
    space = world.bobs_space.pk
    rest = world.alices_agent.rest
    bound = rest.put(f"/curation/profiles/{space}/tokens", token_ids=[first])
    assert [row["token_id"] for row in bound.json()["tokens"]] == [first]
    bound = rest.put(f"/curation/profiles/{space}/tokens", token_ids=[second], replace=True)
    assert [row["token_id"] for row in bound.json()["tokens"]] == [second]
    assert McpToken.objects.get(pk=first).profile_id == "shared"


def test_one_unknown_token_binds_none(world):
    token_id = world.agent("first").caller.token_id
    refused = world.alices_agent.rest.put(
        f"/curation/profiles/{world.bobs_space.pk}/tokens", token_ids=[token_id, "tok_nobody"]
    )
    assert refused.status_code == 404
    assert McpToken.objects.get(pk=token_id).profile_id == "shared"


def test_binding_changes_attribution_and_no_right(world):
    """WS-047."""
    before = world.carols_reader.caller
    world.alices_agent.call("usage_profile_token_bind", profile_id=world.bobs_space.pk, token_ids=[before.token_id])
    after = world.carols_reader.caller
    assert (before.profile, after.profile) == ("shared", "bob") and before.rights == after.rights


def test_no_tool_answers_a_token():
    """MCP-010."""
    from apps.accounts.mcp import TOOLS

    assert token_create.name not in {tool.name for tool in TOOLS}

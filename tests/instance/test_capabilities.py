"""``capabilities_get``: live, the same through every door, and never a secret."""

import json
from typing import Any

import pytest
from django.conf import settings as django_settings

from apps.operations.operation import OPERATIONS
from apps.operations.served import served_tools, tools_of
from memrelay.mcp import RESOURCES, read
from tests.world import Agent, World

pytestmark = pytest.mark.django_db


def capabilities(agent: Agent) -> dict[str, Any]:
    response = agent.rest.get("/capabilities")
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = json.loads(response.content)
    return answer


def test_it_is_read_from_the_registry(world: World) -> None:
    answer = capabilities(world.bobs_agent)

    assert answer["version"] == django_settings.VERSION
    assert sorted(name for names in answer["operations"].values() for name in names) == sorted(OPERATIONS)
    assert "memory_save" in answer["operations"]["memories"]
    assert len(answer["workspace_types"]) == 6
    assert [kind["path"] for kind in answer["curated_document_types"]] == [
        "curated/overview.md",
        "curated/current-state.md",
    ]
    assert answer["source_adapters"] == ["memories", "checkpoints"]
    assert answer["model_connection"] == {"state": "unconfigured"}


def test_tool_resource_and_rest_say_the_same(world: World) -> None:
    bob = world.bobs_agent
    over_rest = capabilities(bob)
    as_resource = json.loads(read(RESOURCES["memrelay://capabilities"], bob.caller))
    as_tool = json.loads(served_tools()["capabilities_get"].call(bob.caller, {}).content[0].text)  # type: ignore[union-attr]

    assert over_rest == as_resource == as_tool


def test_toolsets_are_counted_and_weighed(world: World) -> None:
    toolsets = {toolset["name"]: toolset for toolset in capabilities(world.bobs_agent)["toolsets"]}

    assert toolsets["agent"]["tools"] == len(tools_of("agent"))
    assert toolsets["full"]["tools"] == len(served_tools())
    assert 0 < toolsets["agent"]["tokens"] < toolsets["full"]["tokens"]


def test_what_is_off_is_off_with_a_reason_and_the_base_way_of_working_comes_first(world: World) -> None:
    answer = capabilities(world.bobs_agent)

    assert (answer["curation_enabled"], answer["memory_git_enabled"]) == (False, False)
    for feature in ("curation", "memory_git", "semantic_search"):
        assert not answer["features"][feature]["on"]
        assert answer["features"][feature]["reason"]
    assert answer["begin_with"][:2] == ["project_resolve_or_create", "context_get"]
    assert set(answer["begin_with"]) <= set(OPERATIONS)


def test_a_switch_shows_at_once(world: World, settings: Any) -> None:
    settings.FEATURE_SWITCHES = {"CURATION": "tests.instance.test_capabilities.on"}

    answer = capabilities(world.bobs_agent)

    assert answer["curation_enabled"] is True
    assert answer["features"]["curation"] == {"on": True, "reason": ""}


def test_a_limit_shows_as_it_is_set(world: World, settings: Any) -> None:
    settings.CONTEXT_TOKENS = 1234

    assert capabilities(world.bobs_agent)["limits"]["context_tokens"] == 1234


def test_members_see_their_own_and_the_shared_space_and_administrators_all(world: World) -> None:
    world.member  # noqa: B018 - makes Bob's space

    def seen(agent: Agent) -> list[str]:
        return sorted(space["id"] for space in capabilities(agent)["memory_spaces"])

    assert seen(world.carols_reader) == ["shared"]
    assert seen(world.bobs_agent) == ["bob", "shared"]
    assert seen(world.alices_agent) == ["bob", "shared"]


def test_it_holds_no_token(world: World) -> None:
    for agent in (world.bobs_agent, world.alices_agent):
        assert agent.token not in json.dumps(capabilities(agent))


def on() -> bool:
    return True

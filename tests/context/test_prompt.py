"""``agent_prompt_get``: short, in two languages, and true of the server it comes from."""

import json
from typing import Any

import pytest

from apps.base.estimates import token_estimate
from apps.operations.caller import Right
from apps.operations.served import served_tools
from memrelay.mcp import RESOURCES, read
from tests.world import Agent, World

pytestmark = pytest.mark.django_db

MOST_TOKENS = 900


def prompt(agent: Agent, **query: Any) -> str:
    response = agent.rest.get("/agent-prompt", **query)
    assert response.status_code == 200, response.content
    text: str = json.loads(response.content)["text"]
    return text


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_is_short_for_every_caller(world: World, language: str) -> None:
    for agent in (world.bobs_agent, world.alices_agent, world.doras_agent, world.carols_reader):
        assert token_estimate(prompt(agent, language=language)) < MOST_TOKENS


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_it_leads_from_the_first_call_to_the_last(world: World, language: str) -> None:
    text = prompt(world.bobs_agent, language=language)

    order = ["project_resolve_or_create", "context_get", "memory_search", "memory_save", "checkpoint_save"]
    assert sorted(order, key=text.index) == order
    assert "workspace_type" in text and 'scope: "shared"' in text and 'scope: "global"' in text


@pytest.mark.parametrize("language", ["zh", "zh-CN", "zh_Hans", "Chinese", "中文"])
def test_any_chinese_is_chinese(world: World, language: str) -> None:
    assert prompt(world.bobs_agent, language=language).startswith("# 如何使用 MemRelay")


def test_a_language_it_is_not_written_in_is_refused(world: World) -> None:
    response = world.bobs_agent.rest.get("/agent-prompt", language="fr")

    assert response.status_code in (400, 422)
    assert "zh-hans" in json.loads(response.content)["error"]["facts"]["fields"]["language"]


def test_every_tool_it_names_is_served(world: World) -> None:
    for agent in (world.bobs_agent, world.alices_agent, world.doras_agent):
        named = {word.strip("`") for word in prompt(agent).split("`") if "_" in word and " " not in word}
        assert named - {"project_id", "workspace_type", "request_id"} <= set(served_tools())


def test_it_names_the_memory_space_and_the_bound_workspace(world: World) -> None:
    assert '"Bob" (bob)' in prompt(world.bobs_agent)
    bound = prompt(world.doras_agent)
    assert world.workspace.pk in bound and "development" in bound
    assert "project_resolve_or_create" not in bound


def test_a_named_workspace_brings_its_guidance(world: World) -> None:
    made = world.bobs_agent.call("project_create", name="Course", workspace_type="study")

    text = prompt(world.bobs_agent, project_id=made.project_id)

    assert "what is still shaky" in text
    assert "This workspace has no Git" in text


def test_who_may_not_save_is_not_told_to(world: World) -> None:
    text = prompt(world.agent("reader", rights=[Right.READ]))

    assert "memory_save" not in text and "checkpoint_save" not in text


def test_only_a_short_tool_list_speaks_of_tool_search(world: World) -> None:
    assert "tool_search" in prompt(world.bobs_agent)
    assert "tool_search" not in prompt(world.alices_agent)


def test_the_resource_is_the_prompt_itself(world: World) -> None:
    assert read(RESOURCES["memrelay://agent-prompt"], world.bobs_agent.caller) == prompt(world.bobs_agent)


@pytest.mark.parametrize(
    ("switch", "told", "kept_quiet"),
    [
        ({}, "Curation is off. Nothing is missing", "runs unattended"),
        ({"CURATION": "tests.context.test_prompt.on"}, "Curation runs unattended", "Curation is off"),
    ],
)
def test_it_follows_the_switches(world: World, settings: Any, switch: Any, told: str, kept_quiet: str) -> None:
    settings.FEATURE_SWITCHES = switch

    text = prompt(world.bobs_agent)

    assert told in text
    assert kept_quiet not in text


def on() -> bool:
    return True

"""The tools agents see: as committed, described, honest about their effect, and cheap."""

import pytest

from apps.base.estimates import token_estimate
from apps.operations.mcp import AGENT, CONNECTOR, FULL, LEAN_TOOLSETS
from apps.operations.operation import OPERATIONS, Effect
from apps.operations.served import TOOLSETS
from tests.contract import tools_contract
from tests.contract.tools_contract import AGENT_TOKENS_AT_MOST, AGENT_TOOLS, AGENT_TOOLS_AT_MOST

TOOLS = tools_contract.tools()
EVERY_TOOL = [
    pytest.param(toolset, tool, id=f"{toolset}-{tool['name']}") for toolset in TOOLSETS for tool in TOOLS[toolset]
]
every_tool = pytest.mark.parametrize(("toolset", "tool"), EVERY_TOOL)


def test_the_tools_are_those_committed():
    committed = tools_contract.FILE.read_text(encoding="utf-8")
    assert tools_contract.text() == committed, "Look at the difference, then run python -m tests.contract.update."


def test_the_short_list_is_the_one_decided():
    assert sorted(tool["name"] for tool in TOOLS[AGENT]) == sorted(AGENT_TOOLS)


def test_the_short_list_is_short_and_cheap():
    tokens = token_estimate(tools_contract.as_listed(AGENT))
    assert len(TOOLS[AGENT]) <= AGENT_TOOLS_AT_MOST
    assert tokens <= AGENT_TOKENS_AT_MOST, tokens


def test_the_full_list_holds_the_short_one():
    assert {tool["name"] for tool in TOOLS[AGENT]} < {tool["name"] for tool in TOOLS[FULL]}


def test_a_connector_lists_its_two_tools_alone():
    assert [tool["name"] for tool in TOOLS[CONNECTOR]] == ["fetch", "search"]
    assert all(tool["annotations"]["readOnlyHint"] for tool in TOOLS[CONNECTOR])


@every_tool
def test_every_tool_and_argument_is_described(toolset, tool):
    assert tool["description"].strip()
    arguments = tool["inputSchema"].get("properties", {})
    bare = [name for name, argument in arguments.items() if not argument.get("description", "").strip()]
    assert bare == []


@every_tool
def test_input_schemas_are_objects(toolset, tool):
    assert tool["inputSchema"]["type"] == "object"
    if toolset not in LEAN_TOOLSETS:
        assert tool["inputSchema"]["additionalProperties"] is False


@every_tool
def test_every_tool_is_honest_about_its_effect(toolset, tool):
    hints = tool["annotations"]
    assert hints["openWorldHint"] is False
    operation = OPERATIONS.get(tool["name"])
    if operation is not None:
        assert hints["readOnlyHint"] is (operation.effect is Effect.READS)
    if not hints["readOnlyHint"]:
        destroys = operation is None or operation.effect is Effect.DESTROYS
        assert hints["destructiveHint"] is destroys


@every_tool
def test_no_lean_list_pays_for_titles_and_output_schemas(toolset, tool):
    is_lean = toolset in LEAN_TOOLSETS
    assert ("title" in tool) is not is_lean
    assert ("outputSchema" in tool) is (not is_lean and tool["name"] != "tool_run")

"""Two tools open all the others."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from apps.operations.caller import Caller, Right
from apps.operations.mcp import AGENT, FULL, Tool
from apps.operations.operation import Effect, Operation
from apps.operations.toolbox import Toolbox
from tests.operations.test_mcp import caller, told


class Done(BaseModel):
    what: str


Id = Annotated[str, Field(description="Which one.")]


def memory_save(caller: Caller, *, title: Id) -> Done:
    """Keep something for good: a fact, a rule, a decision."""
    return Done(what=f"saved {title}")


def memory_search(caller: Caller, *, query: Id) -> Done:
    """Find memories by words."""
    return Done(what="found")


def memory_archive(caller: Caller, *, memory_id: Id) -> Done:
    """Put a memory away: search finds it no more, history keeps it."""
    return Done(what=f"archived {memory_id}")


def memory_history(caller: Caller, *, memory_id: Id) -> Done:
    """List the revisions of a memory."""
    return Done(what="revisions")


def token_revoke(caller: Caller, *, token_id: Id) -> Done:
    """Make a token useless at once."""
    return Done(what="revoked")


def tool(function: Any, needs: Right = Right.WRITE, effect: Effect = Effect.CHANGES) -> Tool:
    return Tool(Operation(function, needs, Done, effect, False, None))


TOOLBOX = Toolbox(
    [
        tool(memory_save),
        tool(memory_search, Right.READ, Effect.READS),
        tool(memory_archive),
        tool(memory_history, Right.READ, Effect.READS),
        tool(token_revoke, Right.ADMINISTER, Effect.DESTROYS),
    ]
)
SEARCH, RUN = TOOLBOX.tools()


def found(query: str, **more: Any) -> list[str]:
    result = SEARCH.call(caller(), {"query": query, **more})
    assert not result.is_error
    return [match["name"] for match in result.structured_content["tools"]]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("archive a memory", "memory_archive"),
        ("archiving old memories", "memory_archive"),
        ("put it away", "memory_archive"),
        ("older revisions", "memory_history"),
        ("history", "memory_history"),
        ("revoke the token", "token_revoke"),
        ("memory_save", "memory_save"),
        ("归档记忆", "memory_archive"),
        ("查看历史版本", "memory_history"),
        ("令牌", "token_revoke"),
    ],
)
def test_a_tool_is_found_by_what_it_does(query, first):
    assert found(query)[0] == first


def test_a_found_tool_comes_with_all_it_takes_to_run_it():
    match = SEARCH.call(caller(), {"query": "archive", "limit": 1}).structured_content["tools"]
    assert match == [
        {
            "name": "memory_archive",
            "description": "Put a memory away: search finds it no more, history keeps it.",
            "input_schema": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"memory_id": {"description": "Which one.", "type": "string"}},
                "required": ["memory_id"],
            },
        }
    ]


def test_a_limit_is_kept():
    assert len(found("memory", limit=2)) == 2


def test_a_search_without_a_match_names_every_tool():
    answer = SEARCH.call(caller(), {"query": "weather tomorrow"}).structured_content
    assert answer["tools"] == []
    assert answer["names"] == sorted(TOOLBOX.by_name)


def test_a_tool_runs_by_name_and_answers_as_itself():
    result = RUN.call(caller(), {"name": "memory_archive", "arguments": {"memory_id": "m1"}})
    assert not result.is_error
    assert result.structured_content == {"what": "archived m1"}


def test_arguments_may_come_as_json_in_a_string():
    result = RUN.call(caller(), {"name": "memory_archive", "arguments": '{"memory_id": "m1"}'})
    assert result.structured_content == {"what": "archived m1"}


def test_running_needs_the_callers_own_rights():
    error = told(RUN.call(caller(Right.READ), {"name": "memory_archive", "arguments": {"memory_id": "m1"}}))
    assert error["code"] == "DENIED"


def test_refused_arguments_come_with_the_schema_they_should_have_met():
    error = told(RUN.call(caller(), {"name": "memory_archive"}))
    assert error["code"] == "INVALID"
    assert error["facts"]["fields"] == {"memory_id": "This is required."}
    assert error["facts"]["input_schema"]["required"] == ["memory_id"]


@pytest.mark.parametrize("name", ["memory_archiv", "tool_run"])
def test_an_unknown_tool_is_refused_with_near_names(name):
    error = told(RUN.call(caller(), {"name": name, "arguments": {}}))
    assert error["code"] == "NOT_FOUND"
    assert "near" in error["facts"]


def test_both_are_listed_everywhere_and_honest_about_what_they_may_do():
    for toolset in (AGENT, FULL):
        search, run = SEARCH.describe(toolset), RUN.describe(toolset)
        assert search.annotations.read_only_hint is True
        assert run.annotations.read_only_hint is False and run.annotations.destructive_hint is True
        assert run.output_schema is None
    assert SEARCH.toolsets == RUN.toolsets == frozenset({AGENT, FULL})

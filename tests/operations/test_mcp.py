"""An operation as an agent meets it: its description, its answer, its refusals."""

import json
from typing import Annotated, Any

import pytest
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from apps.base.errors import MemRelayError
from apps.operations.caller import Caller, CallerKind, Origin, Right
from apps.operations.mcp import AGENT, FULL, Tool, no_such_tool
from apps.operations.operation import UNCHANGED, Effect, Operation

Title = Annotated[str, Field(max_length=20, description="What it is called.")]


class Shelf(BaseModel):
    title: str
    tags: list[str] = []


class Full(MemRelayError):
    code = "SHELF_FULL"
    status = 409
    sentence = _("The shelf {title} is full.")
    hint = _("Take another one.")


def caller(*rights: Right, **fields: Any) -> Caller:
    return Caller("agent", CallerKind.TOKEN, Origin.AGENT, frozenset(rights or Right), **fields)


def tool(
    function: Any, *, effect: Effect = Effect.ADDS, repeatable: bool = False, needs: Right = Right.WRITE, **fields: Any
) -> Tool:
    return Tool(Operation(function, needs, Shelf, effect, repeatable, None), **fields)


def shelf_put(caller: Caller, *, title: Title, tags: list[str] | None = None, color: str | None = UNCHANGED) -> Shelf:
    """Put something on a shelf.

    Twice is two things.
    """
    if title == "full":
        raise Full(title=title, room=3)
    if title == "bug":
        raise RuntimeError("the password is hunter2")
    return Shelf(title=title, tags=tags or [])


PUT = tool(shelf_put)


def told(result: Any) -> dict[str, Any]:
    """The refusal of a result; its text and its structured content say the same."""
    assert result.is_error
    assert json.loads(result.content[0].text) == result.structured_content
    error: dict[str, Any] = result.structured_content["error"]
    return error


def test_the_answer_is_structured_and_compact_json_in_its_own_letters():
    result = PUT.call(caller(), {"title": "书架", "tags": ["a"]})
    assert not result.is_error
    assert result.structured_content == {"title": "书架", "tags": ["a"]}
    assert result.content[0].text == '{"title":"书架","tags":["a"]}'


def test_a_tool_may_render_its_text_its_own_way():
    lines = tool(shelf_put, render=lambda shelf: f"# {shelf.title}")
    result = lines.call(caller(), {"title": "one"})
    assert result.content[0].text == "# one"
    assert result.structured_content == {"title": "one", "tags": []}


@pytest.mark.parametrize("nothing", [None, {}])
def test_missing_arguments_are_refused_by_name(nothing):
    error = told(PUT.call(caller(), nothing))
    assert error["code"] == "INVALID"
    assert error["facts"]["fields"] == {"title": "This is required."}
    assert error["hint"]


def test_a_refusal_carries_code_message_hint_and_facts():
    assert told(PUT.call(caller(), {"title": "full"})) == {
        "code": "SHELF_FULL",
        "message": "The shelf full is full.",
        "hint": "Take another one.",
        "facts": {"title": "full", "room": 3},
    }


def test_a_right_that_is_missing_is_told():
    assert told(PUT.call(caller(Right.READ), {"title": "one"}))["code"] == "DENIED"


def test_a_defect_is_told_by_its_request_id_alone_and_logged_in_full(caplog):
    error = told(PUT.call(caller(request_id="req_7"), {"title": "bug"}))
    assert error["code"] == "INTERNAL"
    assert error["facts"] == {"request_id": "req_7"}
    assert "hunter2" not in json.dumps(error)
    assert "hunter2" in caplog.text


def test_refusals_speak_the_callers_language():
    english = told(PUT.call(caller(), {}))["message"]
    assert english.startswith("Some values are not accepted.")


def test_the_description_has_the_manual_and_schemas_without_made_up_titles():
    described = PUT.describe()
    assert described.name == "shelf_put"
    assert described.title == "Put something on a shelf"
    assert described.description == "Put something on a shelf.\n\nTwice is two things."
    assert described.input_schema["required"] == ["title"]
    assert described.input_schema["properties"]["title"] == {
        "description": "What it is called.", "maxLength": 20, "type": "string"
    }  # fmt: skip
    assert '"title": "' not in json.dumps(described.output_schema)


def test_null_is_left_out_of_the_schema_only_where_it_says_nothing():
    properties = PUT.describe().input_schema["properties"]
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["color"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert not PUT.call(caller(), {"title": "one", "tags": None}).is_error


class Board(BaseModel):
    """How boards are described to no one who pays by the word."""

    title: str = Field(max_length=9)
    width: int = 0


def board_put(
    caller: Caller,
    *,
    boards: Annotated[list[Board], Field(description="What to put up.", min_length=1)],
    kind: Annotated[str, Field(description="Of what.", json_schema_extra={"enum": ["", "oak", "pine"]})] = "",
    room: Annotated[int, Field(description="Where.", ge=1)] = 1,
    color: Title | None = None,
) -> Shelf:
    """Put boards up.

    What a short list need not say.
    """
    return Shelf(title=color or "none")


def test_the_toolset_agent_pays_for_what_a_model_needs_to_write_a_call():
    lean = tool(board_put, seldom=frozenset({"color"})).describe(AGENT)
    assert lean.title is None and lean.output_schema is None
    assert lean.description == "Put boards up."
    assert lean.input_schema == {
        "type": "object",
        "required": ["boards"],
        "properties": {
            "boards": {
                "description": "What to put up.",
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["title"],
                    "properties": {"title": {"type": "string"}, "width": {"type": "integer"}},
                },
            },
            "kind": {"description": "Of what.", "type": "string", "enum": ["oak", "pine"]},
            "room": {"description": "Where.", "type": "integer", "default": 1},
        },
    }


def test_an_argument_left_out_of_the_short_list_is_taken_all_the_same():
    boards = tool(board_put, seldom=frozenset({"color"}))
    assert boards.call(caller(), {"boards": [{"title": "a"}], "color": "red"}).structured_content["title"] == "red"
    assert "color" in boards.describe(FULL).input_schema["properties"]


@pytest.mark.parametrize("name", ["boards", "no_such"])
def test_only_an_argument_that_may_be_left_out_is_left_unsaid(name):
    with pytest.raises(ValueError, match=name):
        tool(board_put, seldom=frozenset({name})).describe(AGENT)


def test_a_description_is_made_once():
    assert PUT.describe() is PUT.describe()


@pytest.mark.parametrize("toolset", [AGENT, FULL])
@pytest.mark.parametrize("effect", list(Effect))
def test_annotations_tell_the_effect(effect, toolset):
    hints = tool(shelf_put, effect=effect, repeatable=True).describe(toolset).annotations
    assert hints.read_only_hint is (effect is Effect.READS)
    assert hints.open_world_hint is False
    if effect is not Effect.READS:
        assert hints.destructive_hint is (effect is Effect.DESTROYS)
        assert hints.idempotent_hint is True
    elif toolset == AGENT:
        assert hints.destructive_hint is None and hints.idempotent_hint is None


def test_an_unknown_name_is_refused_with_the_names_near_it():
    error = no_such_tool("memory_saev", ["memory_save", "memory_search", "token_list"]).as_dict()
    assert error["code"] == "NOT_FOUND"
    assert error["facts"]["near"][0] == "memory_save"

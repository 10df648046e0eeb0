"""Serve operations as MCP tools: how an agent is told of one, and how it meets its answers and refusals."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import mcp_types as wire
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from apps.base.errors import MemRelayError, NotFound
from apps.operations.caller import Caller
from apps.operations.operation import Effect, Operation

log = logging.getLogger(__name__)

FULL = "full"
AGENT = "agent"
CONNECTOR = "connector"  # The two tools that ChatGPT asks of a server it connects to.
LEAN_TOOLSETS = frozenset({AGENT})  # Their lists are paid for in every conversation, so they say nothing twice.
LIMITS = frozenset(
    "$defs additionalProperties minLength maxLength pattern minItems maxItems uniqueItems minimum maximum title".split()
)


class NoSuchTool(NotFound):
    sentence = _("There is no tool {tool}.")
    hint = _("Use one of the names in facts, or tool_search.")


class Untitled(GenerateJsonSchema):
    """JSON Schema without the titles pydantic makes up: an agent pays for every word."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def _update_class_schema(self, json_schema: JsonSchemaValue, cls: type[Any], config: Any) -> None:
        super()._update_class_schema(json_schema, cls, config)
        json_schema.pop("title", None)


def as_json(answer: BaseModel) -> str:
    """An answer as compact JSON in its own letters, not in escapes."""
    return answer.model_dump_json()


@dataclass(frozen=True)
class Tool:
    """An operation as an agent meets it: the toolsets that list it and how its answer reads.

    ``seldom`` are arguments that a lean toolset does not list; they are taken all the same.
    What a lean toolset leaves out, ``tool_search`` tells.
    """

    operation: Operation[..., Any]
    toolsets: frozenset[str] = frozenset({FULL})
    render: Callable[[Any], str] = as_json
    seldom: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def input_schema(self) -> dict[str, Any]:
        return input_schema_of(self.operation.arguments)

    def describe(self, toolset: str = FULL) -> wire.Tool:
        """What ``tools/list`` says of it; of a lean toolset's tools the manual's first paragraph, and no output schema."""
        return describe(self, toolset in LEAN_TOOLSETS)

    def call(self, caller: Caller, arguments: Mapping[str, Any] | None) -> wire.CallToolResult:
        """Do it. Whatever happens comes back as a result: a model reads a refusal and repairs its call."""
        with translation.override(caller.language):
            try:
                return self.result(caller, arguments or {})
            except MemRelayError as error:
                return refusal(error.as_dict())
            except Exception:
                log.exception("The tool %s failed.", self.name)
                return refusal(internal(caller.request_id))

    def result(self, caller: Caller, arguments: Mapping[str, Any]) -> wire.CallToolResult:
        answer = self.operation.answer(caller, arguments)
        return wire.CallToolResult(
            content=[wire.TextContent(text=self.render(answer))], structured_content=answer.model_dump(mode="json")
        )


@cache
def describe(tool: Tool, lean: bool) -> wire.Tool:
    operation = tool.operation
    return wire.Tool(
        name=tool.name,
        title=None if lean else operation.summary,
        description=operation.manual.partition("\n\n")[0] if lean else operation.manual,
        input_schema=lean_schema(tool.input_schema, tool.seldom) if lean else tool.input_schema,
        output_schema=None if lean else output_schema_of(operation.answers),
        annotations=annotations_of(operation, lean),
    )


def annotations_of(operation: Operation[..., Any], lean: bool) -> wire.ToolAnnotations:
    """The hints by which a client decides whether to ask first. A lean list leaves out what goes without saying."""
    reads = operation.effect is Effect.READS
    destroys = operation.effect is Effect.DESTROYS
    if not lean:
        return wire.ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=destroys,
            idempotent_hint=operation.repeatable,
            open_world_hint=False,
        )
    return wire.ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else destroys,
        idempotent_hint=(operation.repeatable and not reads) or None,
        open_world_hint=False,
    )


@cache
def input_schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The arguments' schema without what says nothing: null as the default, and as one more choice beside it."""
    schema: dict[str, Any] = _without_null(arguments.model_json_schema(schema_generator=Untitled))
    return schema


@cache
def output_schema_of(answers: type[BaseModel]) -> dict[str, Any]:
    return answers.model_json_schema(schema_generator=Untitled, mode="serialization")


def lean_schema(schema: dict[str, Any], seldom: frozenset[str] = frozenset()) -> dict[str, Any]:
    """What a model needs to write a call: names, types, meanings, choices.

    Limits are kept and told by the server when one is hit; to list them costs more tokens than all the meanings.
    """
    wrong = seldom & set(schema.get("required", ())) | seldom - set(schema.get("properties", ()))
    if wrong:
        raise ValueError(f"These are no arguments that can be left out: {', '.join(sorted(wrong))}.")
    lean: dict[str, Any] = _lean(schema, schema.get("$defs", {}))
    for name in seldom:
        del lean["properties"][name]
    return lean


def _lean(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_lean(part, definitions) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        definition = definitions[node["$ref"].rpartition("/")[2]]
        node = {**definition, "description": "", **{key: part for key, part in node.items() if key != "$ref"}}
    lean = {key: _lean(part, definitions) for key, part in node.items() if key not in LIMITS | {"properties", "enum"}}
    if "enum" in node:
        lean["enum"] = [choice for choice in node["enum"] if choice != ""]
    if "properties" in node:
        # Names are an operation's own and may be any word, "title" or "default" too.
        lean["properties"] = {name: _lean(argument, definitions) for name, argument in node["properties"].items()}
    # Nothing is the default of what may be left out, and a description that an argument's own has replaced.
    return {key: part for key, part in lean.items() if part or key not in ("default", "description")}


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(part) for part in node]
    if not isinstance(node, dict):
        return node
    lean = {key: _without_null(part) for key, part in node.items()}
    if node.get("default", ...) is not None:
        return lean  # Where null is no default it means something of its own.
    del lean["default"]
    choices = [choice for choice in lean.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **lean}
    return {"anyOf": choices, **lean} if choices else lean


def refusal(fields: Mapping[str, Any]) -> wire.CallToolResult:
    """An error the model reads and can act on; a protocol error would never reach it."""
    text = json.dumps({"error": fields}, ensure_ascii=False, separators=(",", ":"), default=str)
    return wire.CallToolResult(
        content=[wire.TextContent(text=text)], structured_content=json.loads(text), is_error=True
    )


def internal(request_id: str) -> dict[str, Any]:
    """A defect of ours as others see it: the number under which the log tells more."""
    return {
        "code": "INTERNAL",
        "message": str(_("The server failed at this.")),
        "hint": str(_("Try once more; if it fails again, tell the administrator the request_id in facts.")),
        "facts": {"request_id": request_id},
    }


def no_such_tool(name: str, tools: Iterable[str]) -> NoSuchTool:
    """Refuse a name nobody bears, with the names that look like it."""
    near = get_close_matches(name, tools, n=5, cutoff=0.5)
    return NoSuchTool(tool=name[:80], near=near)

"""Structured answers: the schema a model is given, and its words read back.

The schema is in the strict form of the native structured outputs: every object closed, every property required, no
limits and no defaults, which endpoints treat in different ways. What the answer's model asks beyond that is checked when
its words are read, so a limit belongs into a field's description too.
"""

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from apps.llm.errors import ModelOutputInvalid, OutputProblem
from apps.operations.operation import storable

T = TypeVar("T", bound=BaseModel)

KEPT = frozenset("$ref $defs type properties items enum const anyOf description".split())
THINKING = re.compile(r"\A\s*<(think|thinking|thought|reasoning|analysis)>.*?</\1>", re.DOTALL | re.IGNORECASE)
END_OF_THINKING = re.compile(r"\A.*</(?:think|thinking|thought|reasoning|analysis)>", re.DOTALL | re.IGNORECASE)
FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:json)?[ \t]*\n(.*?)\n[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
MOST_NAMED = 10


def name_of(answers: type[BaseModel]) -> str:
    """A name that endpoints take: letters, digits, underscores."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\W", "", answers.__name__)).lower()[:64]


def strict_schema(answers: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer in strict form. Raises ``ValueError`` for a model with free keys, which has none."""
    schema: dict[str, Any] = _strict(answers.model_json_schema())
    return schema


def in_words(answers: type[BaseModel]) -> str:
    """The same as part of the instructions, for endpoints that take no schema of their own."""
    schema = json.dumps(strict_schema(answers), ensure_ascii=False)
    return (
        "\n\nAnswer with one JSON object that fits the following JSON schema, and with nothing else: no introduction, no"
        f" explanation, no code fence, and never the schema itself.\n{schema}"
    )


def read_answer(text: str, answers: type[T]) -> T:
    """The model's words as what was asked for. Thinking before it and a code fence around it are put aside.

    Raises ``ModelOutputInvalid``; nothing is guessed, completed or picked out of prose.
    """
    if not text.strip():
        raise ModelOutputInvalid(OutputProblem.EMPTY)
    value = _object_in(text)
    if value is None:
        problem = OutputProblem.BROKEN_JSON if _looks_like_json(text) else OutputProblem.PROSE
        raise ModelOutputInvalid(problem, text=text)
    if _is_a_schema(value, answers):
        raise ModelOutputInvalid(OutputProblem.SCHEMA_ECHOED, text=text)
    try:
        return answers.model_validate(storable(value))
    except ValidationError as error:
        raise ModelOutputInvalid(OutputProblem.WRONG_FIELDS, text=text, fields=_names(error)) from None
    except (RecursionError, ValueError):
        raise ModelOutputInvalid(OutputProblem.WRONG_FIELDS, text=text) from None


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # Strict mode refuses anything beside it.
    if len(node.get("allOf", [])) == 1:
        return _strict({**node["allOf"][0], **{key: part for key, part in node.items() if key != "allOf"}})
    if "oneOf" in node:
        node = {**node, "anyOf": node["oneOf"]}
    names = ("properties", "$defs")
    strict = {key: _strict(part) for key, part in node.items() if key in KEPT and key not in names}
    for key in names:
        if key in node:  # Names are the model's own and may be any word.
            strict[key] = {name: _strict(part) for name, part in node[key].items()}
    if node.get("type") == "object":
        if "properties" not in node and node.get("additionalProperties") is not False:
            raise ValueError("An answer with free keys has no strict schema; use a list of pairs.")
        strict.setdefault("properties", {})
        strict["additionalProperties"] = False
        strict["required"] = list(strict["properties"])
    return strict


def _object_in(text: str) -> dict[str, Any] | None:
    for candidate in (text, THINKING.sub("", text), END_OF_THINKING.sub("", text)):
        fenced = FENCE.findall(candidate)
        for told in (candidate, fenced[0]) if len(fenced) == 1 else (candidate,):
            value = _parsed(told.strip().removeprefix("\ufeff"))
            if isinstance(value, dict):
                return value
    return None


def _parsed(text: str) -> Any:
    if not text.startswith("{"):
        return None
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON.")


def _looks_like_json(text: str) -> bool:
    told = END_OF_THINKING.sub("", text).strip().removeprefix("\ufeff").removeprefix("```json").removeprefix("```")
    return told.lstrip()[:1] in ("{", "[")


def _is_a_schema(value: dict[str, Any], answers: type[BaseModel]) -> bool:
    marks = {"$defs", "$schema", "properties", "additionalProperties", "required"} - answers.model_fields.keys()
    return "properties" in marks and isinstance(value.get("properties"), dict) and len(marks & value.keys()) > 1


def _names(error: ValidationError) -> list[str]:
    """Which fields are wrong; a key that the model made up is not repeated."""
    told = (problem["loc"] for problem in error.errors() if problem["type"] != "extra_forbidden")
    return list(dict.fromkeys(".".join(str(part) for part in place)[:100] for place in told))[:MOST_NAMED]

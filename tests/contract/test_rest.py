"""REST's contract, and what every operation owes to those who call it."""

import re
from typing import Any

import pytest
from django.urls import resolve

from memrelay.mcp import rooms_tools
from tests.contract.surface import OPENAPI_FILE, as_text, openapi, operations

NAMES = sorted(operations())
NAMED_BY_OTHERS = {"search", "fetch"}  # By ChatGPT, which asks for tools of these names.


def test_openapi_is_its_committed_copy():
    """If this is meant: ``python -m tests.contract.update``, and commit the difference."""
    assert OPENAPI_FILE.read_text(encoding="utf-8") == as_text(openapi())


@pytest.mark.parametrize("name", sorted(set(NAMES) - NAMED_BY_OTHERS))
def test_an_operation_is_named_noun_then_verb(name):
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+", name)


@pytest.mark.parametrize("name", NAMES)
def test_an_operation_has_a_manual_that_begins_with_one_short_sentence(name):
    operation = operations()[name]
    assert operation.manual, f"{name} has no docstring."
    assert len(operation.manual.partition("\n")[0]) <= 200


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_has_a_description(name):
    missing = [
        argument for argument, field in operations()[name].arguments.model_fields.items() if not field.description
    ]
    assert not missing, f"{name} does not describe {missing}."


@pytest.mark.parametrize("name", NAMES)
def test_every_text_number_and_list_of_an_argument_has_a_limit(name):
    """Nobody may send an endless list or a number that no column holds."""
    schema = operations()[name].arguments.model_json_schema()
    endless = list(_unbounded(schema, schema.get("$defs", {})))
    assert not endless, f"{name}: {endless}"


def test_every_operation_is_served_somewhere():
    on_rest = {one["operationId"] for path in openapi()["paths"].values() for one in path.values()}
    as_tools = {tool.name for tool in rooms_tools()}
    assert not operations().keys() - on_rest - as_tools


def test_every_path_leads_to_the_operation_it_documents():
    """A greedy path named first would swallow those that go on behind it, and answer 405 for them."""
    for path, methods in openapi()["paths"].items():
        view = resolve(re.sub(r"{\w+}", "1", path))
        assert "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", view.route) == path, f"{sorted(methods)} {path}"


def test_every_refusal_is_documented_in_the_one_shape():
    for path, methods in openapi()["paths"].items():
        for method, one in methods.items():
            shapes = {
                status: answer["content"]["application/json"]["schema"]
                for status, answer in one["responses"].items()
                if int(status) >= 400
            }
            assert {"401", "403", "404", "422", "429"} <= shapes.keys(), f"{method} {path}"
            assert all(shape == {"$ref": "#/components/schemas/ErrorOut"} for shape in shapes.values())


def _unbounded(schema: dict[str, Any], defs: dict[str, Any], path: str = "") -> Any:
    if "$ref" in schema:
        yield from _unbounded(defs[schema["$ref"].rpartition("/")[2]], {}, path)
    kind = schema.get("type")
    closed = "enum" in schema or "const" in schema or "pattern" in schema or "format" in schema
    if kind == "string" and not closed and "maxLength" not in schema:
        yield f"{path}: text"
    if kind in ("integer", "number") and not closed and not {"maximum", "exclusiveMaximum"} & schema.keys():
        yield f"{path}: number"
    if kind == "array" and "maxItems" not in schema:
        yield f"{path}: list"
    for name, part in schema.get("properties", {}).items():
        yield from _unbounded(part, defs, f"{path}.{name}")
    for choice in schema.get("anyOf", []):
        yield from _unbounded(choice, defs, path)
    if isinstance(schema.get("items"), dict):
        yield from _unbounded(schema["items"], defs, f"{path}[]")

"""Schemas in strict form, and a model's words read back."""

import json
from enum import StrEnum
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from apps.llm.errors import ModelOutputInvalid, OutputProblem
from apps.llm.structured import in_words, name_of, read_answer, strict_schema
from tests.doubles.model_server import _not_strict, instance_of


class Kind(StrEnum):
    FACT = "fact"
    RULE = "rule"


class Part(BaseModel):
    heading: str = Field("", max_length=80, description="At most 80 characters.")
    kind: Kind = Kind.FACT
    score: int | None = Field(None, ge=0, le=5)


class Documents(BaseModel):
    title: str = Field(min_length=1, pattern=r"\S")
    first: Part = Field(description="The first part.")
    parts: list[Part] = Field(default_factory=list, max_length=3)
    status: Literal["done", "empty"] = "done"
    default: str = ""


GOOD = {
    "title": "标题",
    "first": {"heading": "h", "kind": "rule", "score": 3},
    "parts": [],
    "status": "done",
    "default": "",
}
TEXT = json.dumps(GOOD, ensure_ascii=False)


def test_the_schema_is_strict_all_the_way_down():
    schema = strict_schema(Documents)
    assert _not_strict(schema) == ""
    told = json.dumps(schema)
    for word in ("maxLength", "minLength", "pattern", "maximum", '"title": "', "default_factory", "maxItems"):
        assert word not in told
    assert "At most 80 characters." in told
    assert set(schema["required"]) == {"title", "first", "parts", "status", "default"}
    assert Documents.model_validate(instance_of(schema, []))


def test_an_answer_with_free_keys_has_no_strict_schema():
    class Free(BaseModel):
        by_name: dict[str, str]

    with pytest.raises(ValueError, match="free keys"):
        strict_schema(Free)


def test_the_schema_in_words_is_the_same_schema():
    words = in_words(Documents)
    assert json.loads(words[words.index("{") :]) == strict_schema(Documents)


def test_the_name_is_one_that_endpoints_take():
    assert name_of(Documents) == "documents"
    assert name_of(type("CuratedDocumentsV2", (BaseModel,), {})) == "curated_documents_v2"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"\n  {TEXT}\n",
        f"\ufeff{TEXT}",
        json.dumps(GOOD, indent=2),
        f"<think>Is {{this}} it?</think>{TEXT}",
        f"<THINKING>\nlong\n</THINKING>\n\n```json\n{TEXT}\n```",
        f"no opening tag</think>\n{TEXT}",
        f"```\n{TEXT}\n```",
        f"```JSON\n{TEXT}\n```\n",
        f"Here it is:\n```json\n{TEXT}\n```\nAnything else?",
    ],
)
def test_an_answer_is_found_in_its_wrapping(text):
    assert read_answer(text, Documents) == Documents.model_validate(GOOD)


def test_marks_of_wrapping_inside_an_answer_are_left_alone():
    value = {**GOOD, "title": "a </think> b ```json\n{}\n``` c"}
    assert read_answer(json.dumps(value), Documents).title == value["title"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", OutputProblem.EMPTY),
        ("  \n", OutputProblem.EMPTY),
        ("Certainly! Here you go.", OutputProblem.PROSE),
        (f"Sure: {TEXT}", OutputProblem.PROSE),
        (f"<think>{TEXT}", OutputProblem.PROSE),
        (TEXT[:-5], OutputProblem.BROKEN_JSON),
        (f"```json\n{TEXT[: len(TEXT) // 2]}", OutputProblem.BROKEN_JSON),
        (f"{TEXT}{TEXT}", OutputProblem.BROKEN_JSON),
        (f"```json\n{TEXT}\n```\n```json\n{TEXT}\n```", OutputProblem.BROKEN_JSON),
        (f"[{TEXT}]", OutputProblem.BROKEN_JSON),
        (TEXT.replace("3", "NaN"), OutputProblem.BROKEN_JSON),
        ('{"a":' * 100_000, OutputProblem.BROKEN_JSON),
        (json.dumps(strict_schema(Documents)), OutputProblem.SCHEMA_ECHOED),
        (json.dumps(Documents.model_json_schema()), OutputProblem.SCHEMA_ECHOED),
        ("{}", OutputProblem.WRONG_FIELDS),
        (json.dumps({**GOOD, "title": None}), OutputProblem.WRONG_FIELDS),
        (json.dumps({**GOOD, "first": {"score": 99}}), OutputProblem.WRONG_FIELDS),
        (json.dumps({**GOOD, "parts": [{}] * 4}), OutputProblem.WRONG_FIELDS),
        (json.dumps({**GOOD, "parts": [{"score": 10**30}]}), OutputProblem.WRONG_FIELDS),
    ],
)
def test_whatever_is_no_answer_is_named_and_nothing_is_guessed(text, problem):
    with pytest.raises(ModelOutputInvalid) as failure:
        read_answer(text, Documents)
    assert failure.value.problem is problem


def test_the_echo_of_a_schema_without_required_fields_is_no_answer():
    class Gentle(BaseModel):
        parts: list[Part] = []

    assert read_answer("{}", Gentle).parts == []
    with pytest.raises(ModelOutputInvalid):
        read_answer(json.dumps(strict_schema(Gentle)), Gentle)


def test_wrong_fields_are_named_but_not_quoted():
    class Closed(BaseModel):
        model_config = ConfigDict(extra="forbid")
        title: str

    with pytest.raises(ModelOutputInvalid) as failure:
        read_answer(json.dumps({"title": 5, "the model's own words": "hunter2"}), Closed)
    assert failure.value.facts["fields"] == ["title"]
    assert "own words" not in str(failure.value.as_dict()) and "hunter2" not in str(failure.value.as_dict())


def test_halves_of_a_character_do_not_come_through():
    assert read_answer(json.dumps({**GOOD, "title": "a\ud800b"}), Documents).title.encode()

"""The mechanism itself: rights, features, arguments, answers; on operations made for these tests."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import pytest
from django.utils import translation
from pydantic import BaseModel, Field

from apps.base.errors import Denied, FeatureDisabled, Invalid
from apps.operations.caller import Caller, CallerKind, Origin, Right
from apps.operations.features import Feature
from apps.operations.operation import OPERATIONS, UNCHANGED, Effect, Operation, operation, storable
from apps.operations.reach import WorkspaceMismatch, workspace_of_call
from apps.operations.words import Moment

WRITER = Caller("writer", CallerKind.TOKEN, Origin.AGENT, frozenset({Right.READ, Right.WRITE}))
READER = Caller("reader", CallerKind.TOKEN, Origin.AGENT, frozenset({Right.READ}))

Title = Annotated[str, Field(max_length=10, description="A title.")]
Amount = Annotated[int, Field(description="An amount.")]
Tags = Annotated[list[str], Field(max_length=3, description="Tags.")]


class Heard(BaseModel):
    heard: dict[str, Any]
    at: Moment = datetime(2026, 11, 30, 12, tzinfo=UTC)


class FromRow(BaseModel):
    title: str
    at: Moment


def declared(function, *, needs=Right.READ, answers=Heard, feature=None):
    return Operation(function, needs, answers, Effect.READS, True, feature)


def listen(
    caller: Caller, *, title: Title, amount: Amount = 1, tags: Tags | None = None, note: Title | None = UNCHANGED
):
    """Hear what was sent. It answers the same.

    Nothing else happens.
    """
    return Heard(heard={"title": title, "amount": amount, "tags": tags, "note": note if note is not UNCHANGED else "-"})


LISTEN = declared(listen)


def heard(**raw):
    return LISTEN.answer(READER, raw).heard


def refused(raw):
    with pytest.raises(Invalid) as error:
        LISTEN.answer(READER, raw)
    return error.value.fields


def test_its_name_manual_and_summary_come_from_the_function():
    assert LISTEN.name == "listen"
    assert LISTEN.manual.startswith("Hear what was sent.") and LISTEN.manual.endswith("Nothing else happens.")
    assert LISTEN.summary == "Hear what was sent. It answers the same"


def test_what_is_left_out_has_the_functions_own_default():
    assert heard(title="a") == {"title": "a", "amount": 1, "tags": None, "note": "-"}


def test_null_is_left_out_unless_the_argument_may_be_null():
    assert heard(title="a", amount=None)["amount"] == 1
    assert heard(title="a", note=None)["note"] is None
    assert refused({"title": None}) == {"title": "This must be text."}


def test_an_argument_that_may_be_left_out_shows_no_default():
    schema = LISTEN.arguments.model_json_schema()
    assert "default" not in schema["properties"]["note"] and schema["required"] == ["title"]


def test_lists_and_objects_may_come_as_json_in_a_string():
    assert heard(title="a", tags='["x", "y"]')["tags"] == ["x", "y"]
    assert heard(title='["x"]')["title"] == '["x"]'


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        ({}, {"title": "This is required."}),
        ({"title": "a" * 11}, {"title": "This must have at most 10 characters."}),
        ({"title": "a", "amount": "many"}, {"amount": "This must be a whole number."}),
        ({"title": "a", "amount": 10**30}, {"amount": "This number is too large."}),
        ({"title": "a", "amount": -(10**30)}, {"amount": "This number is too large."}),
        ({"title": "a", "tags": list("abcd")}, {"tags": "This must have at most 3 items."}),
        ({"title": "a", "tags": "[" * 100_000}, {"tags": "This must be a list."}),
        ({"title": "a", "tags": "[1, "}, {"tags": "This must be a list."}),
        ({"title": "a", "tags": [1]}, {"tags.0": "This must be text."}),
        ({"title": "a", "colour": "red"}, {"colour": "There is no argument of this name."}),
    ],
)
def test_each_unsound_argument_is_named_with_its_reason(raw, wrong):
    assert refused(raw) == wrong


def choose(caller: Caller, *, way: Literal["hybrid", "text"], name: Annotated[str, Field(min_length=1)]):
    """Choose one."""


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "way: This must be one of 'hybrid', 'text'. name: This must not be empty."),
        ("zh-hans", "way: 必须是以下之一：'hybrid', 'text'。 name: 不能为空。"),
    ],
)
def test_several_reasons_are_sentences_one_after_the_other(language, told):
    with translation.override(language), pytest.raises(Invalid) as error:
        declared(choose).answer(READER, {"way": "fuzzy", "name": ""})
    with translation.override(language):
        assert str(error.value).endswith(told)


def test_reasons_come_in_the_readers_language_and_never_repeat_the_value():
    with translation.override("zh-hans"):
        assert "hunter2" not in str(refused({"title": "hunter2hunter2"}))


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("half \ud83d", "half \ufffd"),
        ("\ud83d\ude00", "😀"),
        (["\ud800"], ["\ufffd"]),
        ({"\ud800": {"a": "\udc00"}}, {"\ufffd": {"a": "\ufffd"}}),
        (2**63 - 1, 2**63 - 1),
        (True, True),
        (None, None),
        (1.5, 1.5),
    ],
)
def test_what_no_file_can_hold_is_mended_at_the_door(value, stored):
    assert storable(value) == stored


def test_the_right_is_checked_before_anything_else():
    writes = declared(listen, needs=Right.WRITE)
    with pytest.raises(Denied) as refusal:
        writes(READER, title="a")
    assert "write" in str(refusal.value)
    assert writes(WRITER, title="a").heard["title"] == "a"


def test_a_feature_that_is_off_says_so(settings):
    curates = declared(listen, feature=Feature.CURATION)
    settings.FEATURE_SWITCHES = {}
    with pytest.raises(FeatureDisabled):
        curates(READER, title="a")
    settings.FEATURE_SWITCHES = {"CURATION": "tests.operations.test_operation.switch"}
    assert curates(READER, title="a").heard["title"] == "a"


def switch():
    return True


def test_times_are_answered_in_the_callers_zone():
    """D-25: with their offset, whether the answer is made by the function or read from a row."""
    tokyo = Caller("tokyo", CallerKind.TOKEN, Origin.AGENT, frozenset({Right.READ}), zone="Asia/Tokyo")

    class Row:
        title = "a"
        at = datetime(2026, 11, 30, 15, 30, tzinfo=UTC)

    def reads(caller: Caller):
        """Read a row."""
        return Row()

    answer = declared(reads, answers=FromRow).answer(tokyo, {})
    assert answer.model_dump(mode="json")["at"] == "2026-12-01T00:30:00+09:00"
    assert declared(reads, answers=FromRow).answer(READER, {}).model_dump(mode="json")["at"] == "2026-11-30T15:30:00Z"


def test_two_operations_of_one_name_are_a_defect():
    def project_get(caller: Caller):
        """Twice."""

    taken = OPERATIONS["project_get"]
    with pytest.raises(ValueError, match="Two operations"):
        operation(needs=Right.READ, answers=Heard)(project_get)
    assert OPERATIONS["project_get"] is taken


def test_the_workspace_of_a_call_is_the_connections_else_the_named_one():
    """D-22."""
    bound = WRITER.bound_to("prj_1")
    assert workspace_of_call(WRITER, None) is None
    assert workspace_of_call(WRITER, "prj_2") == "prj_2"
    assert workspace_of_call(bound, None) == workspace_of_call(bound, "prj_1") == "prj_1"
    with pytest.raises(WorkspaceMismatch):
        workspace_of_call(bound, "prj_2")

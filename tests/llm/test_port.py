"""The port to the model, against the model server of the tests as a genuine process."""

import json
import threading
import time

import pytest
from pydantic import BaseModel, Field

from apps.llm.errors import (
    BudgetReached,
    ModelAnswerUnreadable,
    ModelAuthFailed,
    ModelContextTooLong,
    ModelNotConfigured,
    ModelOutputInvalid,
    ModelRateLimited,
    ModelRefused,
    ModelServerFailed,
    ModelStreamCut,
    ModelTimedOut,
    ModelUnreachable,
)
from apps.llm.models import ConnectionHealth, ModelCall
from apps.llm.port import ModelRequest, Purpose, generate, open_connection, room_for
from apps.llm.probing import ask_whether_ready, voice_known
from tests.doubles.model import ModelDouble
from tests.llm.conftest import TOKEN

pytestmark = pytest.mark.django_db

SCOPE = "project/prj_one"
WAYS = [(protocol, streaming) for protocol in ("responses", "chat_completions") for streaming in ("auto", "off")]


class Note(BaseModel):
    title: str = Field(description="A short title.")
    source_ids: list[str] = Field(description="Where it is from.")
    tags: list[str] = []


NOTE = {"title": "接力", "source_ids": ["mem_1"], "tags": []}


def ask(content="Write a note about mem_1.", **fields):
    while_waiting = fields.pop("while_waiting", None)
    connection = fields.pop("connection", None)
    purpose = Purpose("test.note", fields.pop("scope_key", SCOPE), job_id="job_1", prompt_version="v1")
    request = ModelRequest(purpose, "You write notes.", content, Note, **fields)
    return generate(request, while_waiting=while_waiting, connection=connection)


def health():
    return ConnectionHealth.objects.get(connection__is_current=True)


@pytest.mark.parametrize(("protocol", "streaming"), WAYS)
def test_every_way_of_asking_brings_the_same_answer(model, connect, protocol, streaming):
    connect(model, protocol=protocol, streaming=streaming)
    model.answer({"json": NOTE})
    answer = ask()
    assert answer.value == Note(**NOTE)
    assert (answer.protocol, answer.streamed) == (protocol, streaming == "auto")
    assert (answer.model, answer.response_model, answer.requests) == ("double-text", "double-text-2026", 1)
    assert answer.tokens_in > 0 and answer.tokens_out > 0
    record = ModelCall.objects.get(purpose="test.note")
    assert (record.outcome, record.scope_key, record.job_id) == ("OK", SCOPE, "job_1")
    assert record.service_request_id.startswith("req_")
    assert (record.tokens_in, record.tokens_out, record.is_estimate) == (answer.tokens_in, answer.tokens_out, False)


@pytest.mark.parametrize(("protocol", "streaming"), WAYS)
def test_only_what_was_meant_leaves_the_machine(model, connect, protocol, streaming, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-program")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-program")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: of-another-program")
    connect(model, protocol=protocol, streaming=streaming)
    model.answer({"json": NOTE})
    ask()
    (request,) = model.generations()
    assert request["headers"]["authorization"] == f"Bearer {TOKEN}"
    assert "of-another-program" not in json.dumps(request)
    assert not [name for name in request["headers"] if name.startswith(("x-", "openai"))]
    assert request["headers"]["user-agent"].startswith("MemRelay/")
    assert request["body"]["store"] is False
    assert "tools" not in request["body"]


def test_without_a_token_none_is_sent(model, connect):
    connect(model, token=None)
    model.answer({"json": NOTE})
    ask()
    assert "authorization" not in model.generations()[0]["headers"]


@pytest.mark.parametrize(("protocol", "streaming"), WAYS)
@pytest.mark.parametrize("garbage", ["thinking", "fenced"])
def test_thinking_and_fences_around_an_answer_are_put_aside(model, connect, protocol, streaming, garbage):
    connect(model, protocol=protocol, streaming=streaming)
    model.answer({"garbage": garbage})
    assert ask().value.title == "A title of the double."


@pytest.mark.parametrize(
    ("garbage", "problem"),
    [
        ("prose", "prose"),
        ("half", "broken_json"),
        ("missing", "wrong_fields"),
        ("schema", "schema_echoed"),
        ("nothing", "empty"),
    ],
)
def test_what_is_no_answer_is_refused_and_costs_one_request(model, connect, garbage, problem):
    connect(model)
    model.answer({"garbage": garbage, "times": 9})
    with pytest.raises(ModelOutputInvalid) as failure:
        ask()
    assert failure.value.problem == problem
    assert failure.value.text not in str(failure.value.as_dict()) or not failure.value.text
    assert len(model.generations()) == 1
    record = ModelCall.objects.get(purpose="test.note")
    assert record.outcome == "MODEL_OUTPUT_INVALID" and record.tokens_in > 0
    assert health().state == "available"  # The endpoint is well; the answer was not.


def test_ids_that_do_not_exist_and_empty_lists_are_for_the_one_who_asked_to_judge(model, connect):
    connect(model)
    model.answer({"garbage": "unknown_ids"}, {"garbage": "empty"})
    assert ask().value.source_ids == ["mem_00000000000000000000000000"]
    assert ask().value.source_ids == []


def test_a_broken_answer_can_be_put_in_order_once(model, connect):
    connect(model)
    model.answer({"garbage": "half"}, {"json": NOTE})
    answer = ask(repair=True)
    assert answer.is_repaired and answer.value == Note(**NOTE)
    first, second = model.generations()
    assert "mem_1" in json.dumps(first["body"]) and "mem_1" not in json.dumps(second["body"])
    model.answer({"garbage": "half", "times": 9})
    with pytest.raises(ModelOutputInvalid):
        ask(repair=True)
    assert len(model.generations()) == 2


def test_prose_is_never_repaired(model, connect):
    connect(model)
    model.answer({"garbage": "prose", "times": 9})
    with pytest.raises(ModelOutputInvalid):
        ask(repair=True)
    assert len(model.generations()) == 1


@pytest.mark.parametrize(("protocol", "streaming"), WAYS)
@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"status": 429, "retry_after": 0}, ModelRateLimited),
        ({"status": 500}, ModelServerFailed),
        ({"status": 503, "retry_after": 0}, ModelServerFailed),
        ({"status": 408}, ModelTimedOut),
        ({"cut": "before"}, ModelStreamCut),
        ({"cut": "middle"}, ModelStreamCut),
        ({"cut": "end"}, ModelStreamCut),
        ({"content_type": "text/html"}, ModelAnswerUnreadable),
        ({"body": {"surprise": 1}}, ModelAnswerUnreadable),
        ({"body": []}, ModelAnswerUnreadable),
    ],
)
def test_what_passes_is_tried_three_times_more_and_then_waited_for(model, connect, protocol, streaming, step, error):
    connect(model, protocol=protocol, streaming=streaming)
    model.answer({**step, "times": 3}, {"json": NOTE})
    assert ask().requests == 4
    model.answer({**step, "times": 9})
    with pytest.raises(error) as failure:
        ask()
    assert failure.value.consequence == "wait"
    assert len(model.generations()) == 4
    assert health().state == "waiting_dependency"
    assert ModelCall.objects.filter(purpose="test.note", outcome=error.code, requests=4).count() == 1


def test_a_stream_that_stops_as_if_it_were_whole_is_cut(model, connect):
    for protocol in ("responses", "chat_completions"):
        connect(model, protocol=protocol)
        model.answer({"cut": "quiet", "times": 9})
        with pytest.raises(ModelStreamCut):
            ask()


@pytest.mark.parametrize(("protocol", "streaming"), WAYS)
@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"status": 401}, ModelAuthFailed),
        ({"status": 403}, ModelAuthFailed),
        ({"status": 400, "code": "context_length_exceeded"}, ModelContextTooLong),
        ({"status": 400, "message": "This model's maximum context length is 8192 tokens."}, ModelContextTooLong),
        ({"status": 413}, ModelContextTooLong),
        ({"fit": True, "finish": "refusal"}, ModelRefused),
        ({"fit": True, "finish": "content_filter"}, ModelRefused),
        ({"fit": True, "finish": "length"}, ModelOutputInvalid),
        ({"status": 429, "code": "insufficient_quota"}, ModelRateLimited),
        ({"status": 429, "retry_after": 3600}, ModelRateLimited),
    ],
)
def test_what_does_not_pass_is_asked_once(model, connect, protocol, streaming, step, error):
    connect(model, protocol=protocol, streaming=streaming)
    model.answer({**step, "times": 9})
    with pytest.raises(error):
        ask()
    assert len(model.generations()) == 1


def test_a_failure_that_waits_is_told_at_once_until_it_is_time_to_look_again(model, connect):
    connect(model)
    model.answer({"status": 429, "retry_after": 3600, "times": 9})
    with pytest.raises(ModelRateLimited):
        ask()
    model.answer({"json": NOTE})
    with pytest.raises(ModelRateLimited) as failure:
        ask()
    assert 3500 < failure.value.facts["seconds"] <= 3600
    assert model.generations() == []
    ConnectionHealth.objects.update(next_probe_at="2026-01-01T00:00:00Z")
    model.answer({"fit": True}, {"json": NOTE})
    assert ask().value.title == "接力"
    assert model.generations()[0]["body"]["input"] == "Are you ready?"
    assert health().state == "available"


def test_a_refused_token_is_not_tried_again_until_somebody_mends_it(model, connect):
    connect(model)
    model.scenario(token="another-token")
    with pytest.raises(ModelAuthFailed):
        ask()
    model.answer()
    with pytest.raises(ModelAuthFailed):
        ask()
    assert model.log() == []
    status = connect(model, token="another-token")
    assert status.state == "available"
    assert ask().value


def test_a_connection_that_nobody_tested_is_tested_by_its_first_use(model, connect):
    status = connect(model, test=False)
    assert (status.state, status.verified, model.log()) == ("checking", False, [])
    assert ask().value
    assert health().verified_at is not None


def test_work_keeps_the_connection_it_began_with(model, connect):
    connect(model)
    held = open_connection()
    connect(model, token="sk-the-next-token", test=False)
    model.answer({"json": NOTE})
    assert ask(connection=held).connection_revision == 1
    assert model.generations()[0]["headers"]["authorization"] == f"Bearer {TOKEN}"


def test_without_a_connection_there_is_no_model(model, world, connect):
    with pytest.raises(ModelNotConfigured):
        ask()
    connect(model, enabled=False)
    with pytest.raises(ModelNotConfigured):
        ask()


def test_an_endpoint_that_is_not_there_is_unreachable_and_nothing_is_counted(model, connect):
    with ModelDouble() as other:
        connect(other)
    with pytest.raises(ModelUnreachable):
        ask()
    record = ModelCall.objects.get(purpose="test.note")
    assert (record.outcome, record.tokens_in, record.tokens_out) == ("MODEL_UNREACHABLE", 0, 0)


def test_parameters_that_an_endpoint_refuses_are_left_out_and_remembered(model, connect):
    connect(model, protocol="chat_completions")
    model.scenario(refused_parameters=["store", "max_tokens", "stream_options"], structured="json_object")
    model.answer({"json": NOTE}, {"json": NOTE})
    assert ask().requests == 5
    model.scenario(answers=[{"json": NOTE}])
    answer = ask()
    assert answer.requests == 1
    body = model.generations()[-1]["body"]
    assert body["response_format"] == {"type": "json_object"} and body["max_completion_tokens"]
    assert "source_ids" in body["messages"][0]["content"]
    assert ModelCall.objects.filter(purpose="test.note", is_estimate=True).count() == 2  # Nobody counts its streams.


def test_an_endpoint_that_stops_streaming_is_asked_without(model, connect):
    connect(model)
    model.scenario(streaming="refused")
    answer = ask()
    assert (answer.streamed, answer.requests) == (False, 2)
    assert ask().requests == 1


def test_a_request_beyond_the_limits_is_not_sent(model, connect):
    connect(model, max_input_tokens=500)
    model.answer()
    with pytest.raises(ModelContextTooLong) as failure:
        ask("记" * 500)
    assert failure.value.facts["limit"] == 500
    assert model.log() == []
    connection = open_connection()
    room = room_for(connection, "You write notes.", Note)
    assert 0 < room < 500
    assert ask("记" * room).value


def test_a_cap_is_reached_before_the_call(model, connect, settings):
    connect(model)
    settings.MODEL_DAY_TOKENS = 4000
    answer = ask(max_output_tokens=1000)
    ModelCall.objects.filter(pk=answer.call_id).update(tokens_in=3500)
    model.answer()
    with pytest.raises(BudgetReached) as failure:
        ask(max_output_tokens=1000)
    assert failure.value.consequence == "pause"
    assert failure.value.facts["cap"] == 4000
    assert model.log() == []
    assert ask(scope_key="project/prj_two", max_output_tokens=1000).value
    settings.MODEL_DAY_TOKENS = 0
    assert ask().value
    settings.MODEL_MONTH_TOKENS = 10
    with pytest.raises(BudgetReached, match="month"):
        ask()


def test_the_call_of_a_killed_process_is_closed_and_stays_booked(model, connect):
    connect(model)
    answer = ask()
    ModelCall.objects.filter(pk=answer.call_id).update(outcome="RUNNING", owner="a-dead-owner", tokens_in=77)
    ask()
    record = ModelCall.objects.get(pk=answer.call_id)
    assert (record.outcome, record.tokens_in) == ("MODEL_CALL_INTERRUPTED", 77)


def test_a_slow_answer_times_out_and_a_slow_stream_does_not(model, connect):
    connect(model, request_timeout_seconds=1)
    model.answer({"json": NOTE, "pause": 0.15})
    assert ask().value
    model.answer({"json": NOTE, "delay": 1.3}, {"json": NOTE})
    answer = ask()
    assert answer.requests == 2
    assert ModelCall.objects.get(pk=answer.call_id).is_estimate  # The lost answer may have been billed.
    model.answer({"json": NOTE, "delay": 1.3})
    with pytest.raises(ModelTimedOut):
        converse_once()


def converse_once():
    """One try, as a look at the endpoint takes."""
    connection = open_connection()
    return ask_whether_ready(connection, voice_known(connection))


class Cancelled(Exception):
    pass


def test_whoever_waits_can_end_the_call_at_once(model, connect):
    connect(model)
    model.answer({"json": NOTE, "delay": 5})
    looks = []

    def look(seconds):
        looks.append(threading.current_thread())
        raise Cancelled

    began = time.monotonic()
    with pytest.raises(Cancelled):
        ask(while_waiting=look)
    assert time.monotonic() - began < 3
    assert looks == [threading.current_thread()]
    record = ModelCall.objects.get(purpose="test.note")
    assert record.outcome == "MODEL_CALL_STOPPED" and record.tokens_in > 0
    assert health().state == "available"


def test_whoever_waits_may_look_around_meanwhile(model, connect):
    connect(model)
    model.answer({"status": 500}, {"json": NOTE, "delay": 1.2})
    looks = []
    answer = ask(while_waiting=looks.append)
    assert answer.value and answer.requests == 2
    assert looks and looks == sorted(looks)


def test_no_error_and_no_record_holds_the_token_or_the_models_words(model, connect, caplog):
    caplog.set_level("DEBUG")
    connect(model)
    model.scenario(token="another-token")
    with pytest.raises(ModelAuthFailed) as failure:
        ask("The secret plan.")
    told = f"{failure.value!r} {failure.value.as_dict()} {failure.value.__cause__!r} {failure.getrepr(style='long')}"
    told += caplog.text + str(list(ModelCall.objects.values())) + str(list(ConnectionHealth.objects.values()))
    assert TOKEN not in told.replace(f'TOKEN = "{TOKEN}"', "")
    assert "The secret plan." not in caplog.text

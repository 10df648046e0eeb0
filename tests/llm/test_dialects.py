import pytest

from apps.llm.conversation import Voice, pause_before
from apps.llm.dialects import Dialect, Protocol, Structure, adapted
from apps.llm.errors import ModelRateLimited, ModelServerFailed

CHAT, RESPONSES = Dialect.of(Protocol.CHAT_COMPLETIONS), Dialect.of(Protocol.RESPONSES)


@pytest.mark.parametrize(
    ("dialect", "complaint", "field", "left"),
    [
        (
            CHAT,
            "unsupported parameter: 'max_tokens'. use 'max_completion_tokens' instead.",
            "limit",
            "max_completion_tokens",
        ),
        (RESPONSES, "unknown parameter: max_output_tokens", "limit", ""),
        (CHAT, "stream_options is not allowed", "counts_streams", False),
        (RESPONSES, "unrecognized request argument: store", "says_store", False),
        (CHAT, "response_format unsupported_value 'json_schema' is not supported", "structure", Structure.JSON_OBJECT),
        (RESPONSES, "text.format.type must be text", "structure", Structure.JSON_OBJECT),
    ],
)
def test_what_a_refusal_names_is_left_out(dialect, complaint, field, left):
    smaller = adapted(dialect, complaint)
    assert smaller is not None and getattr(smaller, field) == left


@pytest.mark.parametrize("complaint", ["", "bad request", "temperature is out of range", "messages: invalid role"])
def test_a_refusal_that_names_nothing_of_ours_changes_nothing(complaint):
    assert Voice(CHAT).quieter(complaint) is None
    assert Voice(RESPONSES, streams=True).quieter(complaint) is None


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
def test_a_dialect_gets_smaller_only_so_often(dialect):
    complaint, steps, voice = "store stream stream_options max_tokens max_output_tokens text.format", 0, Voice(dialect)
    while smaller := voice.quieter(complaint):
        voice, steps = smaller, steps + 1
        assert steps < 10
    assert voice.dialect == dialect.bare()


def test_a_dialect_is_kept_as_json():
    for dialect in (CHAT, RESPONSES.bare()):
        assert Dialect.from_json({**dialect.as_json(), "unknown": 1}) == dialect


@pytest.mark.parametrize(
    ("failure", "shortest", "longest"),
    [
        (ModelServerFailed(), 1.5, 2.5),
        (ModelServerFailed(seconds=7), 7, 7),
        (ModelServerFailed(seconds=0), 0, 0),
    ],
)
def test_a_pause_is_what_the_endpoint_asks_for_else_doubles(settings, failure, shortest, longest):
    settings.MODEL_RETRY_SECONDS = 1.0
    pause = pause_before(2, failure)
    assert pause is not None and shortest <= pause <= longest


@pytest.mark.parametrize("failure", [ModelRateLimited(seconds=61), ModelRateLimited(quota_is_gone=True)])
def test_a_long_wait_gives_the_worker_back(failure):
    assert pause_before(1, failure) is None

"""The test of a connection against endpoints of every kind, and what follows from its verdict."""

import json
from datetime import timedelta

import pytest

from apps.base import clock
from apps.llm import jobs
from apps.llm.connections import open_connection
from apps.llm.errors import ModelRateLimited, ModelServerFailed
from apps.llm.health import failed, pause_after
from apps.llm.models import ConnectionHealth, ModelConnection
from tests.doubles.model import ModelDouble
from tests.world import call

pytestmark = pytest.mark.django_db

BACK: list[str] = []


def note_recovery(dependency: str) -> None:
    BACK.append(dependency)


@pytest.fixture
def told(settings):
    """What those who wait for the model were told."""
    BACK.clear()
    settings.DEPENDENCY_LISTENERS = [f"{__name__}.note_recovery"]
    return BACK


def states(status, *names):
    return {name: status.capabilities[name].state.value for name in names}


def test_an_endpoint_that_can_everything_is_found_to(model, connect):
    status = connect(model, vision_model="double-vision")
    assert status.state == "available" and status.verified
    assert (status.effective_protocol, status.effective_streaming) == ("responses", True)
    assert status.structured_output == "json_schema"
    assert {part.state.value for part in status.capabilities.values()} == {"supported"}
    assert status.error is None and status.last_success_at and status.next_probe_at
    assert len(model.generations()) == 4


@pytest.mark.parametrize("status_code", [404, 405, 400, 500])
@pytest.mark.parametrize(("spoken", "other"), [("responses", "chat_completions"), ("chat_completions", "responses")])
def test_an_endpoint_with_one_protocol_is_used_by_that_one(model, connect, spoken, other, status_code):
    model.scenario(protocols=[spoken], unsupported_status=status_code)
    status = connect(model)
    assert (status.state, status.effective_protocol) == ("available", spoken)
    assert status.capabilities[spoken].state == "supported"
    assert status.capabilities[other].state == ("unsupported" if status_code in (404, 405) else "error")
    assert status.error is None


@pytest.mark.parametrize("pinned", ["responses", "chat_completions"])
def test_a_pinned_protocol_is_the_only_one_asked_for(model, connect, pinned):
    status = connect(model, protocol=pinned)
    assert status.effective_protocol == pinned
    assert len({entry["path"] for entry in model.generations()}) == 1
    other = "chat_completions" if pinned == "responses" else "responses"
    assert status.capabilities[other].state == "unknown"


def test_a_pinned_protocol_that_is_not_spoken_is_a_matter_of_the_configuration(model, connect):
    model.scenario(protocols=["chat_completions"])
    status = connect(model, protocol="responses")
    assert (status.state, status.error.code) == ("configuration_error", "MODEL_PROTOCOL_UNSUPPORTED")
    assert status.next_probe_at is None


@pytest.mark.parametrize(
    ("structured", "found"), [("json_object", "json_object"), ("none", "in_words"), ("ignored", "in_words")]
)
@pytest.mark.parametrize("protocol", ["responses", "chat_completions"])
def test_structure_is_had_by_the_best_way_there_is(model, connect, structured, found, protocol):
    model.scenario(structured=structured)
    status = connect(model, protocol=protocol)
    assert (status.state, status.structured_output) == ("available", found)


def test_a_model_that_only_chats_is_no_good_for_structured_work(model, connect):
    model.scenario(otherwise={"garbage": "prose"})
    status = connect(model)
    assert (status.state, status.error.code) == ("configuration_error", "MODEL_STRUCTURE_UNSUPPORTED")
    assert states(status, "responses", "structured_output") == {
        "responses": "supported",
        "structured_output": "unsupported",
    }


@pytest.mark.parametrize(
    ("streaming", "wanted", "plain", "streamed", "effective"),
    [
        ("yes", "auto", "supported", "supported", True),
        ("yes", "off", "supported", "unknown", False),
        ("refused", "auto", "supported", "unsupported", False),
        ("only", "auto", "unsupported", "supported", True),
        ("always", "auto", "unsupported", "supported", True),  # As one of the common servers does.
        ("always", "off", "unsupported", "supported", True),
        ("ignored", "auto", "supported", "unsupported", False),
    ],
)
@pytest.mark.parametrize("protocol", ["responses", "chat_completions"])
def test_one_way_of_sending_is_enough(model, connect, protocol, streaming, wanted, plain, streamed, effective):
    model.scenario(streaming=streaming)
    status = connect(model, protocol=protocol, streaming=wanted)
    assert status.state == "available" and status.effective_streaming is effective
    assert states(status, "non_streaming", "streaming") == {"non_streaming": plain, "streaming": streamed}


def test_what_is_nice_to_have_may_be_missing(model, connect):
    model.scenario(usage=False, models=None, vision_models=[])
    status = connect(model, vision_model="double-text")
    assert status.state == "available"
    assert states(status, "usage", "model_discovery", "vision") == {
        "usage": "unsupported",
        "model_discovery": "unsupported",
        "vision": "unsupported",
    }


def test_an_endpoint_that_answers_400_to_whatever_it_does_not_know_is_asked_for_the_least(model, connect):
    model.answer({"status": 400, "message": "bad request"}, {"fit": True})
    status = connect(model, protocol="chat_completions", streaming="off")
    assert (status.state, status.structured_output) == ("available", "in_words")
    assert set(model.generations()[-1]["body"]) == {"model", "messages"}


@pytest.mark.parametrize("protocol", ["responses", "chat_completions"])
def test_the_words_of_the_answer_reach_the_model_by_the_schema_alone(model, connect, protocol):
    """Else a server that ignores the schema would pass for one that obeys it, and real work would never see its schema."""
    connect(model, protocol=protocol, streaming="off")
    native = model.generations()[0]["body"]
    sent_otherwise = {name: part for name, part in native.items() if name not in ("text", "response_format")}
    assert not [word for word in ("works", "colour", "cobalt", "saffron") if f'"{word}"' in json.dumps(sent_otherwise)]
    assert all(f'"{word}"' in json.dumps(native) for word in ("works", "colour", "cobalt", "saffron"))


def test_a_server_that_fails_at_a_field_it_does_not_know_is_asked_without_it(model, connect):
    message = (
        "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'),"
        " 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}"
    )
    model.answer({"status": 500, "message": message}, {"fit": True})
    status = connect(model, protocol="chat_completions", streaming="off")
    assert (status.state, status.structured_output) == ("available", "json_object")


def test_a_server_that_fails_without_a_word_about_the_request_is_waited_for(model, connect):
    model.scenario(otherwise={"status": 500, "message": "Internal error: the body of the stored text has no format."})
    status = connect(model, protocol="chat_completions", streaming="off")
    assert (status.state, status.error.code) == ("waiting_dependency", "MODEL_SERVER_FAILED")


def test_a_wrong_token_is_named_as_such_and_asked_about_no_further(model, connect):
    model.scenario(token="another-token")
    status = connect(model)
    assert (status.state, status.error.code, status.error.http_status) == (
        "configuration_error",
        "MODEL_AUTH_FAILED",
        401,
    )
    assert states(status, "connect", "authentication") == {"connect": "supported", "authentication": "error"}
    assert len(model.generations()) == 1


def test_a_wrong_model_is_named_as_such(model, connect):
    status = connect(model, text_model="no-such-model")
    assert (status.state, status.error.code) == ("configuration_error", "MODEL_NOT_FOUND")


def test_a_wrong_path_is_named_as_such(model, connect):
    status = connect(model, base_url=model.base_url.removesuffix("/v1"))
    assert (status.state, status.error.code) == ("configuration_error", "MODEL_PROTOCOL_UNSUPPORTED")


def test_a_redirect_is_not_followed(model, connect):
    with ModelDouble() as other:
        model.scenario(redirect_to=other.base_url)
        status = connect(model)
        assert (status.state, status.error.code) == ("configuration_error", "MODEL_REDIRECTED")
        assert other.log() == []


def test_nobody_there_is_waited_for(connect):
    with ModelDouble() as gone:
        pass
    status = connect(gone)
    assert (status.state, status.error.code) == ("waiting_dependency", "MODEL_UNREACHABLE")
    assert status.next_probe_at > clock.now()


def test_the_pause_doubles_up_to_an_hour_unless_the_endpoint_names_its_own(model, connect):
    assert [pause_after(failures, ModelServerFailed()) for failures in range(1, 7)] == [
        300,
        600,
        1200,
        2400,
        3600,
        3600,
    ]
    assert pause_after(3, ModelRateLimited(seconds=42)) == 42
    connect(model)
    connection = open_connection()
    for failures in (1, 2):
        since = clock.now()
        failed(connection, ModelServerFailed(), since=since)
        failed(connection, ModelServerFailed(), since=since)  # Of a call at the same time.
        assert ConnectionHealth.objects.get(pk=connection.id).failures == failures


def test_recovery_is_told_to_those_who_wait(world, model, connect, told):
    connect(model)
    assert told == ["model"]
    connection = open_connection()
    failed(connection, ModelServerFailed(), since=clock.now())
    assert told == ["model"]
    assert call(world.operator, "curation_model_connection_test").state == "available"
    assert told == ["model", "model"]


def test_a_test_of_a_replaced_revision_wakes_nobody(world, model, connect, told):
    connect(model, test=False)
    row = ModelConnection.objects.get()
    connect(model, text_model="double-vision", test=False)
    jobs.connection_probe(row.pk)
    assert told == [] and model.log() == []


def test_a_look_is_rung_for_when_it_is_due_and_only_then(model, connect, told, monkeypatch):
    rung = []
    monkeypatch.setattr(jobs, "ring", lambda *bell: rung.append(bell))
    connect(model, test=False)
    assert not jobs.ring_if_due()
    connect(model)
    assert not jobs.ring_if_due()
    ConnectionHealth.objects.update(next_probe_at=clock.now() - timedelta(seconds=1))
    assert jobs.ring_if_due() and not jobs.ring_if_due()
    ((function, connection_id),) = rung
    assert function == "apps.llm.jobs.connection_probe"
    model.answer()
    jobs.connection_probe(connection_id)
    assert len(model.generations()) == 1  # A glance, not the whole test.
    assert ConnectionHealth.objects.get(pk=connection_id).next_probe_at > clock.now() + timedelta(minutes=4)


def test_a_look_that_finds_the_endpoint_back_wakes_those_who_wait(model, connect, told):
    connect(model)
    connection = open_connection()
    failed(connection, ModelServerFailed(), since=clock.now())
    model.answer({"status": 503})
    jobs.connection_probe(connection.id)
    assert ConnectionHealth.objects.get().failures == 2 and told == ["model"]
    jobs.connection_probe(connection.id)
    assert ConnectionHealth.objects.get().state == "available" and told == ["model", "model"]


def test_nothing_is_rung_for_without_a_connection_in_use(world, model, connect, monkeypatch):
    monkeypatch.setattr(jobs, "ring", lambda *bell: pytest.fail("rung"))
    assert not jobs.ring_if_due()
    connect(model)
    past = clock.now() - timedelta(seconds=1)
    connect(model, enabled=False, test=False)
    ConnectionHealth.objects.update(next_probe_at=past)
    assert not jobs.ring_if_due()
    call(world.operator, "curation_model_connection_delete")
    assert not jobs.ring_if_due()


def test_no_look_is_taken_where_the_interval_is_nought(model, connect):
    assert connect(model, probe_interval_seconds=0).next_probe_at is None

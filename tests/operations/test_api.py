"""REST as a whole: who may come in, one shape for every refusal, nothing that ends in a 500 or a page of HTML."""

import json
from datetime import UTC, datetime

import pytest
from django.test import Client

from apps.memories.models import Memory
from apps.operations.mcp import as_json
from apps.operations.operation import OPERATIONS, Operation
from memrelay.api import RATES
from memrelay.rates import MOST_KEYS, Rates
from tests.world import Rest


def error_of(response, status, code):
    """Every refusal has this shape, and no other."""
    assert response.status_code == status, response.content
    assert response["Content-Type"].startswith("application/json")
    body = response.json()
    assert list(body) == ["error"] and set(body["error"]) == {"code", "message", "hint", "facts"}
    assert body["error"]["code"] == code
    return body["error"]


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Bearer nonsense", "Basic YTpi", "bearer mrl_" + "a" * 43]
)
def test_without_a_good_token_nobody_comes_in(world, header):
    client = Client(raise_request_exception=False)
    headers = {} if header is None else {"authorization": header}
    for method in ("get", "post"):
        refused = getattr(client, method)("/api/v1/projects", headers=headers)
        error_of(refused, 401, "NOT_SIGNED_IN")
        assert refused["WWW-Authenticate"].startswith("Bearer")


def test_a_bad_token_is_not_made_good_by_a_session(world):
    rest = world.at_the_console(world.alice)
    assert rest.get("/projects").status_code == 200
    refused = rest.client.get("/api/v1/projects", headers={"authorization": "Bearer mrl_nonsense"})
    error_of(refused, 401, "NOT_SIGNED_IN")


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/a", "/api/v1/nothing", "/api/v1/projects/"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_a_path_that_is_not_there_is_answered_in_json(world, path, method):
    answer = Client(enforce_csrf_checks=True, raise_request_exception=False).generic(method, path)
    if answer.status_code == 405:  # The root of the API is there and answers GET alone.
        error_of(answer, 405, "METHOD_NOT_ALLOWED")
    else:
        error_of(answer, 404, "NOT_FOUND")


def test_a_method_that_a_path_does_not_know_names_those_it_knows(world):
    refused = world.bobs_agent.rest.send("PUT", "/projects", {})
    error_of(refused, 405, "METHOD_NOT_ALLOWED")
    assert set(refused["Allow"].split(", ")) == {"GET", "POST"}


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"name": }', b"[" * 200_000, b"9" * 5000])
def test_a_body_that_is_no_json_is_refused(world, body):
    error_of(world.bobs_agent.rest.post("/projects", body), 400, "MALFORMED_BODY")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"text"', b"7", b"null", b"true", b"[[]]", b"{}", b'{"name": {"a": 1}}', b'{"name": NaN}']
)
def test_json_that_is_no_object_with_the_arguments_is_invalid(world, body):
    error_of(world.bobs_agent.rest.post("/projects", body), 422, "INVALID")


def test_a_body_that_is_too_large_is_refused(world, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    error_of(world.bobs_agent.rest.post("/projects", name="a", description="b" * 1000), 413, "BODY_TOO_LARGE")


def test_a_query_of_too_many_fields_is_refused(world):
    query = "&".join(f"a{number}=1" for number in range(1500))
    refused = world.bobs_agent.rest.client.get(f"/api/v1/projects?{query}", headers=world.bobs_agent.rest.headers)
    error_of(refused, 400, "MALFORMED_REQUEST")


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 201},
        {"limit": 10**30},
        {"limit": "x"},
        {"limit": -1},
        {"archived": "perhaps"},
        {"limit": "1e3"},
    ],
)
def test_unsound_queries_are_named(world, query):
    error = error_of(world.bobs_agent.rest.get("/projects", **query), 422, "INVALID")
    assert list(error["facts"]["fields"]) == list(query)


@pytest.mark.parametrize("text", ["\x00", "'; DROP TABLE x; --", "%00", "😀", "\ufffe", "a" * 200, "%", "_", "\\"])
def test_odd_text_finds_nothing_and_breaks_nothing(world, text):
    assert world.bobs_agent.rest.get("/projects", text=text).json()["projects"] == []


@pytest.mark.parametrize("name", ["%ff%fe", "%00", "a" * 81, "..%2f..", "prj_" + "9" * 60, "😀", "%0a", "0", "9" * 30])
@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_odd_names_in_a_path_are_refused_and_break_nothing(world, name, method):
    answer = world.bobs_agent.rest.send(method, f"/projects/{name}", {})
    assert answer.status_code in (404, 422), answer.content
    assert set(answer.json()) == {"error"}


def test_half_a_character_is_mended_on_its_way_in(world):
    made = world.bobs_agent.rest.post("/projects", b'{"name": "half \\ud83d", "description": "\\udc00"}')
    assert made.status_code == 201, made.content
    assert made.json()["name"] == "half \ufffd"


def test_a_defect_of_ours_tells_nothing_but_its_number(world, monkeypatch, caplog):
    def broken(self, caller, arguments):
        raise RuntimeError("the password is hunter2 in /srv/secret")

    monkeypatch.setattr(Operation, "answer_accepted", broken)
    failed = world.carols_reader.rest.get("/projects")
    error = error_of(failed, 500, "INTERNAL")
    assert "hunter2" not in failed.content.decode() and "/srv" not in failed.content.decode()
    assert error["facts"] == {"request_id": failed["X-Request-ID"]}
    assert "hunter2" in caplog.text


def test_a_refusal_comes_in_the_callers_language(world):
    told = {
        language: world.carols_reader.rest.client.get(
            "/api/v1/projects/nowhere", headers=world.carols_reader.rest.headers | {"accept-language": language}
        ).json()["error"]
        for language in ("en", "zh-hans")
    }
    assert told["en"]["code"] == told["zh-hans"]["code"] == "NOT_FOUND"
    assert told["en"]["message"] == "There is no workspace nowhere."


def test_who_calls_too_often_has_to_wait(world, settings):
    settings.RATE_PER_MINUTE = 3
    rest = world.bobs_agent.rest
    answers = [rest.get("/projects") for _ in range(4)]
    assert [answer.status_code for answer in answers[:3]] == [200, 200, 200]
    error_of(answers[3], 429, "RATE_LIMITED")
    assert 1 <= int(answers[3]["Retry-After"]) <= 60
    assert world.carols_reader.rest.get("/projects").status_code == 200


def test_guessing_tokens_is_slowed_down_by_address_and_hurts_no_good_token(world, settings):
    settings.RATE_PER_MINUTE = 3
    good = world.bobs_agent.rest
    for number in range(4):
        refused = Rest(f"mrl_{number:043d}").get("/projects")
    error_of(refused, 429, "RATE_LIMITED")
    assert good.get("/projects").status_code == 200


def test_a_rate_of_0_is_no_limit(world, settings):
    settings.RATE_PER_MINUTE = 0
    assert {world.bobs_agent.rest.get("/projects").status_code for _ in range(20)} == {200}
    assert RATES._counts == {}


def test_rates_begin_afresh_each_minute_and_take_bounded_room(monkeypatch):
    moment = [600.0]
    monkeypatch.setattr("memrelay.rates.time.monotonic", lambda: moment[0])
    rates = Rates()
    assert [rates.seconds_to_wait("a", 1) for _ in range(2)] == [0, 60]
    moment[0] = 659.0
    assert rates.seconds_to_wait("a", 1) == 1
    moment[0] = 660.0
    assert rates.seconds_to_wait("a", 1) == 0
    for number in range(MOST_KEYS + 10):
        rates.seconds_to_wait(f"key {number}", 1)
    assert len(rates._counts) <= MOST_KEYS


def test_every_answer_carries_the_requests_id(world):
    given = world.bobs_agent.rest.client.get("/api/v1/projects", headers={"x-request-id": "mine-1"})
    assert given["X-Request-ID"] == "mine-1"
    made = world.bobs_agent.rest.client.get("/api/v1/projects", headers={"x-request-id": "a\nb"})
    assert made["X-Request-ID"].startswith("req_")


def test_the_documents_need_no_network_and_no_sign_in(world):
    client = Client()
    schema = client.get("/api/v1/openapi.json")
    assert schema.status_code == 200 and "/api/v1/projects" in schema.json()["paths"]
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    text = page.content.decode()
    assert "https://" not in text and "//cdn" not in text and "<script>" not in text


def test_one_tokens_read_costs_two_queries(world, django_assert_num_queries):
    rest = world.bobs_agent.rest
    rest.get("/projects")
    with django_assert_num_queries(2):
        rest.get("/projects")


def test_every_operation_answers_json_the_standard_knows(world):
    answer = world.bobs_agent.rest.get("/projects")
    json.loads(answer.content, parse_constant=lambda name: pytest.fail(name))
    assert OPERATIONS


def test_a_time_is_written_as_every_other_door_writes_it(world):
    saved = world.bobs_agent.call("memory_save", title="Tea", body="Green tea.")
    for microsecond in (0, 225_000, 225_123):
        moment = datetime(2026, 11, 30, 9, 0, 0, microsecond, tzinfo=UTC)
        Memory.objects.filter(stable_id=saved.memory_id).update(updated_at=moment)
        read = world.bobs_agent.call("memory_get", memory_id=saved.memory_id)
        over_rest = world.bobs_agent.rest.get(f"/memories/{saved.memory_id}").json()
        assert over_rest["updated_at"] == json.loads(as_json(read))["updated_at"]

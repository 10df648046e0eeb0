import logging

import pytest

from memrelay.logs import REQUEST_ID, RequestFilter


@pytest.mark.parametrize("given", ["req-7", "A.b_c-1"])
def test_a_sound_request_id_of_the_caller_is_kept(client, given):
    assert client.get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["", "two words", "x" * 65, "line\x0bbreak"])
def test_any_other_gets_a_new_one(client, given):
    answered = client.get("/healthz", headers={"X-Request-ID": given})["X-Request-ID"]
    assert answered.startswith("req_") and answered != given


def test_log_lines_carry_the_id_of_their_request():
    record = logging.makeLogRecord({})
    mark = REQUEST_ID.set("req_1")
    RequestFilter().filter(record)
    REQUEST_ID.reset(mark)
    assert record.request_id == "req_1"

    RequestFilter().filter(record)
    assert record.request_id == "-"


def test_every_answer_carries_the_content_policy(client):
    assert "default-src 'self'" in client.get("/healthz")["Content-Security-Policy"]

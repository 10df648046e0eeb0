"""Recall as a client meets it: what fits comes once, beside the message, and nothing ever stands in the message's way."""

import json
from typing import Any

import pytest

from tests.world import Rest, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(world: World) -> Rest:
    return world.bobs_agent.rest


def ok(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.content
    return json.loads(response.content)


def save(rest: Rest, title: str, body: str, **fields: Any) -> str:
    return str(ok(rest.post("/memories", title=title, body=body, **fields), 201)["memory_id"])


def recall(rest: Rest, message: str, session: str = "s1", **fields: Any) -> Any:
    return ok(rest.post("/recall", message=message, session_id=session, **fields))


def test_a_message_brings_to_mind_what_fits_it_once_in_a_session(bob: Rest) -> None:
    key = save(bob, "Deploy day", "We deploy to production on Thursdays.", tags=["release"])
    first = recall(bob, "When do we deploy to production?", message_id="m1")
    assert [one["memory_id"] for one in first["memories"]] == [key] and first["count"] == 1
    assert first["block"].startswith("<recalled-memory>\n") and first["block"].endswith("\n</recalled-memory>")
    assert "We deploy to production on Thursdays." in first["block"] and key in first["block"]
    assert recall(bob, "When do we deploy to production?", message_id="m2")["block"] == ""
    assert recall(bob, "When do we deploy to production?", "s2")["count"] == 1
    assert ok(bob.post("/recall/sessions/s1/release", message_ids=["m1"])) == {"session_id": "s1", "released": 1}
    assert recall(bob, "When do we deploy to production?", message_id="m3")["count"] == 1

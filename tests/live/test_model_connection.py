"""The model connection of a genuine server: what it keeps over a kill, and how it comes back by itself."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.model import ModelDouble
from tests.live.server import LiveServer, wait_until

TOKEN = "sk-live-0123456789abcdefghijklmnop"
PATH = "curation/model-connection"


@pytest.fixture
def model() -> Iterator[ModelDouble]:
    with ModelDouble() as double:
        yield double


def ask(server: LiveServer, method: str, path: str, **fields: Any) -> Any:
    body = json.dumps(fields).encode() if fields else None
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/api/v1/{path}", body, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def test_a_waiting_connection_survives_a_kill_and_recovers_without_anybody(server, model):
    model.scenario(token=TOKEN, otherwise={"status": 503, "retry_after": 3})
    saved = ask(server, "PUT", PATH, base_url=model.base_url, token=TOKEN, text_model="double-text", test=True)
    assert (saved["state"], saved["error"]["code"]) == ("waiting_dependency", "MODEL_SERVER_FAILED")
    server.kill9_all()
    server.start()
    kept = ask(server, "GET", f"{PATH}/status")
    assert kept["state"] == "waiting_dependency" and kept["has_token"]
    model.scenario(otherwise={"fit": True})
    state = wait_until(
        lambda: (now := ask(server, "GET", f"{PATH}/status"))["state"] == "available" and now,
        40,
        what="the keeper rang and a worker found the endpoint back",
    )
    assert state["verified"] and state["effective_protocol"] == "responses"
    assert ask(server, "POST", f"{PATH}/test")["state"] == "available"
    assert TOKEN not in server.log()
    database = b"".join(file.read_bytes() for file in server.data.rglob("memrelay.sqlite3*"))
    assert TOKEN.encode() not in database

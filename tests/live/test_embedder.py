"""The embedder as ``serve`` runs it: nobody before it is asked, there when it is, and back after whatever befalls it."""

import json
import os
import shutil
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from apps.search.embedding import frames
from tests.live.server import LiveServer, wait_until


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with LiveServer(tmp_path_factory.mktemp("server"), embedding="default", web_processes=1) as live:
        yield live


def ask(server: LiveServer, message: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What it answers in time; nothing while it is not there or not ready."""
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        connection.settimeout(seconds)
        with frames.address_of(server.data / "memrelay" / "run" / "embedder.sock") as address:
            connection.connect(address)
        frames.send(connection, {**message, "wait": seconds})
        return frames.receive(connection) or {}
    return {}


def told(server: LiveServer) -> dict[str, Any]:
    state = json.loads((server.data / "memrelay" / "run" / "serve-worker.json").read_text())
    return state["children"]["embedder"]


def vector(server: LiveServer, text: str) -> list[float]:
    """The vector, once the embedder is ready to tell it."""
    message = {"op": "embed_query", "text": text}
    return wait_until(lambda: ask(server, message, 5.0).get("vector"), 40, what="the embedder answered")


def models(server: LiveServer) -> list[Path]:
    return list((server.data / "memrelay" / "cache" / "models").glob("multilingual-e5-small-*"))


def passages(server: LiveServer) -> int:
    file = server.data / "memrelay" / "db" / "memrelay.sqlite3"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        return database.execute("SELECT count(*) FROM search_passage").fetchone()[0]


def pid_of(server: LiveServer) -> int:
    return wait_until(lambda: told(server)["pid"], what="the embedder runs")


def test_nobody_holds_a_model_before_somebody_asks(server: LiveServer) -> None:
    assert told(server) == {"state": "resting", "pid": 0, "starts": 0, "trouble": ""}
    assert models(server) == []
    mapped = [Path(f"/proc/{pid}/maps").read_text() for pid in server.pids()]
    assert not [maps for maps in mapped if "onnxruntime" in maps or "numpy" in maps]


def test_the_first_question_starts_it_and_the_model_is_made(server: LiveServer) -> None:
    assert len(vector(server, "How do I undo a commit?")) == 384
    assert len(models(server)) == 1
    assert (server.data / "memrelay" / "run" / "embedder.sock").stat().st_mode & 0o777 == 0o600


def test_after_a_kill_the_next_question_is_answered_also_without_its_model_folder(server: LiveServer) -> None:
    before, killed = vector(server, "猫在哪里？"), pid_of(server)
    [folder] = models(server)
    shutil.rmtree(folder)
    os.kill(killed, signal.SIGKILL)

    assert vector(server, "猫在哪里？") == pytest.approx(before, abs=1e-6)
    assert [folder] == models(server)
    assert pid_of(server) != killed
    assert server.probe("readyz")[0] == 200


def test_what_embeds_stands_back(server: LiveServer) -> None:
    tasks = Path(f"/proc/{pid_of(server)}/task").glob("*/stat")
    assert {0, 19} <= {int(stat.read_text().rpartition(")")[2].split()[16]) for stat in tasks}


def test_sigterm_ends_it_at_once_and_what_is_saved_then_is_embedded_unasked(server: LiveServer) -> None:
    pid = pid_of(server)
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: told(server)["state"] == "resting", 5, what="the embedder rests")
    assert pid not in server.pids()

    body = json.dumps({"title": "Undo", "body": "git reset --soft HEAD~1 takes the last commit back."}).encode()
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    with urlopen(Request(f"{server.url}/api/v1/memories", data=body, headers=headers), timeout=30) as answer:
        assert answer.status in (200, 201)
    wait_until(lambda: passages(server), 30, what="the memory was embedded")

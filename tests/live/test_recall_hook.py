"""The hook as somebody gets it: fetched from the server, installed, and run; by Claude Code itself where that is there."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.live.server import LiveServer

QUESTION = "When do we deploy to production?"
FACT = "We deploy to production on Thursdays."
ANSWER = [
    ("message_start", {"message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "double", "content": [],
                                   "stop_reason": None, "stop_sequence": None,
                                   "usage": {"input_tokens": 1, "output_tokens": 1}}}),
    ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "On Thursdays."}}),
    ("content_block_stop", {"index": 0}),
    ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 3}}),
    ("message_stop", {}),
]  # fmt: skip


class Person:
    """A home folder with the hook fetched into it and a token file."""

    def __init__(self, folder: Path, server: LiveServer) -> None:
        self.folder, self.server = folder, server
        self.script = folder / "memrelay-hook"
        with urllib.request.urlopen(f"{server.url}/client/memrelay-hook", timeout=10) as response:
            self.script.write_bytes(response.read())
        self.token = folder / "token"
        self.token.touch(0o600)
        self.token.write_text(server.token)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)}

    def run(self, *arguments: str) -> str:
        command = [sys.executable, str(self.script), *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def install(self) -> None:
        # Generous: what is tested here is that it works, on a machine that may be busy.
        self.run("install", "--url", self.server.url, "--token-file", str(self.token), "--timeout", "10")

    def fire(self, event: str, **fields: Any) -> Any:
        """Run the installed command as Claude Code does: a shell, the event on standard input."""
        settings = json.loads((self.folder / ".claude" / "settings.json").read_text())
        command = settings["hooks"][event][0]["hooks"][0]["command"]
        sent = json.dumps({"hook_event_name": event, **fields})
        done = subprocess.run(
            ["sh", "-c", command], input=sent, env=self.environment, capture_output=True, text=True, timeout=30
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout) if done.stdout else None


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One for this file, that has more time for recall than a message waits: the machine may be busy."""
    with LiveServer(tmp_path_factory.mktemp("server"), recall_milliseconds=3_000) as live:
        yield live


@pytest.fixture
def person(shared_server: LiveServer, tmp_path: Path) -> Person:
    made = Person(tmp_path, shared_server)
    made.install()
    return made


@pytest.fixture(scope="module", autouse=True)
def fact(shared_server: LiveServer) -> None:
    shared_server.manage("perform", "memory_save", json.dumps({"title": "Deploy day", "body": FACT}))


def test_a_prompt_recalls_once_and_again_after_a_compaction(person: Person) -> None:
    assert "answers." in person.run("status")
    first = person.fire("UserPromptSubmit", session_id="s1", prompt=QUESTION)
    assert FACT in first["hookSpecificOutput"]["additionalContext"]
    assert person.fire("UserPromptSubmit", session_id="s1", prompt=QUESTION) is None
    assert person.fire("UserPromptSubmit", session_id="s1", prompt="ok") is None
    assert person.fire("PreCompact", session_id="s1", trigger="manual") is None
    assert person.fire("UserPromptSubmit", session_id="s1", prompt=QUESTION) is not None
    assert person.fire("Stop", session_id="s1", stop_hook_active=False) is None


def test_a_store_that_somebody_holds_makes_recall_silent_and_not_slow(
    person: Person, shared_server: LiveServer
) -> None:
    """Row 23: the one writer is busy for longer than a message may wait."""
    database = shared_server.data / "memrelay" / "db" / "memrelay.sqlite3"
    sent = json.dumps({"message": QUESTION, "session_id": "held"}).encode()
    headers = {"Authorization": f"Bearer {shared_server.token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{shared_server.url}/api/v1/recall", sent, headers)
    with closing(sqlite3.connect(database, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with urllib.request.urlopen(request, timeout=20) as response:
            answer = json.load(response)
        assert time.monotonic() - started < 10  # SQLite alone would wait for 20.
        assert (answer["block"], answer["silence"]) in (("", "STORE_BUSY"), ("", "OUT_OF_TIME"))
        holder.execute("ROLLBACK")
    assert "Recall stayed silent" in shared_server.log() and QUESTION not in shared_server.log()
    assert person.fire("UserPromptSubmit", session_id="held", prompt=QUESTION) is not None


@pytest.fixture
def model() -> Iterator[tuple[str, list[Any]]]:
    """An endpoint that speaks as much of Anthropic's Messages as one short answer needs; and what it was asked."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self._send(b'{"input_tokens": 1}', "application/json")
                return
            request = json.loads(body)
            asked.append(request)
            events = [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in ANSWER]
            if request.get("stream"):
                self._send("".join(events).encode(), "text/event-stream")
            else:
                told = {**ANSWER[0][1]["message"], "content": [{"type": "text", "text": "On Thursdays."}]}
                self._send(json.dumps({**told, "stop_reason": "end_turn"}).encode(), "application/json")

        def do_GET(self) -> None:
            self._send(b"{}", "application/json")

        def do_HEAD(self) -> None:
            self._send(b"", "application/json")

        def _send(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()


def test_claude_code_lays_the_block_beside_the_prompt(person: Person, model: tuple[str, list[Any]]) -> None:
    if not (claude := shutil.which("claude")):
        pytest.skip("needs Claude Code on the path (npm: @anthropic-ai/claude-code)")
    address, asked = model
    environment = {
        **person.environment,
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "no-key-of-anybody",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    done = subprocess.run(
        [claude, "-p", QUESTION], env=environment, cwd=person.folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "On Thursdays." in done.stdout, done.stdout + done.stderr
    sent = [json.dumps(request["messages"], ensure_ascii=False) for request in asked]
    assert any("<recalled-memory>" in one and FACT in one and QUESTION in one for one in sent), sent

"""The bridge for clients without HTTP, against a server that does what each test asks of it."""

import ast
import io
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from client import memrelay_stdio
from client.memrelay_stdio import Bridge

FILE = Path(memrelay_stdio.__file__)
Answer = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class Server(ThreadingHTTPServer):
    """Keeps what it was asked; ``answer`` says what it does."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.asked: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.answer: Answer = in_json
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.server.answer(self, body)

    def log_message(self, *args: Any) -> None:
        pass


def send(handler: BaseHTTPRequestHandler, body: bytes, kind: str = "application/json", status: int = 200) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def in_json(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    if "id" not in body:
        return send(handler, b"", status=202)
    result: dict[str, Any] = {"method": body["method"]}
    if body["method"] == "initialize":
        result["protocolVersion"] = "2025-11-25"
    send(handler, json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}).encode())


def hang_up(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()
    server.server_close()


def request(method: str = "tools/call", request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def carried(url: str, *messages: dict[str, Any] | bytes) -> list[dict[str, Any]]:
    """What comes out when these lines go in."""
    output = io.BytesIO()
    lines = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in messages]
    Bridge(url, "mrl_secret", output).serve(lines)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_a_call_goes_over_and_its_answer_comes_back(server):
    assert carried(server.url, request(name="echo")) == [
        {"jsonrpc": "2.0", "id": 1, "result": {"method": "tools/call"}}
    ]
    headers, body = server.asked[0]
    assert headers["authorization"] == "Bearer mrl_secret"
    assert body == request(name="echo")


def test_the_handshakes_version_goes_with_what_follows_it(server):
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = carried(server.url, request("initialize"), notification, request("tools/list", 2))
    assert [answer["id"] for answer in answers] == [1, 2]
    versions = {body["method"]: headers.get("mcp-protocol-version") for headers, body in server.asked}
    assert versions == {"initialize": None, "notifications/initialized": "2025-11-25", "tools/list": "2025-11-25"}


def test_a_message_of_the_later_era_says_its_own_version(server):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    carried(server.url, request(name="save", _meta=meta), request(name="记忆", _meta=meta))
    first, second = (headers for headers, body in sorted(server.asked, key=lambda asked: asked[1]["params"]["name"]))
    assert (first["mcp-protocol-version"], first["mcp-method"], first["mcp-name"]) == (
        "2026-07-28",
        "tools/call",
        "save",
    )
    assert second["mcp-name"] == "=?base64?6K6w5b+G?="


def test_an_event_stream_becomes_lines(server):
    def stream(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
        result = {"jsonrpc": "2.0", "id": body["id"], "result": {"text": "记忆\u2028"}}
        events = [
            f"event: message\r\ndata: {json.dumps(message, ensure_ascii=False)}\r\n\r\n"
            for message in (progress, result)
        ]
        send(handler, (": ping\r\n\r\n" + "".join(events)).encode(), "text/event-stream")

    server.answer = stream
    answers = carried(server.url, request())
    assert answers[0]["method"] == "notifications/progress"
    assert answers[1]["result"] == {"text": "记忆\u2028"}


def test_a_refusal_over_http_becomes_an_error_that_says_what_to_do(server):
    error = {"code": "NOT_SIGNED_IN", "message": "This needs a valid token.", "hint": "Make one.", "facts": {}}
    server.answer = lambda handler, body: send(handler, json.dumps({"error": error}).encode(), status=401)
    (answer,) = carried(server.url, request(request_id="a"))
    assert answer["id"] == "a"
    assert answer["error"]["message"] == "NOT_SIGNED_IN: This needs a valid token. Make one."
    assert answer["error"]["data"] == {"status": 401, "error": error}


def test_something_else_at_that_address_is_told(server):
    server.answer = lambda handler, body: send(handler, b"<html>", "text/html", 404)
    (answer,) = carried(server.url, request())
    assert "404" in answer["error"]["message"] and "MEMRELAY_URL" in answer["error"]["message"]


def test_a_server_that_restarts_is_waited_for(server):
    port = server.server_port
    server.shutdown()
    server.server_close()
    later: list[Server] = []
    timer = threading.Timer(0.3, lambda: later.append(Server(port)))
    timer.start()
    try:
        assert carried(server.url, request())[0]["result"]
    finally:
        timer.join()
        later[0].shutdown()
        later[0].server_close()


def test_a_server_that_stays_away_is_told_in_time(server, monkeypatch):
    monkeypatch.setattr(memrelay_stdio, "PATIENCE", 0.2)
    server.shutdown()
    server.server_close()
    (answer,) = carried(server.url, request())
    assert answer["id"] == 1 and "cannot be reached" in answer["error"]["message"]
    assert "mrl_secret" not in json.dumps(answer)


def test_a_call_whose_answer_is_lost_is_not_repeated(server):
    server.answer = hang_up
    (answer,) = carried(server.url, request("tools/call"))
    assert len(server.asked) == 1
    assert "look before you repeat it" in answer["error"]["message"]


def test_a_list_whose_answer_is_lost_is_asked_for_again(server):
    def once(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        (hang_up if len(server.asked) == 1 else in_json)(handler, body)

    server.answer = once
    assert carried(server.url, request("tools/list"))[0]["result"]
    assert len(server.asked) == 2


def test_a_stream_that_breaks_off_before_the_answer_is_an_error(server):
    server.answer = lambda handler, body: send(handler, b": ping\n\n", "text/event-stream")
    (answer,) = carried(server.url, request())
    assert "was lost" in answer["error"]["message"]


def test_a_cancelled_call_is_hung_up_and_not_answered(server):
    gone, reached = threading.Event(), threading.Event()

    def slow(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        reached.set()
        handler.connection.settimeout(5)
        if handler.connection.recv(1) == b"":
            gone.set()

    def lines() -> Iterator[bytes]:
        yield json.dumps(request(request_id=7)).encode()
        assert reached.wait(5)
        params = {"requestId": 7}
        yield json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).encode()

    server.answer = slow
    output = io.BytesIO()
    Bridge(server.url, "t", output).serve(lines())
    assert gone.wait(5)
    assert output.getvalue() == b""


def test_calls_do_not_wait_for_each_other(server):
    both = threading.Barrier(2, timeout=5)

    def together(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        both.wait()
        in_json(handler, body)

    server.answer = together
    assert {answer["id"] for answer in carried(server.url, request(request_id=1), request(request_id=2))} == {1, 2}


@pytest.mark.parametrize(("line", "code"), [(b"{nonsense\n", -32700), (b"[]\n", -32600)])
def test_a_line_that_is_no_message_is_refused(server, line, code):
    (answer,) = carried(server.url, b"\n", line)
    assert answer["error"]["code"] == code


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://h", "/mcp"),
        ("http://h/", "/mcp"),
        ("http://h/mcp/projects/x?toolset=full", "/mcp/projects/x?toolset=full"),
    ],
)
def test_an_address_without_a_path_means_the_mcp_door(url, path):
    assert Bridge(url, "t", io.BytesIO()).path == path


def test_it_needs_nothing_but_python_3_8():
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 8))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("url", "token", "missing"), [("", "t", "MEMRELAY_URL"), ("http://h/mcp", "", "MEMRELAY_TOKEN")]
)
def test_what_is_missing_is_named(url, token, missing, monkeypatch, capsys):
    monkeypatch.setenv("MEMRELAY_URL", url)
    monkeypatch.setenv("MEMRELAY_TOKEN", token)
    monkeypatch.setattr(sys, "argv", ["memrelay_stdio.py"])
    assert memrelay_stdio.main() == 2
    out = capsys.readouterr()
    assert missing in out.err and out.out == ""

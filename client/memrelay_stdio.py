#!/usr/bin/env python3
"""Connect an MCP client that only speaks stdio to a MemRelay server.

One file, Python 3.8 or newer, nothing to install. The client starts it with these environment variables:

    MEMRELAY_URL     the server's address, such as https://memory.example.org/mcp or .../mcp/projects/<id>
    MEMRELAY_TOKEN   the token; never an argument, since other users of a machine can read those

A third one, MEMRELAY_PATIENCE, changes for how many seconds it waits for a server that is away; unset it is 10.

It carries each JSON-RPC line from standard input to the server and each answer back to standard output. It keeps no
state that a restart of the server could spoil: while the server is away it tries again for a few seconds, then says so
in a JSON-RPC error. It writes to standard error what a person should know.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, Dict, Iterable, Iterator
from urllib.parse import urlsplit

PATIENCE = float(os.environ.get("MEMRELAY_PATIENCE") or 10)  # Seconds to wait for a server that restarts.
SILENCE = 90.0  # Seconds without a byte after which an answer is given up; the server sends a sign of life every 15.
AT_ONCE = 8
NOT_REACHED = -32000  # JSON-RPC leaves this range to implementations.
VERSION_IN_MESSAGE = "io.modelcontextprotocol/protocolVersion"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
RESTARTING = (502, 503, 504)

Message = Dict[str, Any]


class Unanswered(Exception):
    """No answer came. ``sent`` tells whether the server may have acted on the request."""

    def __init__(self, reason: str, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Bridge:
    """Carries messages between two byte streams and one address."""

    def __init__(self, url: str, token: str, output: BinaryIO) -> None:
        self.url = urlsplit(url)
        self.path = self.url.path if self.url.path.strip("/") else "/mcp"
        if self.url.query:
            self.path += f"?{self.url.query}"
        self.token = token
        self.output = output
        self.writing = threading.Lock()
        self.version = ""  # What the handshake agreed on; later clients say it in every message instead.
        self.open: dict[str, http.client.HTTPConnection] = {}
        self.cancelled: set[str] = set()

    def serve(self, lines: Iterable[bytes]) -> None:
        """Until the input ends; what is still on its way is waited for."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in lines:
                if not line.strip():
                    continue
                try:
                    message = json.loads(line)
                except ValueError:
                    self.write(refusal(None, -32700, "This line is no JSON."))
                    continue
                if not isinstance(message, dict):
                    self.write(refusal(None, -32600, "One message a line, please: batches are not supported."))
                elif message.get("method") == "notifications/cancelled":
                    self.cancel(message)
                elif message.get("method") == "initialize":
                    self.carry(message)  # The messages behind it need the version that it settles.
                elif "method" in message:
                    pool.submit(self.carry, message)

    def carry(self, message: Message) -> None:
        """Bring one message to the server and its answers back."""
        try:
            for answer in self.answers(message):
                result = answer.get("result")
                if message["method"] == "initialize" and isinstance(result, dict):
                    self.version = str(result.get("protocolVersion", ""))
                self.write(answer)
        except Unanswered as error:
            if key_of(message.get("id")) in self.cancelled:
                self.cancelled.discard(key_of(message.get("id")))
            elif "id" in message:
                self.write(refusal(message["id"], NOT_REACHED, str(error)))
            else:
                say(str(error))
        except Exception as error:  # A thread that dies in silence leaves its client waiting for ever.
            say(f"{type(error).__name__}: {error}")
            if "id" in message:
                self.write(refusal(message["id"], -32603, "The bridge failed; its standard error tells more."))

    def answers(self, message: Message) -> Iterator[Message]:
        """Ask until the server is there. What may already have been done is never asked for twice."""
        deadline = time.monotonic() + PATIENCE
        pause = 0.1
        while True:
            try:
                yield from self.ask(message)
                return
            except Unanswered as error:
                lost = error.sent and message["method"] == "tools/call"
                if lost or time.monotonic() + pause > deadline or key_of(message.get("id")) in self.cancelled:
                    raise
            time.sleep(pause)
            pause = min(pause * 2, 1.0)

    def ask(self, message: Message) -> Iterator[Message]:
        secure = self.url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self.url.hostname or "", self.url.port, timeout=SILENCE)
        key = key_of(message.get("id"))
        answered = "id" not in message
        try:
            try:
                connection.connect()
            except OSError as error:
                raise Unanswered(f"MemRelay cannot be reached at {self.address}: {error}", sent=False) from error
            if key is not None:
                self.open[key] = connection
            try:
                connection.request("POST", self.path, json.dumps(message).encode(), self.headers(message))
                response = connection.getresponse()
                if response.status in RESTARTING:
                    raise Unanswered(f"MemRelay at {self.address} answers {response.status}.", sent=True)
                for answer in read(response, message):
                    answered = answered or answer.get("id") == message["id"]
                    yield answer
                if answered:
                    return
                reason = "it ends too early"
            except (OSError, http.client.HTTPException, AttributeError) as error:
                # AttributeError: http.client's own, when a cancelled connection is closed under it.
                if answered:
                    return
                reason = str(error) or type(error).__name__
            hint = "The call may or may not have been carried out: look before you repeat it."
            raise Unanswered(f"The answer of {self.address} was lost: {reason}. {hint}", sent=True)
        finally:
            if key is not None:
                self.open.pop(key, None)
            connection.close()

    def headers(self, message: Message) -> dict[str, str]:
        """The address, the token, and what the message says of itself (later clients) or the handshake has settled."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "User-Agent": "memrelay-stdio",
        }
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(VERSION_IN_MESSAGE) if isinstance(meta, dict) else None
        if version:
            headers["MCP-Protocol-Version"] = str(version)
            headers["Mcp-Method"] = in_header(str(message["method"]))
            name = params.get(NAMED_BY.get(message["method"], ""))
            if name is not None:
                headers["Mcp-Name"] = in_header(str(name))
        elif self.version and message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = self.version
        return headers

    def cancel(self, message: Message) -> None:
        """Hang up on the request: over HTTP that is how one is cancelled."""
        params = message.get("params")
        key = key_of(params.get("requestId") if isinstance(params, dict) else None)
        connection = self.open.get(key) if key is not None else None
        if key is not None and connection is not None:
            self.cancelled.add(key)
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)  # Closing alone would not wake the thread that reads.
            except (OSError, AttributeError):
                say("A cancelled request had already come to its end.")

    def write(self, message: Message) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.writing:
            try:
                self.output.write(line)
                self.output.flush()
            except (BrokenPipeError, ValueError):
                os._exit(0)  # The client has gone; nobody is left to answer.

    @property
    def address(self) -> str:
        return f"{self.url.scheme}://{self.url.netloc.rpartition('@')[2]}{self.path}"


def read(response: http.client.HTTPResponse, message: Message) -> Iterator[Message]:
    """The messages in an HTTP answer: one in JSON, several in an event stream, none for a notification."""
    if response.status == 202:
        return
    kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
    if response.status == 200 and kind == "text/event-stream":
        yield from events(response)
        return
    body = response.read()
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    if isinstance(answer, dict) and answer.get("jsonrpc") == "2.0":
        yield {**answer, "id": message["id"]} if answer.get("id") is None and "id" in message else answer
    elif "id" in message:
        yield refused(response, answer, message["id"])
    else:
        say(f"The server answers {response.status} to {message['method']}.")


def events(lines: Iterable[bytes]) -> Iterator[Message]:
    """The messages of an event stream."""
    data: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].lstrip(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text.strip():
                yield json.loads(text)


def refused(response: http.client.HTTPResponse, answer: Any, request_id: Any) -> Message:
    """An HTTP refusal as a JSON-RPC error that says what to do."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(error, dict) and "message" in error:
        text = f"{error.get('code', response.status)}: {error['message']} {error.get('hint', '')}".strip()
        return refusal(request_id, NOT_REACHED, text, {"status": response.status, "error": error})
    elsewhere = response.getheader("Location")
    text = f"The server answers {response.status}" + (f" and points to {elsewhere}." if elsewhere else ".")
    return refusal(request_id, NOT_REACHED, f"{text} Is MEMRELAY_URL right?", {"status": response.status})


def refusal(request_id: Any, code: int, text: str, data: Message | None = None) -> Message:
    error: Message = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def in_header(value: str) -> str:
    """A value as an HTTP header can carry it."""
    if value == value.strip() and all(" " <= character <= "~" for character in value) and not value.startswith("=?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def key_of(request_id: Any) -> str | None:
    return None if request_id is None else json.dumps(request_id)


def say(text: str) -> None:
    sys.stderr.write(f"memrelay-stdio: {text}\n")
    sys.stderr.flush()


def main() -> int:
    url, token = os.environ.get("MEMRELAY_URL", ""), os.environ.get("MEMRELAY_TOKEN", "")
    if len(sys.argv) > 1:
        sys.stdout.write(__doc__ or "")
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        say("Set MEMRELAY_URL to the server's address, such as http://127.0.0.1:8765/mcp.")
        return 2
    if not token:
        say("Set MEMRELAY_TOKEN to a token of that server.")
        return 2
    try:
        Bridge(url, token, sys.stdout.buffer).serve(iter(sys.stdin.buffer.readline, b""))
    except KeyboardInterrupt:
        os._exit(130)
    return 0


if __name__ == "__main__":
    sys.exit(main())

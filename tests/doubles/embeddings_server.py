"""An ``/embeddings`` endpoint as OpenAI and its kin speak it, without a model: ``with EmbeddingsServer() as server``.

Each text gets a vector of its length and letters. ``server.script`` holds what the next requests get instead: a status,
or a whole body; ``server.asked`` is what it was asked.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = dict[str, Any]


class EmbeddingsServer:
    def __init__(self, *, key: str = "", dimensions: int = 8) -> None:
        self.key, self.dimensions = key, dimensions
        self.script: list[Step] = []
        self.asked: list[dict[str, Any]] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> "EmbeddingsServer":
        self.thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def answer(self, path: str, authorization: str | None, body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        self.asked.append({"path": path, "authorization": authorization, **body})
        if self.key and authorization != f"Bearer {self.key}":
            return 401, {}, {"error": {"message": f"Incorrect API key provided: {authorization}"}}
        if self.script:
            step = self.script.pop(0)
            return (
                step.get("status", 200),
                step.get("headers", {}),
                step.get("body", {"error": {"message": "scripted"}}),
            )
        dimensions = body.get("dimensions") or self.dimensions
        rows = [
            {"object": "embedding", "index": place, "embedding": vector_of(text, dimensions)}
            for place, text in enumerate(body["input"])
        ]
        return 200, {}, {"object": "list", "model": body["model"], "data": rows[::-1]}  # The order is not promised.


def vector_of(text: str, dimensions: int) -> list[float]:
    """Not of unit length: some models give such vectors."""
    return [float(len(text) + 1), *(float(ord(letter) % 7) for letter in text.ljust(dimensions)[: dimensions - 1])]


def _handler(server: EmbeddingsServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = server.answer(self.path, self.headers.get("Authorization"), body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(content)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    return Handler

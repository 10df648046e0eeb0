"""A web server within the test's own process, for the doubles that speak HTTP: ``with`` it, it listens on a free port."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Self


@dataclass(frozen=True)
class Request:
    path: str  # With its query.
    headers: Mapping[str, str]  # By any case.
    content: bytes


@dataclass(frozen=True)
class Response:
    status: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)  # Beside type and length, which they may replace.


class WebDouble(ABC):
    """Refuses other methods than those of ``methods``."""

    methods: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @abstractmethod
    def answer(self, request: Request) -> Response:
        """What a request gets."""


def _handler(double: WebDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            response = double.answer(Request(self.path, self.headers, content))
            self.send_response(response.status)
            usual = {"Content-Type": "application/json", "Content-Length": str(len(response.content))}
            for name, value in {**usual, **response.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.content)

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    for method in double.methods:
        setattr(Handler, f"do_{method}", Handler.reply)
    return Handler

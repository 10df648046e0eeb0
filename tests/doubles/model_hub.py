"""A mirror of Hugging Face with the files of one folder as the model of every name: ``with ModelHub(folder) as hub``.

It speaks as much as a download needs: the facts of a repository, its tree, and its files.
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"


class ModelHub:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    def __enter__(self) -> "ModelHub":
        self.thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        self.asked.append(path)
        files = {file.name: file.read_bytes() for file in sorted(self.folder.iterdir())}
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and "tree" in parts:
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": _etag(content)}
                for name, content in files.items()
            ]
            return 200, {}, json.dumps(tree).encode()
        if parts[:2] == ["api", "models"]:
            told = {"id": "/".join(parts[2:4]), "sha": REVISION, "siblings": [{"rfilename": name} for name in files]}
            return 200, {}, json.dumps(told).encode()
        if "resolve" in parts and parts[-1] in files:
            content = files[parts[-1]]
            return 200, {"ETag": f'"{_etag(content)}"', "X-Repo-Commit": REVISION}, content
        return (200, {}, b"") if not path.strip("/") else (404, {"X-Error-Code": "EntryNotFound"}, b"{}")


def _etag(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def _handler(hub: ModelHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, headers, body = hub.answer(urlsplit(self.path).path)
            self.send_response(status)
            answer: dict[str, Any] = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
            for name, value in answer.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *words: object) -> None:
            """Say nothing."""

    return Handler

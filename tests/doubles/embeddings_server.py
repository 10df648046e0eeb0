"""An ``/embeddings`` endpoint as OpenAI and its kin speak it, without a model: ``with EmbeddingsServer() as server``.

Each text gets a vector of its length and letters. ``server.script`` holds what the next requests get instead: a status,
or a whole body; ``server.asked`` is what it was asked.
"""

import json
from typing import Any

from tests.doubles.web import Request, Response, WebDouble

Step = dict[str, Any]


class EmbeddingsServer(WebDouble):
    methods = ("POST",)

    def __init__(self, *, key: str = "", dimensions: int = 8) -> None:
        super().__init__()
        self.key, self.dimensions = key, dimensions
        self.script: list[Step] = []
        self.asked: list[dict[str, Any]] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def answer(self, request: Request) -> Response:
        body, authorization = json.loads(request.content), request.headers.get("Authorization")
        self.asked.append({"path": request.path, "authorization": authorization, **body})
        if self.key and authorization != f"Bearer {self.key}":
            return _in_json(401, {"error": {"message": f"Incorrect API key provided: {authorization}"}})
        if self.script:
            step = self.script.pop(0)
            told = step.get("body", {"error": {"message": "scripted"}})
            return _in_json(step.get("status", 200), told, step.get("headers", {}))
        dimensions = body.get("dimensions") or self.dimensions
        rows = [
            {"object": "embedding", "index": place, "embedding": vector_of(text, dimensions)}
            for place, text in enumerate(body["input"])
        ]
        # The order is not promised.
        return _in_json(200, {"object": "list", "model": body["model"], "data": rows[::-1]})


def _in_json(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(status, json.dumps(body).encode(), headers or {})


def vector_of(text: str, dimensions: int) -> list[float]:
    """Not of unit length: some models give such vectors."""
    return [float(len(text) + 1), *(float(ord(letter) % 7) for letter in text.ljust(dimensions)[: dimensions - 1])]

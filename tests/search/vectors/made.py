"""A tiny model that needs no weights: words are hashed to directions, so that texts with the same words lie near."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from apps.search.embedding.desk import Desk
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.embedding.loading import Loading
from apps.search.embedding.model import EmbeddingModel
from apps.search.vectors import asking, serving, working

if TYPE_CHECKING:
    import pytest

WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]", re.IGNORECASE)


class TinyModel:
    """``breaks_at`` is a word that no text may hold; ``is_down`` makes every call fail."""

    def __init__(self, key: str = "tiny@1:64", dimensions: int = 64) -> None:
        self.key, self.dimensions = key, dimensions
        self.embedded: list[str] = []
        self.breaks_at = ""
        self.is_down = False

    def embed_query(self, text: str) -> Any:
        return self._vectors([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        if self.is_down:
            raise EmbeddingUnavailable("The endpoint does not answer.")
        if self.breaks_at and any(self.breaks_at in text for text in texts):
            raise ValueError("This text cannot be embedded.")
        self.embedded += texts
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Any:
        made = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(made, texts, strict=True):
            for word in WORD.findall(text.lower()):
                seed = int.from_bytes(hashlib.blake2b(f"{self.key}{word}".encode(), digest_size=4).digest(), "big")
                row += np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)
        return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-6)


KEY = TinyModel().key
is_there = True


def current_key() -> str:
    return KEY


def load() -> EmbeddingModel:
    """This module as ``settings.EMBEDDING_LOADER``."""
    if not is_there:
        raise EmbeddingUnavailable("The folder of the model is gone.")
    return TinyModel()


class Embedder:
    """The embedder in this process: its desk with a tiny model, asked without a socket; ``work_off`` is its queue thread."""

    def __init__(self) -> None:
        self.model: TinyModel = TinyModel()
        self.loading = Loading()
        self.loading.model = self.model
        self.is_up = True
        self.desk = Desk(self.loading, lambda: None)

    def use(self, model: TinyModel) -> None:
        self.model = self.loading.model = model

    def work_off(self, rounds: int = 200) -> None:
        for _ in range(rounds):
            if not working.work(self.model, lambda: False):
                return
        raise AssertionError("It goes on working for ever.")

    def conversation(self, **_wanted: Any) -> "InProcess":
        if not self.is_up:
            raise EmbedderUnavailable(reason="not_running")
        return InProcess(self)


class InProcess:
    """``Conversation`` with the desk itself."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.started: list[Any] = []

    def start(self, message: Any, timeout: float) -> None:
        self.started.append(json.loads(json.dumps({**message, "wait": timeout})))

    def answer(self, timeout: float) -> Any:
        if not self.embedder.is_up:
            raise EmbedderUnavailable(reason="not_running")
        answer = self.embedder.desk.answer(self.started.pop(0))
        if "error" in answer:
            raise EmbedderUnavailable(reason=str(answer["error"]).lower())
        return json.loads(json.dumps(answer))

    def hint(self, message: Any, timeout: float) -> None:
        self.embedder.desk.answer(json.loads(json.dumps({**message, "wait": timeout})))

    @property
    def has_answer(self) -> bool:
        return bool(self.started)

    def call(self, message: Any, timeout: float) -> Any:
        self.start(message, timeout)
        return self.answer(timeout)

    def close(self) -> None:
        return None


def switched_on(settings: Any, monkeypatch: "pytest.MonkeyPatch") -> Embedder:
    """Embeddings with this tiny model, answered by an embedder in this process."""
    settings.EMBEDDING, settings.EMBEDDING_LOADER = "tiny", "tests.search.vectors.made"
    serving.forget()
    made = Embedder()
    monkeypatch.setattr(asking, "Conversation", made.conversation)
    return made

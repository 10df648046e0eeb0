"""An embedding model without weights: words and pairs of Han characters are hashed to 64 numbers.

Texts with the same words lie near. A test switches it on with ``settings.EMBEDDING = "double"`` and
``settings.EMBEDDING_LOADER = "tests.doubles.embedding"``.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

KEY, DIMENSIONS = "double/64", 64
WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff](?=[\u3400-\u9fff])|[\u3400-\u9fff]")


class DoubleModel:
    key, dimensions = KEY, DIMENSIONS

    def embed_query(self, text: str) -> Any:
        return self.embed_passages([text])[0]

    def embed_passages(self, texts: Sequence[str]) -> Any:
        import numpy

        return numpy.array([_vector(text.lower()) for text in texts], numpy.float32).reshape(len(texts), DIMENSIONS)


def _vector(text: str) -> list[float]:
    figures = [0.0] * DIMENSIONS
    for found in WORDS.finditer(text):
        word = text[found.start() : found.start() + 2] if found[0] >= "\u3400" else found[0]
        for place in hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=4).digest():
            figures[place % DIMENSIONS] += 1.0 if place & 64 else -1.0
    length = sum(figure * figure for figure in figures) ** 0.5
    return [figure / length for figure in figures] if length else [1.0] + [0.0] * (DIMENSIONS - 1)


def current_key() -> str:
    return KEY


def load() -> DoubleModel:
    return DoubleModel()

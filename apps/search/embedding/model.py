"""What every embedding model can do, whoever computes it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class EmbeddingModel(Protocol):
    """Vectors have unit length, so that a dot product is a cosine. One text has one vector, alone or in a batch."""

    @property
    def key(self) -> str:
        """The model's identity, version and dimensions included: two different models never share one."""

    @property
    def dimensions(self) -> int: ...

    def embed_query(self, text: str) -> "Vectors": ...

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        """One row a text."""


def clean(text: str) -> str:
    """The text as every tokeniser takes it: no lone surrogates (they raise), no NUL (some engines stop there)."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")

"""Models that run in this process, through fastembed."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from apps.search.embedding import default_key
from apps.search.embedding.default_model import ensure_default_model
from apps.search.embedding.memory import give_memory_back
from apps.search.embedding.model import clean

if TYPE_CHECKING:
    from apps.search.embedding.model import Vectors


class LocalModel:
    """A fastembed model with its key and the words it wants before queries and passages."""

    def __init__(self, engine: TextEmbedding, *, key: str, query_prefix: str = "", passage_prefix: str = "") -> None:
        self.engine = engine
        self.key = key
        self.dimensions = engine.embedding_size
        self.query_prefix = query_prefix
        self.passage_prefix = passage_prefix

    def embed_query(self, text: str) -> "Vectors":
        return self._embed([self.query_prefix + clean(text)])[0]

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        return self._embed([self.passage_prefix + clean(text) for text in texts])

    def _embed(self, texts: list[str]) -> "Vectors":
        # One at a time: padding and shared scales would let a text's neighbours change its vector, and one thread
        # gains nothing from a batch.
        vectors = [vector for text in texts for vector in self.engine.embed([text], batch_size=1)]
        return np.asarray(vectors, np.float32).reshape(len(texts), self.dimensions)


def load_default() -> LocalModel:
    """The default model, converted first where that has not been done."""
    engine = from_folder("memrelay/multilingual-e5-small", ensure_default_model(), dimensions=default_key.DIMENSIONS)
    return LocalModel(engine, key=default_key.KEY, query_prefix="query: ", passage_prefix="passage: ")


def from_folder(
    name: str,
    folder: Path,
    *,
    dimensions: int,
    pooling: PoolingType = PoolingType.MEAN,
    model_file: str = "model.onnx",
) -> TextEmbedding:
    """Let fastembed load a folder of this machine; it looks nowhere else."""
    with suppress(ValueError):  # Its list of models is the process's; a second load finds the name there.
        TextEmbedding.add_custom_model(
            name,
            pooling=pooling,
            normalization=True,
            sources=ModelSource(hf="local/none"),
            dim=dimensions,
            model_file=model_file,
        )
    engine = TextEmbedding(name, specific_model_path=str(folder), threads=1, enable_cpu_mem_arena=False)
    give_memory_back()
    return engine

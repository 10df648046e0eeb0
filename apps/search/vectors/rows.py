"""The rows that say which model's vectors are served and what an administrator asked for."""

from apps.base.transactions import short_transaction
from apps.search.embedding.model import EmbeddingModel
from apps.search.models import Embedding, VectorModel


def embedding_row() -> Embedding:
    """The one row, unsaved where nothing was embedded yet."""
    return Embedding.objects.filter(pk=1).first() or Embedding(pk=1)


def row_of(model: EmbeddingModel) -> VectorModel:
    """The row of a model, made at its first use."""
    if known := VectorModel.objects.filter(key=model.key).first():
        return known
    with short_transaction():
        return VectorModel.objects.get_or_create(key=model.key, defaults={"dimensions": model.dimensions})[0]

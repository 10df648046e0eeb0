"""The model the operator chose, for everybody who needs it: its key, and the loading."""

from importlib import import_module
from typing import Any

from django.conf import settings

from apps.base.transactions import outside_transactions
from apps.search.embedding.model import EmbeddingModel

OFF = "off"


def current_key() -> str | None:
    """The key of the configured model; nothing where embeddings are off. Cheap: no model is loaded."""
    if settings.EMBEDDING == OFF:
        return None
    key: str = _loader().current_key()
    return key


@outside_transactions
def load() -> EmbeddingModel:
    """Load the configured model: seconds and hundreds of megabytes, so only the embedder process does it.

    Raises ``EmbeddingUnavailable`` with a sentence for the operator.
    """
    loaded: EmbeddingModel = _loader().load()
    return loaded


def _loader() -> Any:
    return import_module(settings.EMBEDDING_LOADER)

"""The model the operator chose, for everybody who needs it: its key, and the loading."""

from importlib import import_module
from typing import Any

from django.conf import settings

from apps.base.transactions import outside_transactions
from apps.search.embedding.model import EmbeddingModel
from apps.search.embedding.remembered import remember, remembered

OFF = "off"
TROUBLE = "trouble"  # Under this name the last failure is remembered.


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


def last_trouble() -> str:
    """Why the configured model could not be loaded the last time it was tried; empty where it could."""
    key, _separator, sentence = remembered(TROUBLE).partition("\n")
    return sentence if key == current_key() else ""


def note_trouble(sentence: str) -> None:
    """Keep what ``last_trouble`` tells."""
    remember(TROUBLE, f"{current_key()}\n{sentence}" if sentence else "")


def _loader() -> Any:
    return import_module(settings.EMBEDDING_LOADER)

"""Which model the operator chose (MEMRELAY_EMBEDDING): its key without loading it, and the loading."""

from django.conf import settings
from django.utils.module_loading import import_string

from apps.base.transactions import outside_transactions
from apps.search.embedding import default_key
from apps.search.embedding.model import EmbeddingModel

DEFAULT, OFF = "default", "off"


def current_key() -> str | None:
    """The key of the configured model; nothing where embeddings are off. Cheap: nothing is loaded."""
    match settings.EMBEDDING:
        case "off":
            return None
        case _:
            return default_key.KEY


@outside_transactions
def load() -> EmbeddingModel:
    """Load the configured model: seconds and hundreds of megabytes, so only the embedder process does it.

    Raises ``EmbeddingUnavailable`` with a sentence for the operator.
    """
    loaded: EmbeddingModel = import_string("apps.search.embedding.local.load_default")()
    return loaded

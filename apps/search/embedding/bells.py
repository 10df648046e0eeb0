"""The keeper starts the embedder where work waits for it, so that what is saved unattended is embedded unattended."""

from django.conf import settings
from django.utils.module_loading import import_string

from apps.search.embedding.choice import current_key
from apps.search.embedding.client import wake


def wake_if_due() -> None:
    """Knock at the embedder if documents wait to be embedded: one cheap query every few seconds."""
    if settings.EMBEDDER_DUE and current_key() is not None and import_string(settings.EMBEDDER_DUE)():
        wake()

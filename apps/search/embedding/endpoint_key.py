"""The identity of a model behind an endpoint: where it is, what it is called, how many numbers it gives."""

import hashlib

from django.conf import settings

from apps.search.embedding.remembered import remembered

UNKNOWN = "unknown"


def subject() -> str:
    """Endpoint and model, without the key that opens it; the address as a digest, since it may hold a secret path."""
    place = hashlib.sha256(settings.EMBEDDING_URL.encode()).hexdigest()[:8]
    return f"endpoint/{place}/{settings.EMBEDDING_MODEL}"


def current() -> str:
    dimensions = settings.EMBEDDING_DIMENSIONS or remembered(subject()) or UNKNOWN
    return with_dimensions(dimensions)


def with_dimensions(dimensions: int | str) -> str:
    return f"{subject()}/{dimensions}"

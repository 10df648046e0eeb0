"""An endpoint that speaks OpenAI's ``/embeddings``. Its key goes into one header and nowhere else."""

import random
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _

from apps.search.embedding import endpoint_key
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.model import clean
from apps.search.embedding.remembered import remember

if TYPE_CHECKING:
    from apps.search.embedding.model import Vectors

BATCH = 64
QUERY_SECONDS = 5.0
PASSAGE_SECONDS = 60.0
TRIES = 4
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class EndpointModel:
    """The model behind the endpoint. Queries are tried once, passages wait out what passes."""

    is_remote = True

    def __init__(self, client: httpx2.Client) -> None:
        self.client = client
        self.dimensions = settings.EMBEDDING_DIMENSIONS
        first = self._ask(["MemRelay"], timeout=PASSAGE_SECONDS)
        self.dimensions = first.shape[1]
        self.key = endpoint_key.with_dimensions(self.dimensions)

    def embed_query(self, text: str) -> "Vectors":
        return self._ask([clean(text)], timeout=QUERY_SECONDS)[0]

    def embed_passages(self, texts: Sequence[str]) -> "Vectors":
        parts = [self._patiently([clean(text) for text in texts[i : i + BATCH]]) for i in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), np.float32)

    def _patiently(self, texts: list[str]) -> "Vectors":
        for tried in range(1, TRIES + 1):
            try:
                return self._ask(texts, timeout=PASSAGE_SECONDS)
            except _Passing as trouble:
                if tried == TRIES:
                    raise
                time.sleep(pause_before(tried, trouble.asked_for))
        raise AssertionError("The last try answers or raises.")

    def _ask(self, texts: list[str], *, timeout: float) -> "Vectors":
        body: dict[str, Any] = {"model": settings.EMBEDDING_MODEL, "input": texts, "encoding_format": "float"}
        if settings.EMBEDDING_DIMENSIONS:
            body["dimensions"] = settings.EMBEDDING_DIMENSIONS
        try:
            response = self.client.post("embeddings", json=body, timeout=timeout)
        except httpx2.HTTPError as failure:
            raise _Passing(_("The embedding endpoint {host} does not answer."), host=_host()) from failure
        if response.status_code != 200:
            raise _refusal(response)
        return self._vectors(response, len(texts))

    def _vectors(self, response: httpx2.Response, count: int) -> "Vectors":
        try:
            rows = sorted(response.json()["data"], key=lambda row: row["index"])
            vectors = np.asarray([row["embedding"] for row in rows], np.float32)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        except (ValueError, KeyError, TypeError) as failure:
            raise _unreadable() from failure
        if len(vectors) != count or not np.all(np.isfinite(lengths)) or not np.all(lengths):
            raise _unreadable()
        if self.dimensions and vectors.shape[1] != self.dimensions:
            raise EmbeddingUnavailable(
                _("The embedding endpoint gives vectors of {found} numbers, not of {wanted}."),
                hint=_("Correct MEMRELAY_EMBEDDING_DIMENSIONS, or restart MemRelay if the model was changed."),
                found=vectors.shape[1],
                wanted=self.dimensions,
            )
        return vectors / lengths


class _Passing(EmbeddingUnavailable):
    """It may work later."""

    retryable = True

    @property
    def asked_for(self) -> float | None:
        """Seconds the endpoint asked to wait."""
        return self.facts.get("seconds")


def load_endpoint() -> EndpointModel:
    """Connect, ask once, and so learn how many numbers a vector has."""
    if not settings.EMBEDDING_URL or not settings.EMBEDDING_MODEL:
        raise EmbeddingUnavailable(
            _("The embedding endpoint is not told."),
            hint=_("Set MEMRELAY_EMBEDDING_URL and MEMRELAY_EMBEDDING_MODEL."),
        )
    client = open_client()
    try:
        model = EndpointModel(client)
    except EmbeddingUnavailable:
        client.close()
        raise
    remember(endpoint_key.subject(), str(model.dimensions))
    return model


def pause_before(tried: int, asked_for: float | None) -> float:
    """Seconds before the next try: what the endpoint asks for, else doubling."""
    pause = FIRST_PAUSE * 2 ** (tried - 1) if asked_for is None else asked_for
    return min(pause, LONGEST_PAUSE) * random.uniform(1.0, 1.25)  # noqa: S311 - spreads clients, keeps no secret


def open_client() -> httpx2.Client:
    headers = {"User-Agent": f"MemRelay/{settings.VERSION}"}
    if settings.EMBEDDING_KEY:
        headers["Authorization"] = f"Bearer {settings.EMBEDDING_KEY}"
    nearby = urlsplit(settings.EMBEDDING_URL).hostname in ("localhost", "127.0.0.1", "::1")
    # A redirect is not followed: it would carry the key to where nobody sent it.
    return httpx2.Client(
        base_url=settings.EMBEDDING_URL.rstrip("/") + "/", headers=headers, follow_redirects=False, trust_env=not nearby
    )


def _refusal(response: httpx2.Response) -> EmbeddingUnavailable:
    """The status in words. What the endpoint says is not repeated: it may quote the key or the text."""
    status = response.status_code
    if status in PASSING:
        return _Passing(
            _("The embedding endpoint {host} is busy or failing (HTTP {status})."),
            host=_host(),
            status=status,
            seconds=_seconds(response.headers.get("retry-after")),
        )
    if status in (401, 403):
        return EmbeddingUnavailable(
            _("The embedding endpoint {host} does not take the key (HTTP {status})."),
            hint=_("Correct MEMRELAY_EMBEDDING_KEY."),
            host=_host(),
            status=status,
        )
    return EmbeddingUnavailable(
        _("The embedding endpoint {host} refuses the request (HTTP {status})."),
        hint=_("Check MEMRELAY_EMBEDDING_URL, which ends before /embeddings, and MEMRELAY_EMBEDDING_MODEL."),
        host=_host(),
        status=status,
    )


def _unreadable() -> EmbeddingUnavailable:
    return EmbeddingUnavailable(_("The embedding endpoint {host} answers something else than vectors."), host=_host())


def _seconds(told: str | None) -> float | None:
    try:
        return max(0.0, float(told)) if told else None
    except ValueError:
        return None  # A date; the ordinary pause does.


def _host() -> str:
    return urlsplit(settings.EMBEDDING_URL).hostname or "?"

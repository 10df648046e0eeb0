"""Asking what lies near a question, without waiting longer than a search may take and without ever failing.

``begin`` sends the question ahead, so that it is embedded, and all vectors are scanned, while the caller asks the text index;
``ask`` says what is wanted of it, ``answer`` collects, and ``finish`` does both.
"""

import logging
import time
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from apps.search.cursors import Reason
from apps.search.embedding.choice import current_key
from apps.search.embedding.client import Conversation
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.filters import SearchFilters
from apps.search.vectors.near import NearDocument, Nearest
from apps.search.vectors.queue import pending
from apps.search.vectors.wire import documents_from, told_filters

LONGEST_QUERY = 2_000  # Characters; a model reads fewer.
STARTING = "embedder_starting"
WAIT_FOR_MODEL = 0.1  # Seconds. Loading takes longer, and a search must not wait for it.
logger = logging.getLogger(__name__)


class Asking:
    """One question on its way. Whatever happens to the embedder, the answer is only poorer."""

    def __init__(self, query: str, scope_keys: Sequence[str]) -> None:
        self.query = query[:LONGEST_QUERY]
        self.reason: Reason | None = None
        self._conversation: Conversation | None = None
        self._scope_keys: Sequence[str] = scope_keys
        self._deadline = time.monotonic() + settings.SEMANTIC_TIMEOUT_MS / 1000
        try:
            self.is_on = current_key() is not None
            if self.is_on:
                self._conversation = Conversation()
                ahead = {"op": "question", "query": self.query, "scope_keys": list(scope_keys)}
                self._conversation.hint(ahead, WAIT_FOR_MODEL)
        except (EmbedderUnavailable, EmbeddingUnavailable) as failure:
            self._give_up(failure)

    def ask(self, filters: SearchFilters, *, also: Sequence[int] = (), limit: int = 200, checked: bool = True) -> None:
        """Ask for the nearest documents that pass the filters; ``answer`` then waits for them.

        What was sent ahead may still be at work. Unless ``checked``, some may have gone or changed since they were embedded,
        and the caller looks.
        """
        self._scope_keys = filters.scope_keys
        if self._conversation is None:
            return
        message = {"op": "nearest", "query": self.query, "filters": told_filters(filters), "also": list(also)}
        try:
            self._conversation.start({**message, "limit": limit, "checked": checked}, self._left)
        except EmbedderUnavailable as failure:
            self._give_up(failure)

    def finish(self, filters: SearchFilters, *, also: Sequence[int] = (), limit: int = 200) -> Nearest:
        """Ask and wait."""
        self.ask(filters, also=also, limit=limit)
        return self.answer()

    @property
    def is_at_work(self) -> bool:
        """Whether the answer is still to come, so that there is time for something else."""
        return self._conversation is not None and not self._conversation.has_answer

    def answer(self) -> Nearest:
        """What was asked for, and how far that answer can be relied on."""
        if not self.is_on:
            return Nearest()
        waiting = pending(self._scope_keys)
        documents = self._documents()
        if documents is None:
            return Nearest([], False, self.reason, waiting)
        return Nearest(documents, True, Reason.VECTORS_PENDING if waiting else None, waiting)

    def scores(self, document_ids: Sequence[int], filters: SearchFilters) -> list[NearDocument]:
        """How near these documents are; those without a current vector are missing."""
        self.ask(filters, also=document_ids, limit=0)
        return self._documents() or []

    def close(self) -> None:
        if self._conversation is not None:
            self._conversation.close()
            self._conversation = None

    @property
    def _left(self) -> float:
        return max(0.001, self._deadline - time.monotonic())

    def _documents(self) -> list[NearDocument] | None:
        if self._conversation is None:
            return None
        try:
            answer: dict[str, Any] = self._conversation.answer(self._left)
            return documents_from(answer["documents"])
        except EmbedderUnavailable as failure:
            self._give_up(failure)
            return None

    def _give_up(self, failure: EmbedderUnavailable | EmbeddingUnavailable) -> None:
        reason = failure.reason if isinstance(failure, EmbedderUnavailable) else failure.code
        self.reason = Reason.SEMANTIC_STARTING if reason == STARTING else Reason.SEMANTIC_UNAVAILABLE
        logger.debug("A question was answered without vectors: %s", reason)
        self.close()


def begin(query: str, scope_keys: Sequence[str] = ()) -> Asking:
    """Send a question ahead, to be held against these scopes at once. Never raises and hardly waits."""
    return Asking(query, scope_keys)

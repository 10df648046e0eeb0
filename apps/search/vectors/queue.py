"""What waits to be embedded.

There is no queue to fill: a document waits while the revision that was embedded is below its own, which a partial index
tells at once. So a save costs nothing, nothing can be forgotten, and with embeddings switched on later all is waiting.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from apps.base import clock
from apps.base.rows import fetched
from apps.base.transactions import short_transaction
from apps.search.embedding.choice import current_key
from apps.search.index import stored_time
from apps.search.models import Document, Embedding, EmbeddingTrouble, VectorModel

COUNTED_TO = 1_000

# The newest first: what was saved just now is found by its meaning within seconds, even while an import is digested.
_DUE = """
    SELECT d.id, d.stable_id, d.revision FROM search_document d INDEXED BY search_document_waiting
    LEFT JOIN search_embeddingtrouble t ON t.document_id = d.id AND t.revision = d.revision
    WHERE d.embedded < d.revision AND (t.document_id IS NULL OR (NOT t.failed AND t.not_before <= %s))
    ORDER BY d.updated_at DESC LIMIT %s
"""
_PENDING = """
    SELECT count(*) FROM (
        SELECT 1 FROM search_document d INDEXED BY search_document_waiting
        WHERE d.embedded < d.revision{scoped} LIMIT %s)
"""


class Due(NamedTuple):
    document_id: int
    stable_id: str
    revision: int


def due(most: int, *, now: datetime | None = None) -> list[Due]:
    """The next documents to embed."""
    return [Due(*row) for row in fetched(_DUE, [stored_time(now or clock.now()), most])]


def pending(scope_keys: Iterable[str] | None = None, *, to: int = COUNTED_TO) -> int:
    """How many documents wait or failed, counted to ``to`` at most."""
    keys = None if scope_keys is None else list(scope_keys)
    if keys == []:
        return 0  # SQLite finds no plan for nothing by a given index.
    scoped = "" if keys is None else f" AND d.scope_key IN ({', '.join(['%s'] * len(keys))})"
    [(waiting,)] = fetched(_PENDING.format(scoped=scoped), [*(keys or ()), to])
    return int(waiting)


def enqueue(document_ids: Iterable[int]) -> None:
    """Have documents embedded although they did not change. A save needs no call: its new revision waits by itself."""
    ids = iter(document_ids)
    while some := list(islice(ids, 500)):
        with short_transaction():
            Document.objects.filter(pk__in=some).update(embedded=0)
            EmbeddingTrouble.objects.filter(pk__in=some).delete()


def is_due() -> bool:
    """Whether the embedder has something to do, and may."""
    row = Embedding.objects.filter(pk=1).first()
    if row is not None and row.is_stopped:
        return False
    return bool(due(1)) or (row is not None and (row.renew_to > 0 or _is_of_another_model(row)))


def _is_of_another_model(row: Embedding) -> bool:
    return not VectorModel.objects.filter(pk=row.model_id, key=current_key()).exists()

"""Embedding what waits: called again and again by the embedder's queue thread, killed anywhere, never in anybody's way.

Rows, then the model, then one short transaction for all that was embedded in about a second: the only writer is taken seldom,
and a document that changed meanwhile is simply met again.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Max

from apps.base import clock
from apps.base.errors import MemRelayError
from apps.base.faults import fault
from apps.base.transactions import outside_transactions, short_transaction
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.model import EmbeddingModel
from apps.search.index import stored_time
from apps.search.models import Document, Embedding, EmbeddingTrouble, Passage, VectorModel
from apps.search.vectors import queue
from apps.search.vectors.pieces import Cut, cut
from apps.search.vectors.queue import Due
from apps.search.vectors.rows import embedding_row, row_of
from apps.search.vectors.serving import warm
from apps.search.vectors.texts import PassageText, texts_of

GROUP_SECONDS = 1.0
TAKEN = 64  # Documents looked up at once.
STEP = 4  # Texts handed to the model at once.
RENEWED_AT_ONCE = 500
SWEPT_AT_ONCE = 500
ATTEMPTS = 5
FIRST_PAUSE = timedelta(seconds=30)
PROBE = "memory"
logger = logging.getLogger(__name__)

_INSERT = """
    INSERT INTO search_passage (document_id, revision, model_id, number, start, "end", language, text_hash, vector)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_KNOWN = "SELECT text_hash, vector FROM search_passage WHERE document_id = %s AND model_id = %s AND id > %s"
_FORGET = "DELETE FROM search_embeddingtrouble WHERE document_id = %s"
_TROUBLE = """
    INSERT INTO search_embeddingtrouble (document_id, revision, attempts, not_before, failed, reason, left_out)
    VALUES (%s, %s, %s, %s, %s, %s, %s)
"""


class Stopped(Exception):
    """Somebody wants the process to end."""


class NotThisRevision(Exception):
    """The text that can be read is of another revision than the document that waits."""


@dataclass(frozen=True)
class Embedded:
    """A document with its passages, ready to be stored."""

    due: Due
    rows: list[tuple[Any, ...]]
    left_out: int


@outside_transactions
def work(model: EmbeddingModel, should_stop: Callable[[], bool]) -> bool:
    """Do a little of what is to be done; whether there was anything. Raises ``EmbeddingUnavailable`` where the model is gone."""
    if not warm(model):
        return True
    state = embedding_row()
    if state.is_stopped:
        return False
    vectors = row_of(model)
    if state.model_id != vectors.pk:
        _begin_with(vectors, state)
        return True
    if state.renewed < state.renew_to:
        _renew(state)
        return True
    waiting = queue.due(TAKEN)
    if waiting:
        return _embed_some(model, vectors, state, waiting, should_stop)
    return _finish(state)


# --- one group of documents -----------------------------------------------------------------------------------


def _embed_some(
    model: EmbeddingModel,
    vectors: VectorModel,
    state: Embedding,
    waiting: Sequence[Due],
    should_stop: Callable[[], bool],
) -> bool:
    began = time.monotonic()
    texts = texts_of([due.stable_id for due in waiting])
    done: list[Embedded] = []
    try:
        for due in waiting:
            if time.monotonic() - began > GROUP_SECONDS or should_stop():
                break
            text = texts.get(due.stable_id)
            try:
                done.append(_embedded(model, vectors.pk, state.distrusted, due, _cut(due, text), should_stop))
            except (Stopped, EmbeddingUnavailable):
                raise
            except Exception as failure:  # Any text may break any model; the others go on.
                _note(due, failure)
    except Stopped:
        pass
    except EmbeddingUnavailable as failure:
        _store(done)
        _tell(str(failure))
        raise
    _store(done)
    if done and state.trouble:
        _tell("")
    return True


def _cut(due: Due, text: PassageText | None) -> Cut:
    """The pieces of a document; none where its text must not or cannot be read."""
    if text is None or text.withheld:
        return Cut([])
    if text.revision != due.revision:
        raise NotThisRevision  # Written this very moment; its row is met again with the new number.
    return cut(text.title, text.summary, text.tags, text.body, most=settings.EMBEDDING_PASSAGES)


def _embedded(
    model: EmbeddingModel, model_id: int, distrusted: int, due: Due, cut_: Cut, should_stop: Callable[[], bool]
) -> Embedded:
    """A document's passages with their vectors; what has the same text as before needs no model."""
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN, [due.document_id, model_id, distrusted])
        known = {bytes(digest): bytes(vector) for digest, vector in cursor.fetchall()}
    missing = {piece.text_hash: piece.text for piece in cut_.pieces if piece.text_hash not in known}
    for place in range(0, len(missing), STEP):
        if should_stop():
            raise Stopped
        some = dict(list(missing.items())[place : place + STEP])
        made = _vectors(model, list(some.values()))
        known.update((digest, vector.tobytes()) for digest, vector in zip(some, made, strict=True))
    rows = [
        (
            due.document_id, due.revision, model_id, number, piece.start, piece.end, piece.language, piece.text_hash,
            known[piece.text_hash],
        )
        for number, piece in enumerate(cut_.pieces)
    ]  # fmt: skip
    return Embedded(due, rows, cut_.left_out)


def _vectors(model: EmbeddingModel, texts: list[str]) -> Any:
    try:
        made = model.embed_passages(texts)
    except EmbeddingUnavailable as failure:
        model.embed_passages([PROBE])  # Fails too where the model is gone. Else it is this text that it cannot take.
        raise ValueError(str(failure)) from failure
    halves = np.asarray(made, np.float32).astype(np.float16)
    if halves.shape != (len(texts), model.dimensions) or not np.isfinite(halves).all():
        raise ValueError("The model gave no vector.")
    return halves


def _store(done: Sequence[Embedded]) -> None:
    if not done:
        return
    fault("embedding-before-store")
    with short_transaction(), connection.cursor() as cursor:
        for one in done:
            _store_one(cursor, one)
        fault("embedding-inside-store")
    fault("embedding-after-store")


def _store_one(cursor: CursorWrapper, one: Embedded) -> None:
    """Put a document's passages in place of the old ones, if it still is at the revision that was embedded."""
    key, _, revision = one.due
    cursor.execute(
        "UPDATE search_document SET embedded = %s WHERE id = %s AND revision = %s", [revision, key, revision]
    )
    if cursor.rowcount != 1:
        return
    cursor.execute("DELETE FROM search_passage WHERE document_id = %s", [key])
    cursor.executemany(_INSERT, one.rows)
    cursor.execute(_FORGET, [key])
    if one.left_out:
        cursor.execute(_TROUBLE, [key, revision, 0, stored_time(clock.now()), False, "", one.left_out])


def _note(due: Due, failure: Exception) -> None:
    """Try a text that broke the model again later, then let it be."""
    logger.warning("%s could not be embedded: %s", due.stable_id, type(failure).__name__)
    before = EmbeddingTrouble.objects.filter(pk=due.document_id, revision=due.revision).first()
    attempts = (before.attempts if before else 0) + 1
    pause = FIRST_PAUSE * 4 ** (attempts - 1)
    reason = str(failure) if isinstance(failure, MemRelayError) else type(failure).__name__
    with short_transaction(), connection.cursor() as cursor:
        cursor.execute(_FORGET, [due.document_id])
        not_before = stored_time(clock.now() + pause)
        values: list[Any] = [due.document_id, due.revision, attempts, not_before, attempts >= ATTEMPTS, reason[:300], 0]
        cursor.execute(_TROUBLE, values)


# --- the whole store ------------------------------------------------------------------------------------------


def _begin_with(vectors: VectorModel, state: Embedding) -> None:
    """Another model from now on: nothing of the old one is served, and all documents are embedded anew."""
    fields = {"model_id": vectors.pk, "trouble": "", "renewed": 0, "renew_to": _last_document()}
    if not state.model_id:
        fields["renew_to"] = 0  # Nothing was embedded before, so everything waits already.
    with short_transaction():
        Embedding.objects.update_or_create(pk=1, defaults=fields)


def _renew(state: Embedding) -> None:
    """Let the next documents wait again. In small steps: each holds the only writer."""
    ids = list(
        Document.objects.filter(pk__gt=state.renewed).order_by("pk").values_list("pk", flat=True)[:RENEWED_AT_ONCE]
    )
    upto = ids[-1] if len(ids) == RENEWED_AT_ONCE else state.renew_to
    with short_transaction():
        queue.enqueue(ids)
        Embedding.objects.filter(pk=1, renewed=state.renewed).update(renewed=min(upto, state.renew_to))


def _finish(state: Embedding) -> bool:
    """After a change of the model: put away the vectors of the others, and with the last of them it is done."""
    if not state.renew_to:
        return False
    old = list(Passage.objects.exclude(model_id=state.model_id).values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    with short_transaction():
        if old:
            Passage.objects.filter(pk__in=old).delete()
        else:
            Embedding.objects.filter(pk=1, renew_to=state.renew_to).update(renewed=0, renew_to=0)
    return True


def _last_document() -> int:
    return Document.objects.aggregate(last=Max("pk"))["last"] or 0


def _tell(trouble: str) -> None:
    """Note why nothing goes on, or that it does again."""
    row = embedding_row()
    if row.trouble != trouble[:300]:
        with short_transaction():
            Embedding.objects.filter(pk=1).update(trouble=trouble[:300], trouble_at=clock.now())

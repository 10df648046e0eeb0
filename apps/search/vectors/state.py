"""How far embedding is: of the whole store, of some scopes, of single documents; and whether meaning can be searched now."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import connection
from django.utils.translation import gettext as _

from apps.leases.locks import role_is_served
from apps.search.embedding.choice import current_key, last_trouble
from apps.search.embedding.client import ask_health
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.models import Document, EmbeddingTrouble, VectorModel
from apps.search.vectors.rows import embedding_row

HEALTH_SECONDS = 0.3
DocumentState = Literal["indexed", "pending", "failed", "off"]
SemanticState = Literal["available", "starting", "off", "failing"]


@dataclass(frozen=True)
class StoreState:
    """``documents`` is ``indexed`` + ``pending`` + ``failed``; where embeddings are off nothing is any of these."""

    model: str  # Empty where embeddings are off.
    documents: int
    indexed: int
    pending: int
    failed: int
    is_reembedding: bool
    is_stopped: bool
    trouble: str = ""


def store_state(scope_keys: Sequence[str] | None = None) -> StoreState:
    """Of these scopes, or of all."""
    row = embedding_row()
    key, trouble = _key_and_trouble()
    scoped, values = ("1", []) if scope_keys is None else (f"d.scope_key IN ({_marks(scope_keys)})", list(scope_keys))
    with connection.cursor() as cursor:
        documents = _count(cursor, f"search_document d WHERE {scoped}", values)
        waiting = _count(cursor, f"search_document d WHERE d.embedded < d.revision AND {scoped}", values)
        failed = _count(
            cursor,
            "search_embeddingtrouble t JOIN search_document d ON d.id = t.document_id AND d.revision = t.revision"
            f" WHERE t.failed AND d.embedded < d.revision AND {scoped}",
            values,
        )
    is_current = _is_current(row.model_id, key)
    if not is_current:
        waiting, failed = documents, 0  # What is there was made by another model, and is not served.
    is_off = key is None and not trouble
    return StoreState(
        model=key or "",
        documents=documents,
        indexed=documents - waiting,
        pending=0 if is_off else waiting - failed,
        failed=failed,
        is_reembedding=bool(key) and (row.renew_to > 0 or (bool(row.model_id) and not is_current)),
        is_stopped=row.is_stopped,
        trouble=trouble or (row.trouble if is_current else ""),
    )


def document_states(stable_ids: Sequence[str]) -> dict[str, tuple[DocumentState, str]]:
    """The state of each document the index knows, and the reason where there is something to say."""
    key, _trouble = _key_and_trouble()
    is_current = _is_current(embedding_row().model_id, key)
    rows = Document.objects.filter(stable_id__in=stable_ids).values_list("stable_id", "pk", "revision", "embedded")
    told = {
        (one.document_id, one.revision): one for one in EmbeddingTrouble.objects.filter(pk__in=[r[1] for r in rows])
    }
    return {
        stable_id: _document_state(key, is_current and embedded >= revision, told.get((pk, revision)))
        for stable_id, pk, revision, embedded in rows
    }


def _document_state(key: str | None, is_embedded: bool, trouble: EmbeddingTrouble | None) -> tuple[DocumentState, str]:
    if key is None:
        return "off", ""
    if is_embedded:
        if trouble and trouble.left_out:
            return "indexed", _("The text is very long: {count} of its pieces have no vectors.").format(
                count=trouble.left_out
            )
        return "indexed", ""
    if trouble is None or not trouble.attempts:
        return "pending", ""
    return ("failed" if trouble.failed else "pending"), _("The model failed at this text: {kind}.").format(
        kind=trouble.reason
    )


def semantic_state(*, to_operator: bool = False) -> tuple[SemanticState, str]:
    """Whether a question can be answered by meaning at this moment, and what stands in the way.

    Why a model fails names folders and hosts, as the embedder wrote it down; that is for the operator alone.
    """
    key, trouble = _key_and_trouble()
    if key is None and not trouble:
        return "off", _("MEMRELAY_EMBEDDING is off.")
    trouble = trouble or embedding_row().trouble
    if trouble:
        return "failing", trouble if to_operator else str(EmbeddingUnavailable.sentence)
    if not role_is_served("embedder"):
        if role_is_served("worker"):
            return "available", _("It rests; the first question starts it.")
        return "failing", _("The worker does not run, which starts the embedder.")
    try:
        health = ask_health(HEALTH_SECONDS)
    except EmbedderUnavailable:
        return "failing", _("The embedder does not answer.")
    if health.get("trouble"):
        return "failing", str(health["trouble"] if to_operator else EmbeddingUnavailable.sentence)
    if health.get("model") is None:
        return "starting", _("The embedding model is being loaded.")
    return "available", ""


def _key_and_trouble() -> tuple[str | None, str]:
    """The configured model, and why it cannot be used if that is known."""
    try:
        key = current_key()
    except EmbeddingUnavailable as failure:
        return None, str(failure)
    return key, last_trouble() if key else ""


def _is_current(model_id: int, key: str | None) -> bool:
    return key is not None and VectorModel.objects.filter(pk=model_id, key=key).exists()


def _count(cursor: Any, what: str, values: Sequence[Any]) -> int:
    cursor.execute(f"SELECT count(*) FROM {what}", values)  # noqa: S608 - constants of this module and marks
    return int(cursor.fetchone()[0])


def _marks(values: Sequence[str]) -> str:
    return ", ".join(["%s"] * len(values))

"""What the state of embedding looks like to those who ask for it."""

from typing import Literal

from pydantic import BaseModel

from apps.search.vectors.state import DocumentState, SemanticState, semantic_state, store_state


class MemoryStateOut(BaseModel):
    """``pending`` is found by its words already; of ``failed`` the reason says why it will be found by them only."""

    memory_id: str
    revision: int
    text: Literal["indexed", "withheld"]
    meaning: DocumentState | Literal["withheld"]
    reason: str = ""


class SearchStateOut(BaseModel):
    """Counts of the memories that the caller may see. ``memory`` only where one was asked for."""

    semantic_search: SemanticState
    reason: str = ""
    model: str = ""
    memories: int = 0
    indexed: int = 0
    pending: int = 0
    failed: int = 0
    reembedding: bool = False
    stopped: bool = False
    memory: MemoryStateOut | None = None


def search_state(scope_keys: list[str] | None = None, memory: MemoryStateOut | None = None) -> SearchStateOut:
    state, reason = semantic_state()
    told = store_state(scope_keys)
    return SearchStateOut(
        semantic_search=state,
        reason=reason,
        model=told.model,
        memories=told.documents,
        indexed=told.indexed,
        pending=told.pending,
        failed=told.failed,
        reembedding=told.is_reembedding,
        stopped=told.is_stopped,
        memory=memory,
    )

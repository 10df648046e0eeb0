"""What the state of embedding looks like to those who ask for it."""

from typing import Literal

from pydantic import BaseModel

from apps.memories.doors import visible_scopes
from apps.operations.caller import Caller
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


def counted_scopes(caller: Caller) -> list[str] | None:
    """The scopes whose texts a caller is told the number of; nothing for all of them."""
    return None if caller.administers and not caller.project_id else visible_scopes(caller)


def search_state(caller: Caller, memory: MemoryStateOut | None = None) -> SearchStateOut:
    """Of what the caller may see; who operates the server sees all, and why a model fails."""
    state, reason = semantic_state(to_operator=caller.administers)
    told = store_state(counted_scopes(caller))
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

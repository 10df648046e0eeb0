"""How far searching by meaning is."""

from typing import Annotated

from pydantic import Field

from apps.memories.doors import memory_for
from apps.memories.embedding import MemoryStateOut, SearchStateOut, search_state
from apps.memories.models import Memory
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.search.vectors.state import document_states

OneMemory = Annotated[str, Field(description="Also the state of this memory: id, path or slug.", max_length=900)]


@operation(needs=Right.READ, answers=SearchStateOut)
def search_state_get(caller: Caller, *, memory_id: OneMemory = "") -> SearchStateOut:
    """Read whether search by meaning works, how much of what you may see is embedded, and the state of one memory.

    Text search needs none of it: what is pending or failed is found by its words all the same.
    """
    memory = _state_of(memory_for(caller, memory_id)) if memory_id else None
    return search_state(caller, memory)


def _state_of(memory: Memory) -> MemoryStateOut:
    if memory.withheld:
        return MemoryStateOut(memory_id=memory.stable_id, revision=memory.revision, text="withheld", meaning="withheld")
    state, reason = document_states([memory.stable_id]).get(memory.stable_id, ("pending", ""))
    return MemoryStateOut(
        memory_id=memory.stable_id, revision=memory.revision, text="indexed", meaning=state, reason=reason
    )

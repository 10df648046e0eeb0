"""What several changes refuse alike."""

from apps.base.text import fold
from apps.memories.errors import TitleTaken, WrongResource, WrongState
from apps.memories.ledger import names
from apps.memories.ledger.recording import Recording
from apps.memories.models import Memory, Resource, Status


def guard_title(recording: Recording, title: str, *, but: Memory | None = None) -> None:
    if found := names.title_taken(recording.scope.key, fold(title[:400])[:600], but=but.pk if but else 0):
        raise TitleTaken(title=title, memory_id=found)


def own_memory(recording: Recording, memory_id: str, revision: int | None) -> Memory:
    memory = recording.memory(memory_id, revision=revision)
    if memory.resource != Resource.MEMORY:
        raise WrongResource(memory_id=memory.stable_id, resource=memory.resource)
    return memory


def require(memory: Memory, status: Status) -> None:
    if memory.status != status:
        raise WrongState(memory_id=memory.stable_id, status=memory.status)

"""A document that goes to another scope, or to another memory space."""

from dataclasses import dataclass

from apps.base.text import same_slug_key
from apps.memories.ledger.changes.guards import guard_title, own_memory, require
from apps.memories.ledger.changes.writing import IfExists
from apps.memories.ledger.deed import Outcome
from apps.memories.ledger.names import ARCHIVE, AREAS
from apps.memories.ledger.recording import Recording
from apps.memories.models import Memory, Resource, Status


@dataclass
class Baggage:
    """What a memory takes along from one scope to the other, inside one transaction."""

    memory: Memory | None = None
    document: bytes = b""


@dataclass(frozen=True, kw_only=True)
class Depart:
    """The first half of a move between scopes (L-14): the old scope forgets the file and keeps the slug as an alias."""

    memory_id: str
    revision: int | None
    baggage: Baggage
    as_part_of_all: bool = False  # The whole scope goes: checkpoints and archived memories too.

    def apply(self, recording: Recording) -> Outcome:
        if self.as_part_of_all:
            memory = recording.memory(self.memory_id)
        else:
            memory = own_memory(recording, self.memory_id, self.revision)
            require(memory, Status.ACTIVE)
        recording.names.leave_alias(memory)
        recording.intents.delete(memory, memory.path, memory.raw_hash)
        recording.log("memory.departed", memory)
        self.baggage.memory, self.baggage.document = memory, recording.document(memory)
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Arrive:
    """The second half: a name and a place in the new scope, and the next revision there."""

    baggage: Baggage
    reason: str = ""
    if_exists: IfExists = IfExists.REFUSE
    profile_id: str = ""  # The memory space it belongs to from now on, if that changes.

    def apply(self, recording: Recording) -> Outcome:
        memory, document = self.baggage.memory, self.baggage.document
        assert memory is not None, "A memory departs before it arrives."  # noqa: S101
        if self.if_exists is IfExists.REFUSE:
            guard_title(recording, memory.title)
        memory.profile_id = self.profile_id or memory.profile_id
        memory.slug = recording.names.free_slug(memory.slug, own=memory)
        memory.slug_key = same_slug_key(memory.slug)
        memory.scope = recording.scope
        recording.names.forget_alias(memory)
        memory.home = ""  # Where it lay before it was archived belongs to the scope it left.
        area = ARCHIVE if memory.status == Status.ARCHIVED else AREAS[Resource(memory.resource)]
        path = recording.names.free_near(recording.names.path_in(area, memory.slug, memory.created_at), but=memory)
        recording.arrive(memory, document, path, reason=self.reason)
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A document counts as another memory space's from now on; its text stays."""

    memory_id: str
    profile_id: str
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id)
        if memory.status == Status.DELETED or memory.profile_id == self.profile_id:
            return Outcome(memory, changed=False)
        memory.profile_id = self.profile_id
        recording.revise(memory, recording.document(memory), action="attribute", reason=self.reason)
        return Outcome(memory)

"""A document that is put away or deleted, and brought back."""

from dataclasses import dataclass

from apps.memories.errors import WrongState
from apps.memories.ledger.changes.guards import own_memory, require
from apps.memories.ledger.deed import Outcome
from apps.memories.ledger.names import ARCHIVE
from apps.memories.ledger.recording import Recording
from apps.memories.models import Status


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Put a memory away: its file moves to ``archive/``, search leaves it out unless asked."""

    memory_id: str
    revision: int | None = None
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = own_memory(recording, self.memory_id, self.revision)
        if memory.status == Status.ARCHIVED:
            return Outcome(memory, changed=False)
        require(memory, Status.ACTIVE)
        memory.home = memory.path
        path = recording.names.free_near(recording.names.path_in(ARCHIVE, memory.slug, recording.now), but=memory)
        recording.revise(
            memory, recording.document(memory), action="archive", reason=self.reason, status=Status.ARCHIVED, path=path
        )
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Unarchive:
    """Take a memory out of the archive, back to where it was."""

    memory_id: str
    revision: int | None = None
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = own_memory(recording, self.memory_id, self.revision)
        if memory.status == Status.ACTIVE:
            return Outcome(memory, changed=False)
        require(memory, Status.ARCHIVED)
        home = memory.home or recording.names.path_in("memories", memory.slug, memory.created_at)
        path = recording.names.free_near(home, but=memory)
        memory.home = ""
        recording.revise(
            memory, recording.document(memory), action="unarchive", reason=self.reason, status=Status.ACTIVE, path=path
        )
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Delete: file, index and links go; history stays until the purge, and slug and path with it (L-18)."""

    memory_id: str
    revision: int | None = None
    reason: str = ""
    any_resource: bool = False
    write: bool = True  # False where the file is gone already (the scan saw it vanish).
    action: str = "delete"

    def apply(self, recording: Recording) -> Outcome:
        memory = (
            recording.memory(self.memory_id, revision=self.revision)
            if self.any_resource
            else own_memory(recording, self.memory_id, self.revision)
        )
        if memory.status == Status.DELETED:
            raise WrongState(memory_id=memory.stable_id, status=memory.status)
        memory.home = f"{memory.status}:{memory.home}"  # What a restore brings it back as, and an unarchive to where.
        recording.revise(
            memory,
            recording.document(memory),
            action=self.action,
            reason=self.reason,
            status=Status.DELETED,
            write=self.write,
            stamp=False,
        )
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Restore:
    """Bring a deleted document back as it was."""

    memory_id: str
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id)
        require(memory, Status.DELETED)
        was, _, memory.home = memory.home.partition(":")
        status = Status.ARCHIVED if was == Status.ARCHIVED else Status.ACTIVE
        recording.revise(
            memory, recording.document(memory), action="restore", reason=self.reason, status=status, expected_hash=""
        )
        return Outcome(memory)

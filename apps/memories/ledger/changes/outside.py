"""What was found on disk becomes a revision; and what is missing there is written anew."""

from dataclasses import dataclass

from apps.base.text import nfc
from apps.memories import documents
from apps.memories.ledger.changes.keeping import Delete
from apps.memories.ledger.deed import Outcome
from apps.memories.ledger.names import ARCHIVE
from apps.memories.ledger.recording import Recording
from apps.memories.models import Memory, Resource, Status
from apps.memories.store import Signature

OUTSIDE_EDIT_KEPT = "outside_edit_kept"


@dataclass(frozen=True, kw_only=True)
class KeepOutside:
    """An outside edit that was found on disk becomes a revision (L-01, L-06, L-07).

    Where an acknowledged write still waits for its file, the outside text goes into history before it and the
    acknowledged text is recorded again after it. At a deletion it is kept in history and the deletion stands.
    """

    memory_id: str
    seen_revision: int
    document: bytes
    signature: Signature | None
    withheld: bool = False
    displaced: bool = False  # Found aside (L-08): the file already holds the acknowledged text.
    path: str | None = None  # Where the file lies now, if it was moved.

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id, revision=self.seen_revision)
        if memory.status == Status.DELETED:
            recording.revise(
                memory, self.document, action="external", write=False, stamp=False, warning=OUTSIDE_EDIT_KEPT
            )
            return Outcome(memory, warnings=[OUTSIDE_EDIT_KEPT])
        if self.displaced or recording.is_waiting(memory):
            return self._keep_before(recording, memory)
        facts = documents.read_facts(self.document, fallback_title=memory.title)
        recording.revise(
            memory,
            self.document,
            action="external",
            write=False,
            stamp=False,
            path=None if self.path is None else recording.names.place_of_found(nfc(self.path), but=memory),
            signature=self.signature,
            facts=facts,
            withheld=self.withheld,
        )
        if not facts.has_identity and "not_utf8" not in facts.problems:
            before = memory.raw_hash
            recording.revise(memory, self.document, action="identity", facts=facts, expected_hash=before)
        return Outcome(memory)

    def _keep_before(self, recording: Recording, memory: Memory) -> Outcome:
        acknowledged, was_withheld = recording.document(memory), memory.withheld
        base = max(memory.revision - 1, 0)
        recording.revise(
            memory, self.document, action="external", write=False, stamp=False, base=base, withheld=self.withheld
        )
        outside = memory.raw_hash
        recording.revise(
            memory,
            acknowledged,
            action="kept",
            warning=OUTSIDE_EDIT_KEPT,
            expected_hash=outside,
            withheld=was_withheld,
        )
        return Outcome(memory, warnings=[OUTSIDE_EDIT_KEPT])


@dataclass(frozen=True, kw_only=True)
class Found:
    """A Markdown file that nobody knows: it becomes a memory where it lies."""

    path: str
    document: bytes
    signature: Signature
    stable_id: str
    title: str
    resource: Resource = Resource.MEMORY
    status: Status = Status.ACTIVE
    withheld: bool = False

    def apply(self, recording: Recording) -> Outcome:
        facts = documents.read_facts(self.document, fallback_title=self.title)
        place = recording.names.place_of_found(nfc(self.path))
        memory = recording.new_memory(self.resource, facts, slug=None, path=place, stable_id=self.stable_id)
        memory.status = self.status
        has_all = facts.has_identity and facts.stable_id == self.stable_id
        recording.add(
            memory,
            self.document,
            facts,
            action="external",
            write=False,
            signature=self.signature,
            withheld=self.withheld,
        )
        if not has_all:
            recording.revise(memory, self.document, action="identity", facts=facts, expected_hash=memory.raw_hash)
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Returned:
    """The file of a deleted memory lies there again: somebody brought it back outside."""

    memory_id: str
    seen_revision: int
    document: bytes
    signature: Signature
    path: str
    withheld: bool = False

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id, revision=self.seen_revision)
        memory.home = ""
        recording.revise(
            memory,
            self.document,
            action="external",
            status=Status.ARCHIVED if self.path.startswith(f"{ARCHIVE}/") else Status.ACTIVE,
            path=recording.names.place_of_found(self.path, but=memory),
            write=False,
            stamp=False,
            signature=self.signature,
            withheld=self.withheld,
        )
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Vanish:
    """A file that was removed outside takes its memory along, unless the memory has changed since that was seen."""

    memory_id: str
    seen_revision: int
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.look_up(self.memory_id)
        if (
            memory is None
            or memory.status == Status.DELETED
            or memory.revision != self.seen_revision
            or recording.is_waiting(memory)
        ):
            return Outcome(memory or Memory(), changed=False)
        gone = Delete(memory_id=self.memory_id, any_resource=True, write=False, action="vanished", reason=self.reason)
        return gone.apply(recording)


@dataclass(frozen=True, kw_only=True)
class Rewrite:
    """Put the file of the current revision back, because a person decided so after an alarm (L-11)."""

    memory_id: str

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id)
        if memory.status != Status.DELETED:
            recording.rewrite(memory)
        return Outcome(memory, changed=False)


@dataclass(frozen=True, kw_only=True)
class WriteScopeFile:
    """``.memrelay/scope.json`` anew (L-23)."""

    def apply(self, recording: Recording) -> Outcome:
        recording.intents.write_scope_file()
        return Outcome(Memory(), changed=False)

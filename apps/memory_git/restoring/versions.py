"""Older versions come back as new revisions, down the ledger's road like every other write (GIT-061)."""

from dataclasses import dataclass, replace

from apps.base.text import fold
from apps.memories import documents
from apps.memories.errors import TitleTaken
from apps.memories.ledger import Create, IfExists, Outcome, Recording, names
from apps.memories.ledger.names import ARCHIVE
from apps.memories.models import Memory, Resource, Status
from apps.operations.caller import Caller, Origin

ACTION = "version_restore"


@dataclass(frozen=True, kw_only=True)
class RestoreVersion:
    """A document as a commit holds it becomes the newest revision; a deleted one lies there again.

    ``as_snapshot`` puts it to the place it had then, and looks at no titles: the others come back with it.
    """

    memory_id: str
    document: bytes
    path: str
    resource: Resource = Resource.MEMORY
    revision: int | None = None
    reason: str = ""
    as_snapshot: bool = False

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.look_up(self.memory_id)
        if memory is None:
            return self._anew(recording)
        memory = recording.memory(self.memory_id, revision=self.revision)
        path, status = self._place(recording, memory)
        is_there = (memory.path, memory.status) == (path, status)
        if is_there and documents.stamped(self.document, memory, memory.revision) == recording.document(memory):
            return Outcome(memory, changed=False)
        facts = documents.read_facts(self.document, fallback_title=memory.title)
        if not self.as_snapshot and memory.resource == Resource.MEMORY:
            self._guard(recording, memory, facts.title)
        memory.home = memory.home.partition(":")[2] if memory.status == Status.DELETED else memory.home
        recording.revise(
            memory,
            self.document,
            action=ACTION,
            reason=self.reason,
            status=status,
            path=path,
            facts=facts,
            withheld=not documents.is_clean(self.document),
        )
        return Outcome(memory)

    def _place(self, recording: Recording, memory: Memory) -> tuple[str, Status]:
        """Where it goes: what lies there now stays in its place, unless everything goes back."""
        if memory.status != Status.DELETED and not self.as_snapshot:
            return memory.path, Status(memory.status)
        status = Status.ARCHIVED if self.path.startswith(f"{ARCHIVE}/") else Status.ACTIVE
        return recording.names.free_near(self.path, but=memory), status

    def _guard(self, recording: Recording, memory: Memory, title: str) -> None:
        if found := names.title_taken(recording.scope.key, fold(title[:400])[:600], but=memory.pk):
            raise TitleTaken(title=title, memory_id=found)

    def _anew(self, recording: Recording) -> Outcome:
        """No row knows it: it comes from a history that this database has not written. An archived one comes back active."""
        facts = documents.read_facts(self.document, fallback_title="")
        path = self.path.removeprefix(f"{ARCHIVE}/") if self.path.startswith(f"{ARCHIVE}/") else self.path
        return Create(
            title=facts.title or self.path.rpartition("/")[2].removesuffix(".md"),
            document=self.document,
            resource=self.resource,
            stable_id=self.memory_id,
            path=recording.names.free_near(f"memories/{path}" if path != self.path else path),
            if_exists=IfExists.NEW,
            action=ACTION,
            reason=self.reason,
        ).apply(recording)


def by_git(caller: Caller) -> Caller:
    """The same caller, bringing back what Git holds: nothing new that curation would have to read."""
    return replace(caller, origin=Origin.GIT)

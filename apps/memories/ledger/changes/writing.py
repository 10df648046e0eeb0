"""New texts: a document that is saved, edited, or taken back to an older revision."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from apps.base.text import fold
from apps.memories import documents, frontmatter
from apps.memories.documents import Facts
from apps.memories.errors import RevisionUnknown
from apps.memories.frontmatter import Value
from apps.memories.ledger.changes.guards import guard_title, require
from apps.memories.ledger.deed import Outcome
from apps.memories.ledger.recording import Recording
from apps.memories.models import Kind, Memory, MemoryRevision, Resource, Status

Transform = Callable[[bytes], bytes]


class IfExists(StrEnum):
    """What a save does where a memory of the same title is (D-09). Nothing is ever replaced."""

    REFUSE = "refuse"
    NEW = "new"


@dataclass(frozen=True, kw_only=True)
class Create:
    """A new document. ``document`` brings a foreign one whose unknown keys and body stay byte for byte."""

    title: str
    body: bytes = b""
    resource: Resource = Resource.MEMORY
    kind: str = Kind.NOTE.value
    note_type: str = ""
    summary: str = ""
    tags: Sequence[str] = ()
    important: bool = False
    thread: str = ""
    path: str | None = None
    slug: str | None = None
    if_exists: IfExists = IfExists.REFUSE
    extra: Mapping[str, Value | None] = field(default_factory=dict)
    document: bytes | None = None
    stable_id: str = ""
    created_at: datetime | None = None
    first_revision: int = 1
    action: str = "save"
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        facts = self._facts()
        if self.if_exists is IfExists.REFUSE and self.resource is Resource.MEMORY:
            guard_title(recording, facts.title)
        memory = recording.new_memory(
            self.resource, facts, slug=self.slug, path=self.path, stable_id=self.stable_id, first=self.first_revision
        )
        document = self._document(memory)
        recording.add(memory, document, facts, action=self.action, reason=self.reason)
        return Outcome(memory, warnings=[*facts.problems])

    def _facts(self) -> Facts:
        if self.document is not None:
            facts = documents.read_facts(self.document, fallback_title=self.title)
            return facts if facts.created_at else _dated(facts, self.created_at)
        return Facts(
            title=self.title,
            body=self.body.decode(),
            kind=self.kind,
            note_type=self.note_type,
            summary=self.summary,
            tags=tuple(self.tags),
            important=self.important,
            thread=self.thread,
            created_at=self.created_at,
        )

    def _document(self, memory: Memory) -> bytes:
        if self.document is not None:
            return documents.stamped(self.document, memory, memory.revision)
        extra = dict(self.extra)
        if self.important:
            extra["important"] = True
        if self.thread:
            extra["thread"] = self.thread
        return documents.composed(memory, self.body, extra)


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A change of an existing document: a pure function over its bytes, and frontmatter keys."""

    memory_id: str
    transform: Transform | None = None
    fields: Mapping[str, Value | None] = field(default_factory=dict)
    revision: int | None = None
    action: str = "update"
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id, revision=self.revision)
        require(memory, Status.ACTIVE)
        before = recording.document(memory)
        document = self.transform(before) if self.transform else before
        if self.fields:
            document = frontmatter.write(document, self.fields)
        if document == before:
            return Outcome(memory, changed=False)
        facts = documents.read_facts(document, fallback_title=memory.title)
        if facts.title != memory.title and memory.resource == Resource.MEMORY:
            guard_title(recording, facts.title, but=memory)
        withheld = False if memory.withheld and documents.is_clean(document) else None
        recording.revise(memory, document, action=self.action, reason=self.reason, facts=facts, withheld=withheld)
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Revert:
    """Make the text of an older revision the newest one; nothing in between is lost."""

    memory_id: str
    number: int
    revision: int | None = None
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = recording.memory(self.memory_id, revision=self.revision)
        require(memory, Status.ACTIVE)
        if not MemoryRevision.objects.filter(memory=memory, number=self.number).exists():
            raise RevisionUnknown(memory_id=memory.stable_id, revision=self.number)
        old = recording.document(memory, self.number)
        if documents.stamped(old, memory, memory.revision) == recording.document(memory):
            return Outcome(memory, changed=False)
        facts = documents.read_facts(old, fallback_title=memory.title)
        if fold(facts.title) != memory.title_key and memory.resource == Resource.MEMORY:
            guard_title(recording, facts.title, but=memory)
        withheld = not documents.is_clean(old)
        recording.revise(memory, old, action="revert", reason=self.reason, facts=facts, withheld=withheld)
        return Outcome(memory)


def _dated(facts: Facts, created_at: datetime | None) -> Facts:
    return facts if created_at is None else facts.dated(created_at)

"""What a commit can change. Each decides inside the transaction, on the rows as they are then (L-12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from apps.base.text import fold, nfc, same_slug_key
from apps.memories import documents, frontmatter
from apps.memories.documents import Facts
from apps.memories.errors import RevisionUnknown, TitleTaken, WrongResource, WrongState
from apps.memories.frontmatter import Value
from apps.memories.ledger import names
from apps.memories.ledger.record import ARCHIVE, AREAS, OUTSIDE_EDIT_KEPT, Outcome, Recording
from apps.memories.models import Kind, Memory, MemoryRevision, Resource, Status
from apps.memories.store import Signature

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
            _guard_title(recording, facts.title)
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
        _require(memory, Status.ACTIVE)
        before = recording.document(memory)
        document = self.transform(before) if self.transform else before
        if self.fields:
            document = frontmatter.write(document, self.fields)
        if document == before:
            return Outcome(memory, changed=False)
        facts = documents.read_facts(document, fallback_title=memory.title)
        if facts.title != memory.title and memory.resource == Resource.MEMORY:
            _guard_title(recording, facts.title, but=memory)
        withheld = False if memory.withheld and documents.is_clean(document) else None
        recording.revise(memory, document, action=self.action, reason=self.reason, facts=facts, withheld=withheld)
        return Outcome(memory)


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Put a memory away: its file moves to ``archive/``, search leaves it out unless asked."""

    memory_id: str
    revision: int | None = None
    reason: str = ""

    def apply(self, recording: Recording) -> Outcome:
        memory = _own_memory(recording, self.memory_id, self.revision)
        if memory.status == Status.ARCHIVED:
            return Outcome(memory, changed=False)
        _require(memory, Status.ACTIVE)
        memory.home = memory.path
        path = recording.free_near(recording.path_in(ARCHIVE, memory.slug, recording.now), but=memory)
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
        memory = _own_memory(recording, self.memory_id, self.revision)
        if memory.status == Status.ACTIVE:
            return Outcome(memory, changed=False)
        _require(memory, Status.ARCHIVED)
        home = memory.home or recording.path_in("memories", memory.slug, memory.created_at)
        path = recording.free_near(home, but=memory)
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
            else _own_memory(recording, self.memory_id, self.revision)
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
        _require(memory, Status.DELETED)
        was, _, memory.home = memory.home.partition(":")
        status = Status.ARCHIVED if was == Status.ARCHIVED else Status.ACTIVE
        recording.revise(
            memory, recording.document(memory), action="restore", reason=self.reason, status=status, expected_hash=""
        )
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
        _require(memory, Status.ACTIVE)
        if not MemoryRevision.objects.filter(memory=memory, number=self.number).exists():
            raise RevisionUnknown(memory_id=memory.stable_id, revision=self.number)
        old = recording.document(memory, self.number)
        if documents.stamped(old, memory, memory.revision) == recording.document(memory):
            return Outcome(memory, changed=False)
        facts = documents.read_facts(old, fallback_title=memory.title)
        if fold(facts.title) != memory.title_key and memory.resource == Resource.MEMORY:
            _guard_title(recording, facts.title, but=memory)
        withheld = not documents.is_clean(old)
        recording.revise(memory, old, action="revert", reason=self.reason, facts=facts, withheld=withheld)
        return Outcome(memory)


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
            memory = _own_memory(recording, self.memory_id, self.revision)
            _require(memory, Status.ACTIVE)
        recording.note_alias(memory)
        recording.intend_deletion(memory, memory.path, memory.raw_hash)
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
            _guard_title(recording, memory.title)
        memory.profile_id = self.profile_id or memory.profile_id
        memory.slug = recording.free_slug(memory.slug, own=memory)
        memory.slug_key = same_slug_key(memory.slug)
        memory.scope = recording.scope
        recording.forget_alias(memory)
        memory.home = ""  # Where it lay before it was archived belongs to the scope it left.
        area = ARCHIVE if memory.status == Status.ARCHIVED else AREAS[Resource(memory.resource)]
        path = recording.free_near(recording.path_in(area, memory.slug, memory.created_at), but=memory)
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
            path=None if self.path is None else recording.place_of_found(nfc(self.path), but=memory),
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
        place = recording.place_of_found(nfc(self.path))
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
            path=recording.place_of_found(self.path, but=memory),
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
        recording.write_scope_file()
        return Outcome(Memory(), changed=False)


def _guard_title(recording: Recording, title: str, *, but: Memory | None = None) -> None:
    if found := names.title_taken(recording.scope.key, fold(title[:400])[:600], but=but.pk if but else 0):
        raise TitleTaken(title=title, memory_id=found)


def _own_memory(recording: Recording, memory_id: str, revision: int | None) -> Memory:
    memory = recording.memory(memory_id, revision=revision)
    if memory.resource != Resource.MEMORY:
        raise WrongResource(memory_id=memory.stable_id, resource=memory.resource)
    return memory


def _require(memory: Memory, status: Status) -> None:
    if memory.status != status:
        raise WrongState(memory_id=memory.stable_id, status=memory.status)


def _dated(facts: Facts, created_at: datetime | None) -> Facts:
    return facts if created_at is None else facts.dated(created_at)

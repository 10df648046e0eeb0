"""Step 2 of the road: everything one commit changes, written in one short transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Protocol

from django.conf import settings
from django.db import connection

from apps.base import clock
from apps.base.faults import fault
from apps.base.ids import new_id
from apps.base.rows import insert_rows, new_row, rows_where
from apps.base.text import fold, nfc, same_slug_key, slug_for, with_suffix
from apps.base.transactions import short_transaction
from apps.changes.models import Change as LogEntry
from apps.changes.services import record as log
from apps.leases.held import Held, exclusive_key
from apps.leases.selectors import refuse_if_busy
from apps.memories import checkpoint_text, documents, scope_files
from apps.memories.documents import Facts
from apps.memories.errors import HeadConflict, MemoryUnknown, PathTaken, ReviewNeeded, RevisionConflict
from apps.memories.ledger import names
from apps.memories.ledger.operations import mark_closed, new_operation
from apps.memories.links import key_of, links
from apps.memories.models import (
    Alias,
    Checkpoint,
    FileIntent,
    LogicalOperation,
    Memory,
    MemoryLink,
    MemoryRevision,
    MemoryTag,
    Resource,
    Scope,
    ScopeCommit,
    Status,
)
from apps.memories.scopes import SCOPE_FILE
from apps.memories.slugs import RESERVED_SLUGS
from apps.memories.store import Signature, digest
from apps.operations.caller import Caller, Origin
from apps.search.index import IndexEntry, index_remove, index_write_many

REVISION_BLOCK = 1000  # L-23: how many revision numbers one scope.json reserves ahead.
NEAR_SLUGS = 50
AREAS = {Resource.MEMORY: "memories", Resource.CHECKPOINT: "checkpoints", Resource.CURATED: "curated"}
ARCHIVE = "archive"
OUTSIDE_EDIT_KEPT = "outside_edit_kept"
REVIEWED = "reviewed"
# Changes somebody wants. The server's own go on in a workspace that was put away: no edit made outside may be lost.
ASKED = frozenset({Origin.USER, Origin.AGENT, Origin.CURATION})


class Change(Protocol):
    """One change of a commit. ``apply`` runs inside the transaction and decides everything there (L-12)."""

    def apply(self, recording: Recording) -> Outcome: ...


@dataclass(frozen=True)
class Part:
    """The changes of one scope."""

    scope_key: str
    changes: Sequence[Change]


@dataclass
class Outcome:
    """What one change led to."""

    memory: Memory
    changed: bool = True
    warnings: list[str] = field(default_factory=list)


@dataclass
class Committed:
    """One commit as it stands in the database, and afterwards which files could not be written yet."""

    commit: ScopeCommit
    operation: LogicalOperation
    outcomes: list[Outcome]
    intents: list[FileIntent]


def record(
    caller: Caller,
    parts: Sequence[Part],
    *,
    name: str,
    reason: str = "",
    operation: LogicalOperation | None = None,
    expected_head: int | None = None,
    within: Callable[[list[Committed]], None] | None = None,
    reviewed: bool = False,
    held: Sequence[Held] = (),
) -> list[Committed]:
    """Write the rows of a deed. Without ``operation`` the deed is one logical operation, closed at once.

    ``within`` runs last in the same transaction (L-13): receipts, job rows and cursors move with the write or not at all.
    ``held`` are the exclusive leases of whoever works on a scope as a whole: who holds them passes (L-15).
    """
    with short_transaction():
        now = clock.to_milliseconds(clock.now())  # As documents carry it: a rebuild finds the very times of the rows.
        owner = operation or new_operation(caller, name, reason, now)
        if operation is None:
            mark_closed(owner, now)
            insert_rows([owner])
        done = [_record_part(caller, part, owner, reason, now, expected_head, reviewed, held) for part in parts]
        if within:
            within(done)
        fault("inside-record")
    return done


def _record_part(
    caller: Caller,
    part: Part,
    operation: LogicalOperation,
    reason: str,
    now: datetime,
    expected_head: int | None,
    reviewed: bool,
    held: Sequence[Held],
) -> Committed:
    scope, is_new = names.scope_row(part.scope_key)
    refuse_if_busy(part.scope_key, held=next((own for own in held if own.key == exclusive_key(scope.key)), None))
    if caller.origin in ASKED:
        names.refuse_if_put_away(part.scope_key)
    if scope.policy == REVIEWED and not reviewed:
        raise ReviewNeeded(scope=scope.key)
    if expected_head is not None and scope.version != expected_head:
        raise HeadConflict(current=scope.version, given=expected_head)
    recording = Recording(caller, scope, operation, reason, now, len(part.changes))
    if is_new:
        recording.write_scope_file()
    outcomes = [change.apply(recording) for change in part.changes]
    recording.flush()
    return Committed(recording.commit, operation, outcomes, recording.intents)


class Recording:
    """Gathers the rows of one commit of one scope, then stores them in few statements."""

    def __init__(
        self, caller: Caller, scope: Scope, operation: LogicalOperation, reason: str, now: datetime, changes: int
    ) -> None:
        self.caller, self.scope, self.operation, self.reason, self.now = caller, scope, operation, reason[:500], now
        # Compare-and-swap: the transaction is IMMEDIATE, so this can only fail where somebody wrote past the ledger.
        if not names.advance(scope):
            raise HeadConflict(current="?", given=scope.version)
        self.commit = new_row(
            ScopeCommit, scope=scope, version=scope.version, operation=operation, changes=changes, at=now
        )
        insert_rows([self.commit])
        self.intents: list[FileIntent] = []
        self._revisions: list[MemoryRevision] = []
        self._indexed: dict[str, IndexEntry | None] = {}
        self._texts: dict[int, tuple[Memory, str]] = {}
        self._log: list[LogEntry] = []

    # Looking up.

    def memory(self, stable_id: str, *, revision: int | None = None) -> Memory:
        """The row of this scope as the transaction sees it. Raises ``RevisionConflict`` unless it is at ``revision``."""
        memory = self.look_up(stable_id)
        if memory is None:
            raise MemoryUnknown(memory_id=stable_id)
        if revision is not None and memory.revision != revision:
            raise RevisionConflict(memory_id=stable_id, current=memory.revision, given=revision)
        return memory

    def look_up(self, stable_id: str) -> Memory | None:
        """The row, if this scope has it."""
        found = rows_where(Memory, "stable_id = %s AND scope_id = %s", [stable_id, self.scope.key])
        if not found:
            return None
        found[0].scope = self.scope
        return found[0]

    def document(self, memory: Memory, number: int | None = None) -> bytes:
        """The exact bytes of one revision, also of one this commit has just made."""
        wanted = memory.revision if number is None else number
        for revision in reversed(self._revisions):
            if revision.memory_id == memory.pk and revision.number == wanted:
                return bytes(revision.document)
        return bytes(MemoryRevision.objects.values_list("document", flat=True).get(memory=memory, number=wanted))

    def is_waiting(self, memory: Memory) -> bool:
        """Whether an acknowledged text of this memory still waits to be written out."""
        return FileIntent.objects.filter(scope=self.scope, path=memory.path, action=FileIntent.WRITE).exists()

    # Deciding names.

    def free_slug(self, wanted: str, *, own: Memory | None = None, curated: bool = False) -> str:
        """``wanted``, or with a growing suffix where the scope has it already (deleted rows and aliases count, L-18).

        What a workspace's curated documents are called is kept for them (L-16).
        """
        is_reserved = not curated and wanted in RESERVED_SLUGS and self.scope.key.startswith("project/")
        if not is_reserved and not names.slug_taken(self.scope.key, same_slug_key(wanted), but=own.pk if own else 0):
            return wanted
        near = {same_slug_key(slug): slug for number in range(2, NEAR_SLUGS) if (slug := with_suffix(wanted, number))}
        taken = set(Memory.objects.filter(scope=self.scope, slug_key__in=near).values_list("slug_key", flat=True))
        taken |= set(Alias.objects.filter(scope=self.scope, slug_key__in=near).values_list("slug_key", flat=True))
        for key, slug in near.items():
            if key not in taken:
                return slug
        return with_suffix(wanted, int(new_id("x")[-6:], 36))

    def path_in(self, area: str, slug: str, at: datetime) -> str:
        """A place in ``<area>/<yyyy>/<mm>``; a full folder gets a numbered successor (D-26)."""
        base = f"{area}/{at:%Y/%m}"
        number = names.folder_number(self.scope.key, base, settings.FOLDER_FILES)
        return f"{base}{'' if number == 1 else f'-{number}'}/{slug}.md"

    def free_path(self, path: str, *, but: Memory | None = None) -> str:
        """The path itself. Raises ``PathTaken`` where another row has it, deleted ones included."""
        if names.path_taken(self.scope.key, fold(path), but=but.pk if but else 0):
            raise PathTaken(path=path)
        return path

    def place_of_found(self, path: str, *, but: Memory | None = None) -> str:
        """The path of a file that lies there already. A deleted row that still has it gives way: nobody's file is renamed.

        Raises ``PathTaken`` where a living row has it, ``RevisionConflict`` while the ledger has to do there itself.
        """
        if FileIntent.objects.filter(scope=self.scope, path=path).exists():
            raise RevisionConflict(memory_id=path, current="?", given="?")
        holders = Memory.objects.filter(scope=self.scope, path_key=fold(path), status=Status.DELETED)
        if holder := holders.exclude(pk=but.pk if but else 0).first():
            place = self.free_near(holder.path)
            Memory.objects.filter(pk=holder.pk).update(path=place, path_key=fold(place))
        return self.free_path(path, but=but)

    def free_near(self, path: str, *, but: Memory | None = None) -> str:
        """The path, or where another row has it, the same with a growing suffix."""
        stem, number = path.removesuffix(".md"), 1
        while names.path_taken(self.scope.key, fold(path), but=but.pk if but else 0):
            number += 1
            path = f"{stem}-{number}.md"
        return path

    def new_memory(
        self,
        resource: Resource,
        facts: Facts,
        *,
        slug: str | None,
        path: str | None,
        stable_id: str = "",
        first: int = 1,
    ) -> Memory:
        """An unsaved row with its names decided; ``first`` is the number of its first revision."""
        chosen = slug or self.free_slug(slug_for(facts.title))
        created = facts.created_at or self.now
        place = self.free_path(nfc(path)) if path else self._own_path(resource, chosen, created)
        return new_row(
            Memory,
            stable_id=stable_id or new_id({Resource.MEMORY: "mem", Resource.CHECKPOINT: "chk"}.get(resource, "doc")),
            resource=resource.value,
            scope=self.scope,
            slug=chosen,
            slug_key=same_slug_key(chosen),
            path=place,
            path_key=fold(place),
            profile_id=self.caller.profile,
            revision=first,
            created_at=created,
            updated_at=self.now,
            **_row_facts(facts),
        )

    def _own_path(self, resource: Resource, slug: str, at: datetime) -> str:
        if resource is Resource.CURATED:
            return self.free_path(f"curated/{slug}.md")
        path = self.path_in(AREAS[resource], slug, at)
        if names.path_taken(self.scope.key, fold(path)):
            path = str(PurePosixPath(path).with_name(f"{slug}-{new_id('x')[-6:]}.md"))
        return path

    # Writing.

    def add(
        self,
        memory: Memory,
        document: bytes,
        facts: Facts,
        *,
        action: str,
        reason: str = "",
        signature: Signature | None = None,
        write: bool = True,
        expected_hash: str = "",
        withheld: bool = False,
    ) -> None:
        """Store a new row with its first revision."""
        memory.raw_hash, memory.content_hash = digest(document), documents.content_digest(document)
        memory.withheld = withheld
        _sign(memory, signature)
        insert_rows([memory])
        body_at = documents.body_start_of(document, facts.body)
        revision = self._revision(memory, document, body_at, action=action, reason=reason, base=0)
        if write:
            self._intend(memory, revision, FileIntent.WRITE, memory.path, memory.raw_hash, expected_hash)
        self._follow(memory, facts, f"{memory.resource}.created")

    def revise(
        self,
        memory: Memory,
        document: bytes,
        *,
        action: str,
        reason: str = "",
        warning: str = "",
        base: int | None = None,
        status: Status | None = None,
        path: str | None = None,
        write: bool = True,
        stamp: bool = True,
        expected_hash: str | None = None,
        signature: Signature | None = None,
        facts: Facts | None = None,
        withheld: bool | None = None,
        arriving: bool = False,
    ) -> MemoryRevision:
        """Give an existing row its next revision.

        ``stamp`` brings the ledger's own keys up to date; an outside edit is kept as it lies (``write=False``, ``stamp=False``).
        ``path`` moves the file: the new one is written, then the old one deleted, two intents of one commit (L-10).
        """
        old_path, old_hash, old_number, was_deleted = (
            memory.path,
            memory.raw_hash,
            memory.revision,
            memory.status == Status.DELETED,
        )
        facts = facts or documents.read_facts(document, fallback_title=memory.title)
        for name, value in _row_facts(facts).items():
            setattr(memory, name, value)
        memory.revision = old_number + 1
        memory.updated_at = self.now
        if status is not None:
            memory.status = status
            memory.deleted_at = self.now if status is Status.DELETED else None
        if path is not None:
            memory.path, memory.path_key = path, fold(path)
        if withheld is not None:
            memory.withheld = withheld
        if stamp:
            document = documents.stamped(document, memory, memory.revision)
        memory.raw_hash, memory.content_hash = digest(document), documents.content_digest(document)
        _sign(memory, signature)
        changed = Memory.objects.filter(pk=memory.pk, revision=old_number).update(
            **{name: getattr(memory, name) for name in _UPDATED}, scope=memory.scope
        )
        if changed != 1:
            raise RevisionConflict(memory_id=memory.stable_id, current="?", given=old_number)
        revision = self._revision(
            memory,
            document,
            documents.body_start(document),
            action=action,
            reason=reason,
            base=old_number if base is None else base,
            warning=warning,
        )
        if write and memory.status != Status.DELETED:
            before = "" if was_deleted or memory.path != old_path else old_hash
            self._intend(
                memory,
                revision,
                FileIntent.WRITE,
                memory.path,
                memory.raw_hash,
                before if expected_hash is None else expected_hash,
            )
        left = not arriving and (memory.status == Status.DELETED or memory.path != old_path)
        if write and not was_deleted and left:
            self._intend(
                memory, revision, FileIntent.DELETE, old_path, "", old_hash if expected_hash is None else expected_hash
            )
        self._follow(memory, facts, f"{memory.resource}.{action}")
        return revision

    def arrive(self, memory: Memory, document: bytes, path: str, *, reason: str = "") -> None:
        """The next revision of a memory that has just come into this scope."""
        self.revise(memory, document, action="move", reason=reason, path=path, arriving=True, expected_hash="")

    def rewrite(self, memory: Memory) -> None:
        """Write the current revision's file once more, without a new revision."""
        revision = MemoryRevision.objects.get(memory=memory, number=memory.revision)
        Memory.objects.filter(pk=memory.pk).update(file_size=None, file_mtime=None, file_inode=None)
        self._intend(memory, revision, FileIntent.WRITE, memory.path, memory.raw_hash, memory.raw_hash)

    def write_scope_file(self) -> None:
        """Have ``.memrelay/scope.json`` written anew (L-23), with a fresh block of revision numbers where it runs short."""
        highest = self.scope.reserved_revisions
        if highest == 0:
            self.scope.reserved_revisions = REVISION_BLOCK
            Scope.objects.filter(key=self.scope.key).update(reserved_revisions=REVISION_BLOCK)
        content = scope_files.render(self.scope)
        self.intents.append(
            new_row(
                FileIntent,
                scope=self.scope,
                path=SCOPE_FILE,
                action=FileIntent.WRITE,
                content=content,
                new_hash=digest(content),
                expected_hash="",
                created_at=self.now,
            )
        )

    def note_alias(self, memory: Memory) -> None:
        """Let the old slug lead to a memory that leaves this scope (L-14)."""
        Alias.objects.update_or_create(scope=self.scope, slug_key=memory.slug_key, defaults={"memory": memory})

    def forget_alias(self, memory: Memory) -> None:
        """A memory that is back has its old slug itself."""
        Alias.objects.filter(scope=self.scope, memory=memory, slug_key=memory.slug_key).delete()

    def intend_deletion(self, memory: Memory, path: str, raw_hash: str) -> None:
        self._intend(memory, None, FileIntent.DELETE, path, "", raw_hash)

    def log(self, kind: str, memory: Memory) -> None:
        self._log.append(
            new_row(
                LogEntry,
                kind=kind,
                scope_key=memory.scope_id,
                resource=memory.resource,
                stable_id=memory.stable_id,
                revision=memory.revision,
                origin=self.caller.origin.value,
                actor=self.caller.name[:120],
                profile=memory.profile_id,
                operation_id=self.operation.pk,
                at=self.now,
            )
        )

    def flush(self) -> None:
        """Store everything gathered; called once, at the end of the part."""
        insert_rows(self._revisions)
        insert_rows(self.intents)
        self._store_derived()
        index_write_many([entry for entry in self._indexed.values() if entry is not None])
        if removed := [stable_id for stable_id, entry in self._indexed.items() if entry is None]:
            index_remove(removed)
        log(self._log)

    def _revision(
        self, memory: Memory, document: bytes, body_at: int, *, action: str, reason: str, base: int, warning: str = ""
    ) -> MemoryRevision:
        if memory.revision > self.scope.reserved_revisions:
            self.scope.reserved_revisions = memory.revision + REVISION_BLOCK
            Scope.objects.filter(key=self.scope.key).update(reserved_revisions=self.scope.reserved_revisions)
            self.write_scope_file()
        revision = new_row(
            MemoryRevision,
            memory=memory,
            number=memory.revision,
            base=base,
            document=document,
            body_at=body_at,
            raw_hash=memory.raw_hash,
            content_hash=memory.content_hash,
            title=memory.title,
            path=memory.path,
            status=memory.status,
            action=action,
            reason=(reason or self.reason)[:500],
            warning=warning,
            actor=self.caller.name[:120],
            origin=self.caller.origin.value if action != "external" else Origin.EXTERNAL.value,
            withheld=memory.withheld,
            commit=self.commit,
            at=self.now,
        )
        self._revisions.append(revision)
        return revision

    def _intend(
        self, memory: Memory, revision: MemoryRevision | None, action: str, path: str, new_hash: str, expected_hash: str
    ) -> None:
        self.intents.append(
            new_row(
                FileIntent,
                scope=self.scope,
                path=path,
                action=action,
                memory=memory,
                revision=revision,
                new_hash=new_hash,
                expected_hash=expected_hash,
                created_at=self.now,
            )
        )

    def _follow(self, memory: Memory, facts: Facts, kind: str) -> None:
        """Everything derived from the current text: search, links, checkpoint fields; and the log."""
        shown = memory.status != Status.DELETED and not memory.withheld
        self._indexed[memory.stable_id] = _entry(memory, facts) if shown else None
        self._texts[memory.pk] = (memory, facts.body if memory.status != Status.DELETED else "")
        if memory.resource == Resource.CHECKPOINT:
            _store_checkpoint(memory, facts)
        self.log(kind, memory)

    def _store_derived(self) -> None:
        is_old = [pk for pk, (memory, _body) in self._texts.items() if memory.revision > 1]
        if is_old:
            MemoryLink.objects.filter(memory_id__in=is_old).delete()
            MemoryTag.objects.filter(memory_id__in=is_old).delete()
        tags = [(memory.pk, fold(tag)[:200]) for memory, _body in self._texts.values() for tag in memory.tags]
        found = [
            (memory.pk, place, link.target[:400], key_of(link.target))
            for memory, body in self._texts.values()
            if "[[" in body
            for place, link in enumerate(links(body))
        ]
        with connection.cursor() as cursor:  # Several to a memory, so not even one object for each.
            if tags:
                cursor.executemany(_TAGS, tags)
            if found:
                cursor.executemany(_LINKS, found)


_TAGS = "INSERT INTO memories_memorytag (memory_id, tag_key) VALUES (%s, %s)"
_LINKS = "INSERT INTO memories_memorylink (memory_id, position, target, target_key) VALUES (%s, %s, %s, %s)"
_UPDATED = (
    *("title", "title_key", "kind", "note_type", "summary", "tags", "status", "revision", "raw_hash", "content_hash"),
    *(
        "text_key",
        "file_size",
        "file_mtime",
        "file_inode",
        "path",
        "path_key",
        "slug",
        "slug_key",
        "home",
        "profile_id",
        "withheld",
        "updated_at",
        "deleted_at",
    ),
)


def _row_facts(facts: Facts) -> Mapping[str, object]:
    title = facts.title[:400]
    return {
        "title": title,
        "title_key": fold(title)[:600],
        "kind": facts.kind,
        "note_type": facts.note_type,
        "summary": facts.summary,
        "tags": list(facts.tags),
        "text_key": documents.text_key(facts.body),
    }


def _sign(memory: Memory, signature: Signature | None) -> None:
    memory.file_size = signature.size if signature else None
    memory.file_mtime = signature.mtime if signature else None
    memory.file_inode = signature.inode if signature else None


def _entry(memory: Memory, facts: Facts) -> IndexEntry:
    return IndexEntry(
        stable_id=memory.stable_id,
        resource=memory.resource,
        scope_key=memory.scope_id,
        revision=memory.revision,
        title=memory.title,
        tags=list(memory.tags),
        summary=memory.summary,
        body=facts.body,
        kind=memory.kind,
        note_type=memory.note_type,
        thread=facts.thread,
        status=memory.status,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def _store_checkpoint(memory: Memory, facts: Facts) -> None:
    parsed = checkpoint_text.parse(facts.body)
    Checkpoint.objects.update_or_create(
        memory=memory, defaults={**parsed.fields, "broken": parsed.broken, "important": facts.important}
    )

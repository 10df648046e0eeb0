"""The rows of one commit of one scope: gathered while its changes are applied, then stored in few statements."""

from datetime import datetime

from apps.base.ids import new_id
from apps.base.rows import insert_rows, new_row, rows_where
from apps.base.text import fold, nfc, same_slug_key, slug_for
from apps.changes.models import Change as LogEntry
from apps.changes.services import record as log
from apps.memories import documents
from apps.memories.documents import Facts
from apps.memories.errors import HeadConflict, MemoryUnknown, RevisionConflict
from apps.memories.ledger import heads, memory_rows
from apps.memories.ledger.derived import Derived
from apps.memories.ledger.intents import Intents, OldFile
from apps.memories.ledger.names import Names
from apps.memories.ledger.operations import REASON_CHARACTERS
from apps.memories.models import (
    FileIntent,
    LogicalOperation,
    Memory,
    MemoryRevision,
    Resource,
    Scope,
    ScopeCommit,
    Status,
)
from apps.memories.store import Signature
from apps.operations.caller import Caller, Origin


class Recording:
    """What the changes of one commit see of their scope, and what they do to it."""

    def __init__(
        self, caller: Caller, scope: Scope, operation: LogicalOperation, reason: str, now: datetime, changes: int
    ) -> None:
        self.caller, self.scope, self.operation, self.now = caller, scope, operation, now
        self.reason = reason[:REASON_CHARACTERS]
        # Compare-and-swap: the transaction is IMMEDIATE, so this can only fail where somebody wrote past the ledger.
        if not heads.advance(scope):
            raise HeadConflict(current="?", given=scope.version)
        self.commit = new_row(
            ScopeCommit, scope=scope, version=scope.version, operation=operation, changes=changes, at=now
        )
        insert_rows([self.commit])
        self.names = Names(scope.key)
        self.intents = Intents(scope, now)
        self._derived = Derived()
        self._revisions: list[MemoryRevision] = []
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

    # Writing.

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
        chosen = slug or self.names.free_slug(slug_for(facts.title))
        created = facts.created_at or self.now
        place = self.names.free_path(nfc(path)) if path else self.names.path_of_new(resource, chosen, created)
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
            **memory_rows.columns_of(facts),
        )

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
        memory_rows.take_document(memory, document, signature)
        memory.withheld = withheld
        insert_rows([memory])
        body_at = documents.body_start_of(document, facts.body)
        revision = self._revision(memory, document, body_at, action=action, reason=reason, base=0)
        if write:
            self.intents.write(memory, revision, expected_hash=expected_hash)
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
        old_file, old_number = OldFile.of(memory), memory.revision
        facts = facts or documents.read_facts(document, fallback_title=memory.title)
        for name, value in memory_rows.columns_of(facts).items():
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
        memory_rows.take_document(memory, document, signature)
        memory_rows.update(memory, before=old_number)
        revision = self._revision(
            memory,
            document,
            documents.body_start(document),
            action=action,
            reason=reason,
            base=old_number if base is None else base,
            warning=warning,
        )
        if write:
            self.intents.revise(memory, revision, old_file, expected_hash=expected_hash, arriving=arriving)
        self._follow(memory, facts, f"{memory.resource}.{action}")
        return revision

    def arrive(self, memory: Memory, document: bytes, path: str, *, reason: str = "") -> None:
        """The next revision of a memory that has just come into this scope."""
        self.revise(memory, document, action="move", reason=reason, path=path, arriving=True, expected_hash="")

    def rewrite(self, memory: Memory) -> None:
        """Write the current revision's file once more, without a new revision."""
        revision = MemoryRevision.objects.get(memory=memory, number=memory.revision)
        Memory.objects.filter(pk=memory.pk).update(file_size=None, file_mtime=None, file_inode=None)
        self.intents.write(memory, revision, expected_hash=memory.raw_hash)

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

    def store(self) -> None:
        """Store everything gathered; called once, at the end of the part."""
        insert_rows(self._revisions)
        self.intents.store()
        self._derived.store()
        log(self._log)

    def _revision(
        self, memory: Memory, document: bytes, body_at: int, *, action: str, reason: str, base: int, warning: str = ""
    ) -> MemoryRevision:
        if memory.revision > self.scope.reserved_revisions:
            heads.reserve_revisions(self.scope, above=memory.revision)
            self.intents.write_scope_file()
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
            reason=(reason or self.reason)[:REASON_CHARACTERS],
            warning=warning,
            actor=self.caller.name[:120],
            origin=self.caller.origin.value if action != "external" else Origin.EXTERNAL.value,
            withheld=memory.withheld,
            commit=self.commit,
            at=self.now,
        )
        self._revisions.append(revision)
        return revision

    def _follow(self, memory: Memory, facts: Facts, kind: str) -> None:
        self._derived.follow(memory, facts)
        self.log(kind, memory)

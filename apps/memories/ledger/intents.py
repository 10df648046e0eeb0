"""What a commit has to do on disk: stored with its rows, carried out once they are durable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.base.rows import insert_rows, new_row
from apps.memories import scope_files
from apps.memories.ledger import heads
from apps.memories.models import FileIntent, Memory, MemoryRevision, Scope, Status
from apps.memories.scopes import SCOPE_FILE
from apps.memories.store import digest


@dataclass(frozen=True, slots=True)
class OldFile:
    """The file of a memory as it lay before the next revision."""

    path: str
    raw_hash: str
    is_there: bool

    @classmethod
    def of(cls, memory: Memory) -> OldFile:
        return cls(memory.path, memory.raw_hash, memory.status != Status.DELETED)


class Intents:
    """The files one commit of one scope writes and deletes, in this order."""

    def __init__(self, scope: Scope, now: datetime) -> None:
        self.scope, self.now = scope, now
        self.rows: list[FileIntent] = []

    def write(self, memory: Memory, revision: MemoryRevision, *, expected_hash: str) -> None:
        """Have this revision written; ``expected_hash`` is of what lies there until then, empty for nothing."""
        self._add(
            FileIntent.WRITE,
            memory.path,
            memory=memory,
            revision=revision,
            new_hash=memory.raw_hash,
            expected_hash=expected_hash,
        )

    def delete(self, memory: Memory, path: str, raw_hash: str, *, revision: MemoryRevision | None = None) -> None:
        self._add(FileIntent.DELETE, path, memory=memory, revision=revision, new_hash="", expected_hash=raw_hash)

    def revise(
        self,
        memory: Memory,
        revision: MemoryRevision,
        old: OldFile,
        *,
        expected_hash: str | None = None,
        arriving: bool = False,
    ) -> None:
        """The file of the next revision. Where it moves, the new one is written, then the old one deleted (L-10).

        ``expected_hash`` says what lies there if that is not what ``old`` says; ``arriving`` from another scope, a
        memory leaves no file in this one.
        """
        is_there = memory.status != Status.DELETED
        moves = memory.path != old.path
        if is_there:
            known = old.raw_hash if old.is_there and not moves else ""
            self.write(memory, revision, expected_hash=known if expected_hash is None else expected_hash)
        if old.is_there and not arriving and (moves or not is_there):
            known = old.raw_hash if expected_hash is None else expected_hash
            self.delete(memory, old.path, known, revision=revision)

    def write_scope_file(self) -> None:
        """Have ``.memrelay/scope.json`` written anew (L-23), with a first block of revision numbers where it has none."""
        if self.scope.reserved_revisions == 0:
            heads.reserve_revisions(self.scope, above=0)
        content = scope_files.render(self.scope)
        self._add(FileIntent.WRITE, SCOPE_FILE, content=content, new_hash=digest(content), expected_hash="")

    def store(self) -> None:
        insert_rows(self.rows)

    def _add(self, action: str, path: str, **more: Any) -> None:
        self.rows.append(new_row(FileIntent, scope=self.scope, path=path, action=action, created_at=self.now, **more))

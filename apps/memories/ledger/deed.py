"""What somebody wants of the ledger, and what it led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

from apps.leases.held import Held
from apps.memories.ledger.recording import Recording
from apps.memories.models import FileIntent, LogicalOperation, Memory, ScopeCommit


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


Within = Callable[[list[Committed]], None]


@dataclass(frozen=True)
class Deed:
    """What the changes belong to, and on which terms they are made: one deed, whatever scopes it touches.

    ``name`` is the operation's. Without ``operation``, an open one of a job, the deed is one logical operation, closed
    at once. ``within`` runs last in the same transaction (L-13): receipts, job rows and cursors move with the write or
    not at all. ``held`` are the exclusive leases of whoever works on a scope as a whole: who holds them passes (L-15).
    """

    name: str
    _: KW_ONLY
    reason: str = ""
    operation: LogicalOperation | None = None
    expected_head: int | None = None
    within: Within | None = None
    reviewed: bool = False
    held: Sequence[Held] = ()

"""What somebody wants of the ledger, and what it led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

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

"""The ledger: the one road of everything that changes Markdown.

check (outside), record (one short transaction), write out (files), and later the sweep that makes files durable. The
rules L-01 to L-29 of the design stand beside the code that keeps them.
"""

from apps.memories.ledger.changes import (
    Archive,
    Create,
    Delete,
    Edit,
    IfExists,
    Restore,
    Revert,
    Unarchive,
)
from apps.memories.ledger.operations import close_operation, open_operation
from apps.memories.ledger.record import Committed, Outcome, Part
from apps.memories.ledger.road import commit, commit_parts, move

__all__ = [
    "Archive",
    "Committed",
    "Create",
    "Delete",
    "Edit",
    "IfExists",
    "Outcome",
    "Part",
    "Restore",
    "Revert",
    "Unarchive",
    "close_operation",
    "commit",
    "commit_parts",
    "move",
    "open_operation",
]

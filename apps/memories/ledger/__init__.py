"""The ledger: the one road of everything that changes Markdown.

check (outside), record (one short transaction), write out (files), and later the sweep that makes files durable. The
rules L-01 to L-29 of the design stand beside the code that keeps them.

``road`` is the way as a whole. What goes down it: ``deed`` (the words), ``changes`` (what a commit can change). Inside
the transaction: ``record``, which begins and ends it, ``recording`` (the rows of one commit), ``heads`` (a scope's
version), ``names`` (slugs and paths), ``memory_rows``, ``derived`` (index, tags, links), ``intents`` (files to write).
On disk: ``outside`` and ``scan`` (what somebody else did there), ``writeout`` and ``sweep``.
"""

from apps.memories.ledger.changes import (
    Archive,
    Arrive,
    Attribute,
    Baggage,
    Create,
    Delete,
    Depart,
    Edit,
    IfExists,
    Restore,
    Revert,
    Rewrite,
    Transform,
    Unarchive,
    Vanish,
    WriteScopeFile,
)
from apps.memories.ledger.deed import Change, Committed, Deed, Outcome, Part, Within
from apps.memories.ledger.operations import close_operation, open_operation
from apps.memories.ledger.recording import Recording
from apps.memories.ledger.road import commit, commit_parts, move

__all__ = [
    "Archive",
    "Arrive",
    "Attribute",
    "Baggage",
    "Change",
    "Committed",
    "Create",
    "Deed",
    "Delete",
    "Depart",
    "Edit",
    "IfExists",
    "Outcome",
    "Part",
    "Recording",
    "Restore",
    "Revert",
    "Rewrite",
    "Transform",
    "Unarchive",
    "Vanish",
    "Within",
    "WriteScopeFile",
    "close_operation",
    "commit",
    "commit_parts",
    "move",
    "open_operation",
]

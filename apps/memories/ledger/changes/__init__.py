"""What a commit can change. Each decides inside the transaction, on the rows as they are then (L-12)."""

from apps.memories.ledger.changes.keeping import Archive, Delete, Restore, Unarchive
from apps.memories.ledger.changes.moving import Arrive, Attribute, Baggage, Depart
from apps.memories.ledger.changes.outside import Found, KeepOutside, Returned, Rewrite, Vanish, WriteScopeFile
from apps.memories.ledger.changes.writing import Create, Edit, IfExists, Revert, Transform

__all__ = [
    "Archive",
    "Arrive",
    "Attribute",
    "Baggage",
    "Create",
    "Delete",
    "Depart",
    "Edit",
    "Found",
    "IfExists",
    "KeepOutside",
    "Restore",
    "Returned",
    "Revert",
    "Rewrite",
    "Transform",
    "Unarchive",
    "Vanish",
    "WriteScopeFile",
]

"""What happens here inside another room's change: a deleted memory is forgotten at once."""

from collections.abc import Sequence

from apps.changes.models import Change
from apps.memories.models import Resource
from apps.recall.sessions import forget_memories

GONE = frozenset({"memory.delete", "memory.vanished"})


def forget_deleted(changes: Sequence[Change]) -> None:
    gone = [change.stable_id for change in changes if change.resource == Resource.MEMORY and change.kind in GONE]
    if gone:
        forget_memories(gone)

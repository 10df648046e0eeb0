"""What lies on disk, held against what the ledger knows: same, torn, or an edit somebody made outside (L-01 to L-06)."""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from apps.base.transactions import outside_transactions
from apps.leases.locks import scope_lock
from apps.memories import documents, store
from apps.memories.errors import FileUnsettled, RevisionConflict
from apps.memories.ledger.changes import KeepOutside
from apps.memories.ledger.deed import Change, Committed, Deed, Part
from apps.memories.ledger.record import record
from apps.memories.models import FileIntent, Memory, MemoryRevision, Status
from apps.memories.scopes import file_of
from apps.memories.store import Signature
from apps.operations.caller import Caller

TRIES = 5
logger = logging.getLogger(__name__)


class State(Enum):
    SAME = "same"
    PENDING = "pending"  # An intent is open: the file may be the old one, torn or not there yet.
    FOREIGN = "foreign"
    UNSETTLED = "unsettled"  # Changed a moment ago; somebody may still be writing (L-05).
    TOO_LARGE = "too large"
    MISSING = "missing"
    UNREADABLE = "unreadable"  # The disk or its rights refuse.


@dataclass(frozen=True, slots=True)
class Look:
    state: State
    document: bytes = b""
    signature: Signature | None = None


@outside_transactions
def look(memory: Memory) -> Look:
    """Compare a memory's file with its row. One ``lstat`` where nothing changed."""
    file = file_of(memory.scope_id, memory.path)
    signature = store.signature(file)
    if signature is not None and signature == known_signature(memory):
        return Look(State.SAME, signature=signature)
    intents = list(
        FileIntent.objects.filter(scope=memory.scope_id, path=memory.path).values_list(
            "action", "new_hash", "expected_hash"
        )
    )
    if signature is None:
        return Look(State.PENDING if intents else State.MISSING)
    if signature.size > settings.IMPORT_FILE_BYTES:
        return Look(State.TOO_LARGE, signature=signature)
    try:
        read = store.read(file)
    except OSError:
        logger.exception("The file of %s cannot be read.", memory.stable_id)
        return Look(State.UNREADABLE, signature=signature)
    if read is None:
        return Look(State.PENDING if intents else State.MISSING)
    document, signature = read
    found = store.digest(document)
    if found == memory.raw_hash and memory.status != Status.DELETED:
        return Look(State.SAME, document, signature)
    if any(found in (new, expected) for _action, new, expected in intents) or (intents and is_torn(document, memory)):
        return Look(State.PENDING, document, signature)
    return Look(State.FOREIGN if is_settled(signature) else State.UNSETTLED, document, signature)


def known_signature(memory: Memory) -> Signature | None:
    if memory.file_inode is None or memory.file_size is None or memory.file_mtime is None:
        return None
    return Signature(memory.file_size, memory.file_mtime, memory.file_inode)


def is_settled(signature: Signature) -> bool:
    """Still for long enough that whoever wrote it has finished. A time in the future counts as settled."""
    age, wait = time.time() - signature.mtime / 1e9, float(settings.SETTLE_SECONDS)
    return age >= wait or age < -wait


def is_torn(document: bytes, memory: Memory) -> bool:
    """What a power cut leaves of a file that was being written (L-02): nothing, NULs, or the beginning of a revision."""
    if not document.strip(b"\0"):
        return True
    size = len(document)
    recent = MemoryRevision.objects.filter(memory=memory).order_by("-number").values_list("document", flat=True)[:20]
    return any(bytes(known[:size]) == document for known in recent)


def settle(memory: Memory) -> Memory:
    """Step 1 for an existing memory: adopt what was edited outside, so that the caller meets it as a revision.

    Returns the row as it is then. Raises ``FileUnsettled`` while somebody is still writing the file.
    """
    seen = look(memory)
    match seen.state:
        case State.FOREIGN:
            return adopt(memory)
        case State.UNSETTLED | State.TOO_LARGE | State.UNREADABLE:
            raise FileUnsettled(memory_id=memory.stable_id)
        case _:
            return memory


def adopt(memory: Memory) -> Memory:
    """Make an outside edit a revision, acting as the system (L-05). Harmless where there is none (any more)."""
    with scope_lock(memory.scope_id):
        return adopt_locked(memory)


def adopt_locked(memory: Memory) -> Memory:
    """``adopt`` for callers that hold the scope's file lock."""
    for _attempt in range(TRIES):
        memory = Memory.objects.get(pk=memory.pk)
        seen = look(memory)
        if seen.state is State.SAME and seen.signature is not None and known_signature(memory) != seen.signature:
            remember_signature(memory, seen.signature)
        if seen.state is not State.FOREIGN:
            return memory
        try:
            keep_outside(memory, seen.document, seen.signature)
        except RevisionConflict:
            continue  # Somebody recorded a revision meanwhile: look again.
        return Memory.objects.get(pk=memory.pk)
    raise FileUnsettled(memory_id=memory.stable_id)


def keep_outside(
    memory: Memory, document: bytes, signature: Signature | None, *, path: str | None = None, displaced: bool = False
) -> None:
    """Record an outside edit as the system. Raises ``RevisionConflict`` where the memory moved on meanwhile."""
    change = KeepOutside(
        memory_id=memory.stable_id,
        seen_revision=memory.revision,
        document=document,
        signature=signature,
        withheld=not documents.is_clean(document),
        path=path,
        displaced=displaced,
    )
    take_in(memory.scope_id, [change])
    logger.info("Kept an outside edit of %s.", memory.stable_id)


def take_in(scope_key: str, changes: Sequence[Change]) -> Committed:
    """Record what the folder shows, acting as the system. It is no request, so that no review can refuse it."""
    deed = Deed("outside_edit", reviewed=True)
    return record(Caller.for_system("outside edit"), [Part(scope_key, changes)], deed)[0]


def remember_signature(memory: Memory, signature: Signature) -> None:
    """The file is what the row says, under a new signature (touched, copied back): spare the next reader the hashing."""
    if FileIntent.objects.filter(Q(memory=memory) | Q(scope=memory.scope_id, path=memory.path)).exists():
        return
    Memory.objects.filter(pk=memory.pk, revision=memory.revision).update(
        file_size=signature.size, file_mtime=signature.mtime, file_inode=signature.inode
    )


def file_for(memory: Memory) -> Path:
    return file_of(memory.scope_id, memory.path)

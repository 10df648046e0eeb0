"""Step 3 of the road: the files. Under the scope's file lock, always the newest revision of each path (L-09)."""

import logging
from collections import defaultdict
from collections.abc import Sequence

from django.conf import settings
from django.db import connection

from apps.base.errors import MemRelayError
from apps.base.faults import fault
from apps.base.text import fold
from apps.base.transactions import outside_transactions
from apps.leases.locks import scope_lock
from apps.memories import documents, store
from apps.memories.errors import RevisionConflict
from apps.memories.ledger import names
from apps.memories.ledger.outside import is_settled, is_torn, keep_outside
from apps.memories.models import FileIntent, Memory, Status
from apps.memories.scopes import folder_of
from apps.memories.store import Blocked, Signature

logger = logging.getLogger(__name__)
SCOPE_MARK = "scope"
NAMES_TRIED = 100


@outside_transactions
def write_out(scope_key: str, own: Sequence[FileIntent]) -> list[str]:
    """Write what a commit has just intended. Returns the paths that could not be written yet.

    Where nobody intended anything later for the path, the commit's own intent is the newest and needs no look-up.
    """
    by_path: dict[str, list[FileIntent]] = defaultdict(list)
    for intent in own:
        by_path[intent.path].append(intent)
    with scope_lock(scope_key):
        return [path for path, intents in by_path.items() if not _write_own(scope_key, path, intents[-1])]


def _write_own(scope_key: str, path: str, intent: FileIntent) -> bool:
    if intent.action == FileIntent.WRITE and _is_newest(intent):
        try:
            read = store.read(folder_of(scope_key) / path)
            if (store.digest(read[0]) if read else "") == intent.expected_hash:
                store.place(folder_of(scope_key), path, content_of(intent), mark=_mark(intent))
                fault("after-rename")
                return True
        except (Blocked, OSError) as failure:
            _block(intent, store.reason(failure))
            return False
    return write_path(scope_key, path)


def _is_newest(intent: FileIntent) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(id) FROM memories_fileintent WHERE scope_id = %s AND path = %s", [intent.scope_id, intent.path]
        )
        return bool(cursor.fetchone()[0] == intent.pk)


def _mark(intent: FileIntent) -> str:
    """Under which name displaced bytes lie aside: the id of the memory they belong to."""
    return intent.memory.stable_id if intent.memory else SCOPE_MARK


def write_path(scope_key: str, path: str) -> bool:
    """One path, with the lock held. False where something is in the way: the intent is blocked and red (L-09).

    Whatever happens here, the write it belongs to is recorded: nothing may fail that the sweep can do later.
    """
    for _attempt in range(3):
        intents = open_intents(scope_key, [path])[path]
        if not intents:
            return True
        try:
            if _bring(scope_key, path, intents):
                _unblock(intents)
                return True
        except RevisionConflict:
            continue
        except (Blocked, OSError) as failure:
            _block(intents[-1], store.reason(failure))
            return False
        except MemRelayError as refused:
            logger.warning("An outside edit in %s cannot be kept now: %s", scope_key, refused)
            return False
    return False  # Somebody writes again and again: the sweep goes on.


def open_intents(scope_key: str, paths: Sequence[str]) -> dict[str, list[FileIntent]]:
    """Uncleared intents by path, oldest first; the newest is the one that counts, the others are void."""
    by_path: dict[str, list[FileIntent]] = defaultdict(list)
    rows = (
        FileIntent.objects.filter(scope=scope_key, path__in=paths).select_related("revision", "memory").order_by("id")
    )
    for intent in rows:
        by_path[intent.path].append(intent)
    return by_path


def _bring(scope_key: str, path: str, intents: Sequence[FileIntent]) -> bool:
    """Whether the path is now as the newest intent wants it; False: an outside edit was kept first, look again."""
    newest, root = intents[-1], folder_of(scope_key)
    read = store.read(root / path)
    found = store.digest(read[0]) if read else ""
    if found == newest.new_hash:
        return True
    ours = {intent.new_hash for intent in intents} | {intent.expected_hash for intent in intents}
    if newest.action == FileIntent.DELETE and _is_missed(newest):
        raise Blocked("its new file is not there yet")
    if (
        read is not None
        and found not in ours
        and (_stands_aside(scope_key, path, intents, read[0]) or _keeps(newest, read[0], read[1]))
        and newest.action == FileIntent.WRITE
    ):
        return False
    if newest.action == FileIntent.DELETE:
        store.take_away(root, path, mark=_mark(newest))
    else:
        store.place(root, path, content_of(newest), mark=_mark(newest))
    fault("after-rename")
    return True


def _is_missed(intent: FileIntent) -> bool:
    """Whether this old file is the only one: the new one could not be written, so the old one stays meanwhile (L-10)."""
    memory = intent.memory
    if memory is None or memory.status == Status.DELETED:
        return False
    return store.signature(folder_of(memory.scope_id) / memory.path) is None


def _stands_aside(scope_key: str, path: str, intents: Sequence[FileIntent], document: bytes) -> bool:
    """Whether a stranger's file lay where a memory's first one is to go, and now has a name beside it.

    The scan has not met it yet. It is a document of its own, not an edit of ours, so it does not end as a revision.
    """
    newest = intents[-1]
    memory = newest.memory
    if memory is None or newest.action != FileIntent.WRITE or intents[0].expected_hash or is_torn(document, memory):
        return False
    if documents.read_facts(document, fallback_title="").stable_id == memory.stable_id:
        return False
    stem = path.removesuffix(".md")
    names_beside = (f"{stem}-{number}.md" for number in range(2, NAMES_TRIED))
    free = (name for name in names_beside if not names.path_taken(scope_key, fold(name)))
    return any(store.rename(folder_of(scope_key), path, name) for name in free)


def _keeps(intent: FileIntent, document: bytes, signature: Signature) -> bool:
    """Keep foreign bytes as a revision before they are displaced. Those still being written lie aside first (L-08)."""
    memory = intent.memory
    if memory is None or not is_settled(signature) or signature.size > settings.IMPORT_FILE_BYTES:
        return False
    if is_torn(document, memory):
        return False
    # An old place of a memory that lives elsewhere: its text is what lies there.
    keep_outside(Memory.objects.get(pk=memory.pk), document, None, displaced=intent.action == FileIntent.DELETE)
    return True


def content_of(intent: FileIntent) -> bytes:
    if intent.revision is not None:
        return bytes(intent.revision.document)
    return bytes(intent.content or b"")


def _block(intent: FileIntent, reason: str) -> None:
    logger.error("A file of %s cannot be written: %s.", intent.scope_id, reason)
    FileIntent.objects.filter(pk=intent.pk).update(state=FileIntent.BLOCKED, blocked_reason=reason[:200])


def _unblock(intents: Sequence[FileIntent]) -> None:
    if blocked := [intent.pk for intent in intents if intent.state == FileIntent.BLOCKED]:
        FileIntent.objects.filter(pk__in=blocked).update(state=FileIntent.OPEN, blocked_reason="")

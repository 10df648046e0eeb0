"""Later on the road: write what is still missing, make it durable in groups, and only then clear the intents.

The same sweep replays a crash: whatever a killed process did not write out, or a power cut tore, is written from the
revision's bytes. A save therefore needs no fsync but the database's.
"""

import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection

from apps.base import clock
from apps.base.errors import MemRelayError
from apps.base.faults import fault
from apps.base.transactions import outside_transactions, short_transaction
from apps.leases.locks import scope_lock
from apps.memories import store
from apps.memories.errors import RevisionConflict
from apps.memories.ledger.outside import is_torn, keep_outside
from apps.memories.ledger.writeout import SCOPE_MARK, write_path
from apps.memories.models import FileIntent, Memory, MemoryRevision, Scope
from apps.memories.scopes import folder_of
from apps.memories.store import Signature

BATCH = 1000
CLEARED_AT_ONCE = 100  # Saves wait while intents are being cleared.
LOCK_SECONDS = 0.2  # A save waits for the scope's lock at most about this long.
logger = logging.getLogger(__name__)


@dataclass
class Swept:
    """One file that is on disk as it should be, and the intents this settles."""

    intents: list[int]
    memory_id: int | None
    raw_hash: str
    signature: Signature | None
    file: Path


@dataclass
class SweepReport:
    cleared: int = 0
    blocked: int = 0
    kept: int = 0
    scopes: set[str] = field(default_factory=set)  # Where something may still lie aside: the next sweep looks again.


@outside_transactions
def sweep(*, at_once: bool = False, also: Iterable[str] = ()) -> SweepReport:
    """Settle open intents, and look at what lies aside in their scopes and in those of ``also``.

    ``at_once`` also takes intents of the last second: at start-up, before a backup, in tests.
    """
    report = SweepReport()
    until = clock.now() if at_once else clock.now() - timedelta(seconds=1)
    for scope_key in {*also, *_waiting(until)}:
        try:
            report.kept += _look_aside(scope_key, report)
        except (OSError, MemRelayError):
            _put_off(scope_key, report)
    # New files first, in every scope: an old one goes when the new one is there (L-10).
    for action in (FileIntent.WRITE, FileIntent.DELETE):
        for scope_key, paths in _waiting(until, action).items():
            report.scopes.add(scope_key)
            try:
                _sweep_scope(scope_key, paths, report)
            except (OSError, MemRelayError):
                _put_off(scope_key, report)
    report.blocked = FileIntent.objects.filter(state=FileIntent.BLOCKED).count()
    return report


def _waiting(until: datetime, *actions: str) -> dict[str, list[str]]:
    """Paths by scope. Those that are blocked come last, so that they never take all the places."""
    rows = FileIntent.objects.filter(created_at__lte=until).order_by("-state", "id")
    if actions:
        rows = rows.filter(action__in=actions)
    by_scope: dict[str, dict[str, None]] = {}
    for scope_key, path in rows.values_list("scope_id", "path")[:BATCH]:
        by_scope.setdefault(scope_key, {})[path] = None
    return {scope_key: list(paths) for scope_key, paths in by_scope.items()}


def _look_aside(scope_key: str, report: SweepReport) -> int:
    kept, left = examine_asides(scope_key)
    if left:
        report.scopes.add(scope_key)
    return kept


def _put_off(scope_key: str, report: SweepReport) -> None:
    """A folder that cannot be worked in now holds up no other; the next sweep tries again."""
    logger.exception("The sweep could not settle the files of %s; it is tried again.", scope_key)
    report.scopes.add(scope_key)


def _sweep_scope(scope_key: str, paths: list[str], report: SweepReport) -> None:
    swept: list[Swept] = []
    while paths:
        with scope_lock(scope_key):
            until = time.monotonic() + LOCK_SECONDS
            while paths and time.monotonic() < until:
                if done := _settled(scope_key, paths.pop(0)):
                    swept.append(done)
    fault("before-sync")
    store.make_durable(folder_of(scope_key), [item.file for item in swept])
    fault("after-sync")
    _clear(swept)
    report.cleared += sum(len(item.intents) for item in swept)
    fault("after-clear")


def _settled(scope_key: str, path: str) -> Swept | None:
    """Bring one path to its newest intent. None while something is in the way or still lies aside.

    Mostly the save has written the file already, and one look at its bytes is all there is to do.
    """
    file = folder_of(scope_key) / path
    for is_second_look in (False, True):
        if is_second_look and not write_path(scope_key, path):
            return None
        intents = _intents(scope_key, path)
        if not intents:
            return None
        _key, memory_id, wanted = intents[-1]
        read = store.read(file)
        if (store.digest(read[0]) if read else "") == wanted:
            keys = [key for key, _memory, _hash in intents]
            return Swept(keys, memory_id, wanted, read[1] if read else None, file)
    return None


def _intents(scope_key: str, path: str) -> list[tuple[int, int | None, str]]:
    """Key, memory and wanted hash of a path's intents, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, memory_id, new_hash FROM memories_fileintent WHERE scope_id = %s AND path = %s ORDER BY id",
            [scope_key, path],
        )
        return list(cursor.fetchall())


_SIGN = """
    UPDATE memories_memory SET file_size = %s, file_mtime = %s, file_inode = %s
    WHERE id = %s AND raw_hash = %s AND NOT EXISTS (SELECT 1 FROM memories_fileintent WHERE memory_id = %s)
"""


def _clear(swept: list[Swept]) -> None:
    """Clear intents and store the signatures of their files (L-04), unless an intent came in meanwhile."""
    for start in range(0, len(swept), CLEARED_AT_ONCE):
        part = swept[start : start + CLEARED_AT_ONCE]
        keys = [key for item in part for key in item.intents]
        signatures = [
            (seen.size, seen.mtime, seen.inode, item.memory_id, item.raw_hash, item.memory_id)
            for item in part
            if item.memory_id is not None
            and (seen := item.signature) is not None
            and seen == store.signature(item.file)
        ]
        with short_transaction(), connection.cursor() as cursor:
            marks = ", ".join(["%s"] * len(keys))
            cursor.execute(f"DELETE FROM memories_fileintent WHERE id IN ({marks})", keys)  # noqa: S608 - marks only
            cursor.executemany(_SIGN, signatures)


def examine_asides(scope_key: str) -> tuple[int, int]:
    """Look at what was displaced (L-08): bytes that no revision knows become one. Returns how many did, how many wait.

    A file waits until it has been still for a while: whoever had it open may go on writing into it.
    """
    kept = left = 0
    for mark, file, touched in store.asides(folder_of(scope_key)):
        if 0 <= time.time() - touched < settings.SETTLE_SECONDS:
            left += 1
            continue
        with scope_lock(scope_key):
            kept += _examine(scope_key, mark, file)
    return kept, left


def _examine(scope_key: str, mark: str, file: Path) -> int:
    read = store.read(file)
    memory = None if mark == SCOPE_MARK else Memory.objects.filter(stable_id=mark).first()
    if read is None or memory is None:
        store.remove(file)
        return 0
    document = read[0]
    known = MemoryRevision.objects.filter(memory=memory, raw_hash=store.digest(document)).exists()
    if known or is_torn(document, memory):
        store.remove(file)
        return 0
    try:
        keep_outside(memory, document, None, displaced=True)
    except RevisionConflict:
        return 0  # Somebody writes right now: the next sweep finds the file again.
    if memory.scope_id == scope_key:
        write_path(scope_key, memory.path)
    store.remove(file)
    return 1


def scopes_with_asides() -> set[str]:
    """Scopes where something lies aside, after a start: their sweep has to look although no intent is open."""
    keys = Scope.objects.values_list("key", flat=True)
    return {key for key in keys if next(iter(store.asides(folder_of(key))), None) is not None}

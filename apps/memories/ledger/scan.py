"""Looking for outside edits: every file's signature, and the bytes only where it differs.

Adopts what has been still for a while, understands moves by stable id, reports twins, and stops in red without deleting
anything when too much is gone (L-11).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from django.conf import settings

from apps.base import clock
from apps.base.ids import new_id
from apps.base.text import nfc
from apps.base.transactions import outside_transactions
from apps.leases.locks import scope_lock
from apps.memories import documents, store
from apps.memories.errors import PathTaken, RevisionConflict
from apps.memories.ledger.changes import Found, Returned, Vanish
from apps.memories.ledger.names import ARCHIVE
from apps.memories.ledger.outside import adopt_locked, is_settled, keep_outside, take_in
from apps.memories.ledger.writeout import write_path
from apps.memories.models import FileIntent, Memory, Resource, Scope, Status
from apps.memories.scopes import SCOPE_FILE, file_of, folder_of
from apps.memories.store import Signature

NOTICES = 100
BATCH = 200
PATH_BYTES = 900
TOP_FOLDERS = {"checkpoints": Resource.CHECKPOINT, "curated": Resource.CURATED}
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """What the scan needs of a memory."""

    pk: int
    stable_id: str
    path: str
    status: str
    revision: int
    signature: Signature | None


@dataclass
class ScanReport:
    scope_key: str
    files: int = 0
    adopted: int = 0
    found: int = 0
    moved: int = 0
    vanished: int = 0
    unsettled: int = 0
    waiting: dict[str, str] = field(default_factory=dict)  # Gone, but not for long enough to be believed.
    alarm: dict[str, object] | None = None
    notices: list[dict[str, str]] = field(default_factory=list)

    def notice(self, code: str, path: str) -> None:
        if len(self.notices) < NOTICES:
            self.notices.append({"code": code, "path": path})


@outside_transactions
def scan(scope_key: str) -> ScanReport:
    """Bring one scope's rows to what lies in its folder."""
    report = ScanReport(scope_key)
    root = folder_of(scope_key)
    rows = _rows(scope_key)
    pending = set(FileIntent.objects.filter(scope=scope_key).values_list("path", flat=True))
    here: set[str] = set()
    strangers: list[tuple[str, Signature]] = []
    for path, status in store.markdown_files(root):
        report.files += 1
        if not _is_storable(path):
            report.notice("name_refused", path.encode("utf-8", "replace").decode())
            continue
        here.add(path)
        row, signature = rows.get(path), Signature.of(status)
        if path in pending:
            continue  # The sweep looks after it.
        if row is None or row.status == Status.DELETED:
            strangers.append((path, signature))
        elif row.signature != signature:
            _adopt(scope_key, row, signature, report)
    missing = [
        row for path, row in rows.items() if path not in here and path not in pending and row.status != Status.DELETED
    ]
    missing = _welcome(scope_key, strangers, missing, report)
    _let_go(scope_key, missing, _living(rows), pending, report)
    Scope.objects.filter(key=scope_key).update(
        scanned_at=clock.now(),
        alarm=report.alarm,
        notices=report.notices,
        missing=report.waiting,
        outside_pending=bool(report.unsettled or report.alarm or report.waiting),
    )
    return report


def _rows(scope_key: str) -> dict[str, Row]:
    columns = ("pk", "stable_id", "path", "status", "revision", "file_size", "file_mtime", "file_inode")
    return {
        path: Row(pk, stable_id, path, status, revision, None if inode is None else Signature(size, mtime, inode))
        for pk, stable_id, path, status, revision, size, mtime, inode in Memory.objects.filter(scope=scope_key)
        .values_list(*columns)
        .iterator()
    }


def _living(rows: dict[str, Row]) -> int:
    return sum(row.status != Status.DELETED for row in rows.values())


def _adopt(scope_key: str, row: Row, signature: Signature, report: ScanReport) -> None:
    if not is_settled(signature):
        report.unsettled += 1
        return
    if signature.size > settings.IMPORT_FILE_BYTES:
        report.notice("too_large", row.path)
        return
    before = Memory.objects.only("revision").get(pk=row.pk).revision
    with scope_lock(scope_key):
        memory = adopt_locked(Memory.objects.get(pk=row.pk))
        if memory.revision != before:
            report.adopted += 1
            write_path(scope_key, memory.path)  # The identity that was written back, if any (L-06).
    if memory.withheld:
        report.notice("secret_withheld", row.path)


def _welcome(
    scope_key: str, strangers: Sequence[tuple[str, Signature]], missing: list[Row], report: ScanReport
) -> list[Row]:
    """Files that no row knows: moves and new memories. Returns the rows that are still missing."""
    gone = {row.stable_id: row for row in missing}
    for path, signature in strangers:
        if not is_settled(signature):
            report.unsettled += 1
            continue
        if signature.size > settings.IMPORT_FILE_BYTES:
            report.notice("too_large", path)
            continue
        with scope_lock(scope_key):
            _meet(scope_key, path, gone, report)
    return list(gone.values())


def _is_storable(path: str) -> bool:
    """Whether a name can be kept in a row: UTF-8, and not longer than a path may be."""
    try:
        return len(path.encode()) <= PATH_BYTES
    except UnicodeEncodeError:
        return False


def _meet(scope_key: str, path: str, gone: dict[str, Row], report: ScanReport) -> None:
    if path != nfc(path):
        if not store.rename(folder_of(scope_key), path, nfc(path)):
            report.notice("name_taken", path)
            return
        path = nfc(path)  # A name in another Unicode form is the same name (L-10).
    read = store.read(folder_of(scope_key) / path)
    if read is None or FileIntent.objects.filter(scope=scope_key, path=path).exists():
        return
    document, signature = read
    facts = documents.read_facts(document, fallback_title=PurePosixPath(path).stem)
    if "not_utf8" in facts.problems:
        report.notice("not_utf8", path)
        return
    known = Memory.objects.filter(stable_id=facts.stable_id).first() if facts.stable_id else None
    try:
        if known is not None and known.stable_id in gone and _is_gone(known):
            _follow_move(known, path, document, signature)
            del gone[known.stable_id]
            report.moved += 1
        elif known is not None and known.status == Status.DELETED and known.scope_id == scope_key:
            _bring_back(known, path, document, signature)
            report.found += 1
        elif known is not None and known.scope_id == scope_key:
            if known.path != path:  # Else it was saved while this scan was under way.
                report.notice("twin", path)
        else:
            _take_in(scope_key, path, document, signature, facts.stable_id if known is None else "")
            report.found += 1
    except PathTaken:
        report.notice("name_taken", path)  # By a memory whose path differs in case, say.
    except RevisionConflict:
        report.unsettled += 1  # Somebody writes here right now: the next scan meets it again.


def _is_gone(memory: Memory) -> bool:
    """Whether the file is missing still: a save may have written it anew while this scan was under way."""
    return store.signature(file_of(memory.scope_id, memory.path)) is None


def _follow_move(memory: Memory, path: str, document: bytes, signature: Signature) -> None:
    """The file was renamed or moved outside: the row follows, the id stays (an NFD name is a move too, L-10)."""
    keep_outside(memory, document, signature, path=path)


def _bring_back(memory: Memory, path: str, document: bytes, signature: Signature) -> None:
    """A deleted memory's file was put back: that is a restore, made outside."""
    change = Returned(
        memory_id=memory.stable_id,
        seen_revision=memory.revision,
        document=document,
        signature=signature,
        path=path,
        withheld=not documents.is_clean(document),
    )
    take_in(memory.scope_id, [change])


def _take_in(scope_key: str, path: str, document: bytes, signature: Signature, stable_id: str) -> None:
    top = path.partition("/")[0]
    change = Found(
        path=path,
        document=document,
        signature=signature,
        stable_id=stable_id or new_id("mem"),
        title=nfc(PurePosixPath(path).stem),
        resource=TOP_FOLDERS.get(top, Resource.MEMORY),
        status=Status.ARCHIVED if top == ARCHIVE else Status.ACTIVE,
        withheld=not documents.is_clean(document),
    )
    take_in(scope_key, [change])
    write_path(scope_key, path)


def _let_go(scope_key: str, missing: list[Row], living: int, pending: set[str], report: ScanReport) -> None:
    """Files that are gone: deleted outside, unless so much is gone that it must be a mistake."""
    has_scope_file = SCOPE_FILE in pending or store.signature(folder_of(scope_key) / SCOPE_FILE) is not None
    many = len(missing) > settings.VANISHED_FILES and len(missing) * 100 > living * settings.VANISHED_PERCENT
    if not has_scope_file or many or (missing and len(missing) == living):
        report.alarm = {
            "code": "files_vanished" if missing else "scope_file_vanished",
            "missing": len(missing),
            "files": living,
            "at": clock.as_stamp(clock.now()),
        }
        logger.error("Files of %s have vanished (%d of %d); nothing is deleted.", scope_key, len(missing), living)
        return
    missing = _gone_for_good(scope_key, missing, report)
    for start in range(0, len(missing), BATCH):
        changes = [
            Vanish(memory_id=row.stable_id, seen_revision=row.revision, reason="The file was removed outside.")
            for row in missing[start : start + BATCH]
        ]
        report.vanished += sum(outcome.changed for outcome in take_in(scope_key, changes).outcomes)


def _gone_for_good(scope_key: str, missing: list[Row], report: ScanReport) -> list[Row]:
    """Those that have been missing for a while: editors and sync tools remove a file and bring it back.

    While a new file is still being written nothing is let go: it may be one of these under another name.
    """
    if not missing:
        return []
    now = clock.now()
    before: dict[str, str] = Scope.objects.values_list("missing", flat=True).get(key=scope_key)
    since = {row.stable_id: before.get(row.stable_id, clock.as_stamp(now)) for row in missing}
    believed = [
        row
        for row in missing
        if not report.unsettled
        and row.stable_id in before
        and (now - clock.from_stamp(since[row.stable_id])).total_seconds() >= settings.SETTLE_SECONDS
        and store.signature(folder_of(scope_key) / row.path) is None
    ]
    known = {row.stable_id for row in believed}
    report.waiting = {stable_id: stamp for stable_id, stamp in since.items() if stable_id not in known}
    return believed

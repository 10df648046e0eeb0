"""Work on whole repositories: durable, told about, done by the worker in its slot. Each may be killed and run again."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils.module_loading import import_string

from apps.base import clock
from apps.base.bells import hurry
from apps.base.errors import MemRelayError
from apps.base.ids import new_id
from apps.base.transactions import short_transaction
from apps.memories import store
from apps.memories.ledger.operations import close_operation
from apps.memories.models import LogicalOperation
from apps.memory_git.errors import DeedUnderWay
from apps.memory_git.models import GitDeed, MemoryRepository
from apps.operations.caller import Caller

DOINGS: dict[str, str] = {
    "baseline": "apps.memory_git.committing.baseline.run",
    "snapshot": "apps.memory_git.restoring.snapshots.run",
    "archive": "apps.memory_git.repository.archiving.archive",
    "purge": "apps.memory_git.repository.archiving.purge",
    "maintenance": "apps.memory_git.repository.maintenance.run",
    "migration": "apps.memory_git.migrating.moving.run",
    "remote_inspect": "apps.memory_git.importing.inspecting.run",
    "remote_import": "apps.memory_git.importing.documents.run",
    "remote_bootstrap": "apps.instance.bootstrap.run",  # It makes workspaces, too.
}
SLOT = "git"  # Whoever works on repositories holds it.
MOST_ATTEMPTS = 5
PATIENT = frozenset({"baseline", "archive"})  # Nobody waits for the answer, and nobody would ask again.
UNFINISHED = (GitDeed.State.WAITING, GitDeed.State.RUNNING)
logger = logging.getLogger(__name__)


def start(
    caller: Caller, kind: str, arguments: Mapping[str, Any], *, repository: MemoryRepository | None = None
) -> GitDeed:
    """Leave a deed to the worker. Raises ``DeedUnderWay`` where one of the same kind waits or runs for the same repository.

    Inside a transaction it waits for its commit, as a bell does.
    """
    same = GitDeed.objects.filter(kind=kind, repository=repository, state__in=UNFINISHED).first()
    if same is not None:
        raise DeedUnderWay(job_id=same.pk)
    deed = GitDeed(
        id=new_id("git"),
        kind=kind,
        repository=repository,
        arguments=dict(arguments),
        actor=caller.name[:120],
        profile=caller.profile,
        project_id=caller.project_id,
        rights=sorted(caller.rights),
    )
    with short_transaction():
        deed.save(force_insert=True)
    hurry()
    return deed


def deeds_waiting() -> list[str]:
    """Ids, oldest first. One that runs while nobody holds the slot was killed; whoever asks holds it."""
    due = GitDeed.objects.filter(state__in=UNFINISHED).order_by("created_at", "pk")
    now = clock.now()
    return [
        deed_id
        for deed_id, attempts, updated in due.values_list("pk", "attempts", "updated_at")
        if updated <= now - timedelta(seconds=_pause(attempts))
    ]


def _pause(attempts: int) -> float:
    return 0.0 if attempts == 0 else float(min(2**attempts, 60))


def run_deed(deed_id: str) -> None:
    """One attempt. A failure that may pass is tried again some times; any other ends it with its sentence."""
    with short_transaction():
        taken = GitDeed.objects.filter(pk=deed_id, state__in=UNFINISHED).update(
            state=GitDeed.State.RUNNING, attempts=F("attempts") + 1, updated_at=clock.now()
        )
    if not taken:
        return
    deed = GitDeed.objects.select_related("repository").get(pk=deed_id)
    doing: Callable[[GitDeed], Mapping[str, Any]] = import_string(DOINGS[deed.kind])
    try:
        result = doing(deed)
    except MemRelayError as failure:
        again = failure.retryable and (deed.attempts < MOST_ATTEMPTS or deed.kind in PATIENT)
        _end(deed, GitDeed.State.WAITING if again else GitDeed.State.FAILED, code=failure.code, error=str(failure))
    except OSError as failure:
        logger.exception("The Git job %s failed at the disk.", deed.pk)
        again = deed.attempts < MOST_ATTEMPTS
        state = GitDeed.State.WAITING if again else GitDeed.State.FAILED
        _end(deed, state, code="DISK_ERROR", error=store.reason(failure))
    except Exception as defect:  # The worker goes on; the row and the log tell of it.
        logger.exception("The Git job %s failed.", deed.pk)
        _end(deed, GitDeed.State.FAILED, code="INTERNAL", error=type(defect).__name__)
    else:
        _end(deed, GitDeed.State.COMPLETED, result=result)


def note(deed: GitDeed, *, done: int | None = None, total: int | None = None, **journal: Any) -> None:
    """Say how far it is; what stands in the journal is there for an attempt after a crash."""
    deed.done = deed.done if done is None else done
    deed.total = deed.total if total is None else total
    deed.journal = {**deed.journal, **journal}
    deed.updated_at = clock.now()
    deed.save(update_fields=["done", "total", "journal", "updated_at"])


def _end(
    deed: GitDeed, state: str, *, result: Mapping[str, Any] | None = None, code: str = "", error: str = ""
) -> None:
    now = clock.now()
    if state == GitDeed.State.FAILED:
        for operation in LogicalOperation.objects.filter(job_id=deed.pk, state=LogicalOperation.OPEN):
            close_operation(operation, LogicalOperation.PARTIAL)  # What it brought stands, as a part of a deed.
    GitDeed.objects.filter(pk=deed.pk).update(
        state=state,
        result=dict(result or {}),
        error_code=code,
        error=error[:500],
        updated_at=now,
        finished_at=None if state == GitDeed.State.WAITING else now,
    )

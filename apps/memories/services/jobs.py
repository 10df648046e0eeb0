"""Jobs on many documents: started, stopped, taken up again. Each answers at once; a worker does the work."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import IntegrityError

from apps.base.bells import ring
from apps.base.ids import new_id
from apps.base.transactions import short_transaction
from apps.leases.selectors import is_held
from apps.memories.doors import scope_for
from apps.memories.errors import JobOver, ReviewNeeded
from apps.memories.ledger import open_operation
from apps.memories.ledger.heads import refuse_if_put_away
from apps.memories.models import FolderJob, Scope
from apps.memories.schemas import FolderText, ForGood, JobOut, JobRef, ProjectRef, RequestId, ScopeRef
from apps.memories.selectors.jobs import job_for
from apps.memories.transfer.folders import empty_folder, readable_folder
from apps.memories.transfer.running import FINAL, State, described, job_key, put_down
from apps.operations import receipts
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation

RUN = "apps.memories.jobs.run_folder_job"
UNDER_WAY = (State.WAITING, State.RUNNING, State.PAUSED)


@dataclass(frozen=True)
class Wanted:
    """A job that somebody asks for: the operation's name, and what makes it the same as one under way."""

    name: str
    kind: str
    scope_key: str
    folder: str = ""
    target_key: str = ""
    reason: str = ""

    @property
    def columns(self) -> dict[str, str]:
        return {
            "kind": self.kind,
            "folder": self.folder,
            "scope_key": self.scope_key,
            "target_key": self.target_key,
        }


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.ADDS)
def memory_import(
    caller: Caller, *, folder: FolderText, project_id: ProjectRef = "", scope: ScopeRef = "", request_id: RequestId = ""
) -> JobOut:
    """Bring a folder of Markdown (Obsidian, Basic Memory, plain) in as one job; job_get tells how far it is.

    The folder is only read. Imported again, unchanged files do nothing, changed ones become new revisions, and what was also
    changed here is kept beside. A folder whose import is still under way answers that job.
    """
    return described(
        start_import(caller, folder, scope_for(caller, scope, project_id), request_id=request_id), caller.zone
    )


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.ADDS)
def memory_export(
    caller: Caller, *, folder: FolderText, project_id: ProjectRef = "", scope: ScopeRef = "", request_id: RequestId = ""
) -> JobOut:
    """Write a scope's current Markdown into an empty folder on the server, as one job; job_get tells how far it is."""
    return described(
        start_export(caller, folder, scope_for(caller, scope, project_id), request_id=request_id), caller.zone
    )


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.CHANGES, repeatable=True)
def job_stop(caller: Caller, *, job_id: JobRef, for_good: ForGood = False) -> JobOut:
    """Stop a job after the files at hand; what is done stays done."""
    with short_transaction():
        job = job_for(caller, job_id)
        if job.state in FINAL:
            return described(job, caller.zone)
        if job.state == State.RUNNING and is_held(job_key(job.pk)):
            job.stop_requested = True
            job.cancel_requested |= for_good
            job.save(update_fields=["stop_requested", "cancel_requested"])
        else:
            put_down(job, State.CANCELLED if for_good else State.PAUSED)
    return described(job, caller.zone)


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.CHANGES, repeatable=True)
def job_resume(caller: Caller, *, job_id: JobRef) -> JobOut:
    """Go on with a stopped job where it stopped."""
    job = take_up(caller, job_id)
    if job.state == State.WAITING:
        ring(RUN, job.pk)
    return described(job, caller.zone)


def take_up(caller: Caller, job_id: str) -> FolderJob:
    """Let a stopped job wait for somebody to work on it. Raises ``JobOver`` where nothing is left to do."""
    with short_transaction():
        job = job_for(caller, job_id)
        if job.state in FINAL:
            raise JobOver(job_id=job_id, state=job.state)
        if job.state == State.PAUSED:
            job.state = State.WAITING
        job.stop_requested = job.cancel_requested = False
        job.fruitless = 0  # A person asks for it: the attempts count anew.
        job.save(update_fields=["state", "stop_requested", "cancel_requested", "fruitless"])
    return job


def start_import(
    caller: Caller, folder: str, scope_key: str, *, request_id: str = "", by_bell: bool = True
) -> FolderJob:
    """The job that imports this folder: a new one, or the one under way. Without a bell the caller works on it."""
    arguments = {"folder": folder, "scope": scope_key}
    if again := job_before(caller, "memory_import", request_id, arguments):
        return again
    root = readable_folder(caller, folder)
    refuse_if_put_away(scope_key)
    if Scope.objects.filter(key=scope_key, policy="reviewed").exists():
        raise ReviewNeeded(scope=scope_key)
    return _once(caller, _on_folder(FolderJob.IMPORT, root, scope_key), request_id, arguments, by_bell)


def start_export(
    caller: Caller, folder: str, scope_key: str, *, request_id: str = "", by_bell: bool = True
) -> FolderJob:
    """The job that exports into this folder. Without a bell the caller works on it."""
    arguments = {"folder": folder, "scope": scope_key}
    if again := job_before(caller, "memory_export", request_id, arguments):
        return again
    root = empty_folder(caller, folder)
    return _once(caller, _on_folder(FolderJob.EXPORT, root, scope_key), request_id, arguments, by_bell)


def start_on_scope(
    caller: Caller,
    name: str,
    kind: str,
    scope_key: str,
    *,
    target_key: str = "",
    reason: str,
    arguments: Mapping[str, Any],
    request_id: str = "",
    by_bell: bool = True,
) -> FolderJob:
    """The job that deletes all of a scope or moves it to another one: a new one, or the one under way."""
    wanted = Wanted(name, kind, scope_key, target_key=target_key, reason=reason)
    return _once(caller, wanted, request_id, arguments, by_bell)


def job_before(caller: Caller, name: str, request_id: str, arguments: Mapping[str, Any]) -> FolderJob | None:
    """The job that an earlier call with this request id led to, as it is now (L-20)."""
    receipt = receipts.find(caller, name, request_id, arguments)
    return job_for(caller, receipt.job_id) if receipt else None


def _on_folder(kind: str, root: Path, scope_key: str) -> Wanted:
    # Its name alone: reasons are read by agents and end in Git, where a path of this machine has no business.
    return Wanted(f"memory_{kind}", kind, scope_key, folder=str(root), reason=f"{kind.capitalize()} of {root.name}")


def _once(caller: Caller, wanted: Wanted, request_id: str, arguments: Mapping[str, Any], by_bell: bool) -> FolderJob:
    try:
        return _started(caller, wanted, request_id, arguments, by_bell)
    except IntegrityError:
        if again := job_before(caller, wanted.name, request_id, arguments):
            return again  # Two calls at once with the same request id: the other one was first.
        raise


def _started(caller: Caller, wanted: Wanted, request_id: str, arguments: Mapping[str, Any], by_bell: bool) -> FolderJob:
    """Job row, open operation, pending receipt and bell in one transaction (L-20)."""
    with short_transaction():
        job = FolderJob.objects.filter(**wanted.columns, state__in=UNDER_WAY).select_related("operation").first()
        if job is None:
            job = _new(caller, wanted)
            if by_bell:
                ring(RUN, job.pk)
        receipts.keep(caller, wanted.name, request_id, arguments, None, job_id=job.pk)
    return job


def _new(caller: Caller, wanted: Wanted) -> FolderJob:
    job_id, changes_memories = new_id("job"), wanted.kind != FolderJob.EXPORT
    return FolderJob.objects.create(
        id=job_id,
        **wanted.columns,
        operation=open_operation(caller, wanted.name, wanted.reason, job_id=job_id) if changes_memories else None,
        actor=caller.name[:120],
        profile=caller.profile,
        project_id=caller.project_id,
        rights=sorted(caller.rights),
    )

"""What django-q2 calls by dotted path, and the sweep that rings again. Takes ids, may run twice, may be killed anywhere."""

from django.conf import settings
from django.utils.module_loading import import_string

from apps.base.bells import ring
from apps.leases.held import slot_key
from apps.leases.selectors import is_held
from apps.leases.services import slot
from apps.memories.ledger.operations import close_operation
from apps.memories.models import FolderJob, LogicalOperation
from apps.memories.transfer.importing import NAME as IMPORT_NAME
from apps.memories.transfer.running import Doing, Watch, job_key, run

RUN_FOLDER_JOB = "apps.memories.jobs.run_folder_job"
SLOT = "long"
LOOKED_AT = 50


def run_folder_job(job_id: str) -> None:
    """Work on a job, in a slot for long work; without a free one the sweep rings again (L-28)."""
    with slot(SLOT) as held:
        if held is None:
            return
        run(job_id, doings())
    ring_for_waiting()


def doings() -> dict[str, Doing]:
    """What each kind of job does (``settings.JOB_DOINGS``): some belong to rooms that this one does not know."""
    return {kind: import_string(path) for kind, path in settings.JOB_DOINGS.items()}


def run_here(job_id: str, watch: Watch | None = None) -> bool:
    """Work on a job in this process, for a person who watches. False where another process works on it."""
    return run(job_id, doings(), watch)


def ring_for_waiting() -> str:
    """Ring for the oldest job that nobody works on, if there is a free slot. Answers its id.

    That finds jobs whose bell was lost, and those whose process died: their lease is free.
    """
    _close_ownerless()
    if all(is_held(slot_key(SLOT, number)) for number in range(settings.SLOTS[SLOT])):
        return ""
    states = (FolderJob.State.WAITING, FolderJob.State.RUNNING)
    waiting = FolderJob.objects.filter(state__in=states).order_by("created_at", "pk").values_list("pk", flat=True)
    for job_id in waiting[:LOOKED_AT]:
        if not is_held(job_key(job_id)):
            ring(RUN_FOLDER_JOB, job_id)
            return job_id
    return ""


def _close_ownerless() -> None:
    """An import's operation whose job is gone goes on no more: what it brought stands, as a part of a deed (L-19)."""
    for operation in LogicalOperation.objects.filter(state=LogicalOperation.OPEN, name=IMPORT_NAME):
        if not FolderJob.objects.filter(operation=operation).exists():
            close_operation(operation, LogicalOperation.PARTIAL)

"""Imports and exports: how far they are, and what there is to say of single files."""

from datetime import datetime

from django.db.models import Q

from apps.base.paging import cursor_of, position_of
from apps.memories.errors import JobUnknown
from apps.memories.models import FolderJob
from apps.memories.schemas import JobListOut, JobOut, JobRef, JobStateName, Limit, PageCursor
from apps.memories.scopes import may_see
from apps.memories.transfer.running import described
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


def job_for(caller: Caller, job_id: str) -> FolderJob:
    """The only door to a job. Raises ``JobUnknown`` where the caller may not see its scope."""
    job = FolderJob.objects.select_related("operation").filter(pk=job_id).first()
    if job is None or not may_see(caller, job.scope_key):
        raise JobUnknown(job_id=job_id)
    return job


@operation(needs=Right.ADMINISTER, answers=JobOut)
def job_get(caller: Caller, *, job_id: JobRef) -> JobOut:
    """Read how far a job is (import, export, deletion, merging), and which files were left out and why (the first 200)."""
    return described(job_for(caller, job_id), caller.zone)


@operation(needs=Right.ADMINISTER, answers=JobListOut)
def job_list(caller: Caller, *, state: JobStateName = "any", limit: Limit = 20, cursor: PageCursor = "") -> JobListOut:
    """List imports, exports, deletions and mergings, the newest first, without what is told of single files."""
    keys = FolderJob.objects.values_list("scope_key", flat=True).distinct()  # Some have no scope row yet.
    seen = [key for key in keys if may_see(caller, key)]
    jobs = FolderJob.objects.filter(scope_key__in=seen)
    if state != "any":
        jobs = jobs.filter(state=state)
    if cursor:
        stamp, key = position_of(cursor, str, str)
        at = datetime.fromisoformat(stamp)
        jobs = jobs.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=key))
    page = list(jobs.order_by("-created_at", "-pk")[: limit + 1])
    last = page[limit - 1] if len(page) > limit else None
    return JobListOut(
        jobs=[described(job, caller.zone, reports=False) for job in page[:limit]],
        next_cursor=cursor_of(last.created_at.isoformat(), last.pk) if last else "",
    )

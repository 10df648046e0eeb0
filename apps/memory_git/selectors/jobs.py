"""How far the work on whole repositories is."""

from apps.memory_git.errors import DeedUnknown
from apps.memory_git.models import (
    GitDeed,
)
from apps.memory_git.schemas import (
    DeedRef,
    GitDeedOut,
)
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=GitDeedOut)
def git_job_get(caller: Caller, *, job_id: DeedRef) -> GitDeedOut:
    """Say how far a Git job is and what came of it."""
    deed = GitDeed.objects.filter(pk=job_id).first()
    if deed is None or not caller.administers:
        raise DeedUnknown(job_id=job_id)
    return deed_out(deed)


def deed_out(deed: GitDeed) -> GitDeedOut:
    return GitDeedOut(
        job_id=deed.pk,
        kind=deed.kind,
        state=deed.state,
        repository_id=deed.repository_id or "",
        done=deed.done,
        total=deed.total,
        result=deed.result,
        error_code=deed.error_code,
        error=deed.error,
        created_at=deed.created_at,
        finished_at=deed.finished_at,
    )

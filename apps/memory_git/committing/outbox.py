"""What waits to be committed, in the order in which operations closed (L-21)."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db.models import F, Q, QuerySet

from apps.base import clock
from apps.base.errors import MemRelayError
from apps.memories import store
from apps.memories.models import LogicalOperation
from apps.memory_git.committing.gathering import Deed
from apps.memory_git.models import GitSyncJob, JobState, MemoryRepository, RepositoryStatus
from apps.memory_git.repository.repositories import mark

LONGEST_WAIT = 300
UNFINISHED = (JobState.PENDING, JobState.COMMITTING, JobState.FAILED)
logger = logging.getLogger(__name__)


def waiting() -> QuerySet[GitSyncJob]:
    """What is to be committed: of closed operations."""
    closed = ~Q(operation__state=LogicalOperation.OPEN)
    return GitSyncJob.objects.filter(closed, state__in=UNFINISHED)


def roots_waiting() -> list[str]:
    """Roots whose first waiting operation is due."""
    found = []
    for root in GitSyncJob.objects.filter(state__in=UNFINISHED).order_by().values_list("root", flat=True).distinct():
        first = waiting().filter(root=root).order_by("operation__closing_number").first()
        if first is not None and (first.next_retry_at is None or first.next_retry_at <= clock.now()):
            found.append(root)
    return found


def mark_begun(deeds: Sequence[Deed]) -> None:
    """Whoever looks sees what is being committed; a pass that is killed leaves it so, and the next one takes it up."""
    ids = [deed.job.pk for deed in deeds if deed.job is not None]
    GitSyncJob.objects.filter(pk__in=ids, state__in=UNFINISHED).update(state=JobState.COMMITTING)


def put_off(root: str, jobs: Sequence[GitSyncJob], failure: MemRelayError | OSError) -> None:
    """Try the first that still waits later, and say why."""
    code = failure.code if isinstance(failure, MemRelayError) else "DISK_ERROR"
    told = str(failure) if isinstance(failure, MemRelayError) else store.reason(failure)
    logger.warning("Commits of %s wait: %s", root or "the memories", told)
    taken = waiting().filter(pk__in=[job.pk for job in jobs])
    taken.filter(state=JobState.COMMITTING).update(state=JobState.PENDING)
    first = taken.order_by("operation__closing_number").first()
    if first is not None:
        pause = min(2 ** min(first.attempts, 10), LONGEST_WAIT)
        GitSyncJob.objects.filter(pk=first.pk).update(
            state=JobState.FAILED,
            attempts=F("attempts") + 1,
            error_code=code,
            next_retry_at=clock.now() + timedelta(seconds=pause),
        )
    repository = MemoryRepository.objects.filter(root=root, archived_at=None).first()
    if repository is not None:
        mark(repository, RepositoryStatus.LOCAL_ERROR, error_code=code, error=told)

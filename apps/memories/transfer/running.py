"""A job from its first attempt to its end, whoever works on it: a worker, or a command in the foreground.

The row is the truth and its lease says who works on it. Every step compares the attempt in its own transaction (L-29), so
that a process that was believed dead can write nothing more; whoever is killed leaves a row from which the next goes on.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.days import local
from apps.base.errors import MemRelayError
from apps.base.transactions import outside_transactions, short_transaction
from apps.leases.errors import LeaseLost
from apps.leases.held import Held
from apps.leases.selectors import check_attempt
from apps.leases.services import holding
from apps.memories.ledger.operations import close_operation
from apps.memories.models import FolderJob, LogicalOperation
from apps.memories.schemas import JobOut, JobReport
from apps.memories.scopes import project_of
from apps.memories.transfer.reports import REPORTS, sentence
from apps.operations import receipts

FRUITLESS_ATTEMPTS = 5
State = FolderJob.State
FINAL = (State.COMPLETED, State.CANCELLED, State.FAILED)
logger = logging.getLogger(__name__)


def job_key(job_id: str) -> str:
    """The lease of whoever works on a job."""
    return f"job/{job_id}"


def never() -> bool:
    return False


def unseen(job: FolderJob) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Watch:
    """Who looks on: told of every step, and asked whether to stop."""

    told: Callable[[FolderJob], None] = unseen
    should_stop: Callable[[], bool] = never


@dataclass
class Tally:
    """What one step brought; it counts once the step's transaction has."""

    done: int = 0
    imported: int = 0
    updated: int = 0
    unchanged: int = 0
    skipped: int = 0
    reports: list[dict[str, str]] = field(default_factory=list)


COUNTED = ("done", "imported", "updated", "unchanged", "skipped")


class Work:
    """One attempt at a job."""

    def __init__(self, job: FolderJob, held: Held, watch: Watch) -> None:
        self.job, self.held, self.watch = job, held, watch

    def stop_wanted(self) -> State | None:
        """The state to stop in, if somebody wants that."""
        asked = FolderJob.objects.values_list("stop_requested", "cancel_requested").get(pk=self.job.pk)
        if asked[1]:
            return State.CANCELLED
        return State.PAUSED if asked[0] or self.watch.should_stop() else None

    def advance(self, tally: Tally, position: str) -> dict[str, Any]:
        """Store a step in the transaction that did it (L-13); ``take_over`` its answer once that has committed."""
        self.check()
        job = self.job
        fields: dict[str, Any] = {name: getattr(job, name) + getattr(tally, name) for name in COUNTED}
        fields.update(position=position, total=max(job.total, fields["done"]), fruitless=0, updated_at=clock.now())
        if tally.reports:
            fields["reported"] = job.reported + len(tally.reports)
            fields["reports"] = [*job.reports, *tally.reports][:REPORTS]
        FolderJob.objects.filter(pk=job.pk).update(**fields)
        return fields

    def take_over(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            setattr(self.job, name, value)
        self.watch.told(self.job)

    def note_total(self, total: int) -> None:
        with short_transaction():
            self.check()
            FolderJob.objects.filter(pk=self.job.pk).update(total=total)
        self.job.total = total
        self.watch.told(self.job)

    def check(self) -> None:
        """Raise ``LeaseLost`` unless this is still the attempt that counts."""
        check_attempt(self.held.key, self.held.attempt)

    def finish(self, state: State, error: str = "") -> None:
        """Put the job down. A final state closes its operation and completes its receipts in the same transaction (L-19)."""
        with short_transaction():
            self.check()
            self.job.refresh_from_db()
            put_down(self.job, state, error)
        self.watch.told(self.job)


Doing = Callable[[Work], State]


@outside_transactions
def run(job_id: str, doings: Mapping[str, Doing], watch: Watch | None = None) -> bool:
    """Work on a job until it ends or is stopped. False where another process works on it already."""
    with holding(job_key(job_id), kind="job") as held:
        if held is None:
            return False
        job = _begin(job_id, held)
        if job is None:
            return True
        work = Work(job, held, watch or Watch())
        try:
            if job.fruitless > FRUITLESS_ATTEMPTS:
                work.finish(
                    State.FAILED, _("It ended {count} times without getting on.").format(count=FRUITLESS_ATTEMPTS)
                )
            else:
                work.finish(doings[job.kind](work))
        except LeaseLost:
            logger.warning("The job %s was taken over by another process.", job_id)
        except MemRelayError as error:
            # What can be mended by waiting (a restore at work in the scope) is tried again by the keeper's sweep.
            work.finish(State.WAITING if error.retryable else State.FAILED, str(error))
    return True


def put_down(job: FolderJob, state: State, error: str = "") -> None:
    """Change a job's state inside the caller's transaction."""
    now = clock.now()
    job.state, job.error, job.updated_at = state, error[:500], now
    job.stop_requested = job.cancel_requested = False
    if state in FINAL:
        job.finished_at = now
        if job.operation is not None:
            ending = LogicalOperation.CLOSED if state is State.COMPLETED else LogicalOperation.PARTIAL
            close_operation(job.operation, ending)
        receipts.complete(job.pk, described(job).model_dump(mode="json"))
    job.save(update_fields=["state", "error", "updated_at", "stop_requested", "cancel_requested", "finished_at"])


def described(job: FolderJob, zone: str = "UTC", *, reports: bool = True) -> JobOut:
    """A job as a caller in this zone meets it."""
    return JobOut(
        job_id=job.pk,
        kind=job.kind,
        state=job.state,
        folder=job.folder,
        scope=job.scope_key,
        project_id=project_of(job.scope_key),
        target=job.target_key,
        operation_id=job.operation_id or "",
        error=job.error,
        reports=[_told(told) for told in job.reports] if reports else [],
        reported=job.reported,
        total=job.total,
        created_at=local(job.created_at, zone),
        updated_at=local(job.updated_at, zone),
        finished_at=local(job.finished_at, zone) if job.finished_at else None,
        **{name: getattr(job, name) for name in COUNTED},
    )


def _told(told: Mapping[str, str]) -> JobReport:
    return JobReport(path=told["path"], code=told["code"], reason=sentence(told))


def _begin(job_id: str, held: Held) -> FolderJob | None:
    """Take the job in hand; None where there is nothing to do (any more)."""
    with short_transaction():
        check_attempt(held.key, held.attempt)
        job = FolderJob.objects.select_related("operation").filter(pk=job_id).first()
        if job is None or job.state not in (State.WAITING, State.RUNNING):
            return None
        job.state, job.attempt, job.fruitless, job.error = State.RUNNING, held.attempt, job.fruitless + 1, ""
        job.save(update_fields=["state", "attempt", "fruitless", "error"])
    return job

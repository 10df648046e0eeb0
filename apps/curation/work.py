"""One attempt at a job: its place in the world, checked before every step that counts (L-29)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Sum

from apps.base import clock
from apps.base.errors import MemRelayError
from apps.base.transactions import short_transaction
from apps.curation.errors import Cancelled
from apps.curation.models import AT_WORK, FINAL, CurationAttempt, CurationJob, State
from apps.leases.errors import LeaseLost
from apps.leases.held import Held
from apps.leases.selectors import check_attempt
from apps.llm.models import ModelCall

MOST_WARNINGS = 100
UPDATE_SECONDS = 5.0  # Between two notes of how long an answer has been waited for.


def scope_lease(scope_key: str) -> str:
    """The lease of whoever curates a scope: one at a time (CUR-080)."""
    return f"curation/{scope_key}"


def usage_of(job_id: str) -> dict[str, int]:
    """What all calls of a job have cost, those of attempts that failed or died included."""
    told = ModelCall.objects.filter(job_id=job_id).aggregate(
        requests=Sum("requests"),
        tokens_in=Sum("tokens_in"),
        tokens_out=Sum("tokens_out"),
        milliseconds=Sum("duration_ms"),
    )
    return {name: number or 0 for name, number in told.items()}


class Work:
    """What an attempt may do with its job: note how far it is, and end it. Each time it is asked whether it still counts."""

    def __init__(self, job: CurationJob, attempt: CurationAttempt, held: Held) -> None:
        self.job, self.attempt, self.held = job, attempt, held
        self._noted_at = 0.0

    def check(self) -> None:
        """Raise ``LeaseLost`` if another attempt has taken over, ``Cancelled`` if somebody asked for an end."""
        check_attempt(self.held.key, self.held.attempt)
        row = CurationJob.objects.values("attempt", "state", "cancel_requested").get(pk=self.job.pk)
        if row["attempt"] != self.attempt.number or row["state"] not in AT_WORK:
            raise LeaseLost(attempt=self.attempt.number)
        if row["cancel_requested"]:
            raise Cancelled

    def enter(self, state: State, phase: str, **fields: Any) -> None:
        """Go on to the next phase."""
        with short_transaction():
            self.check()
            self._update(state=state, phase=phase, **fields)

    def note(self, **fields: Any) -> None:
        with short_transaction():
            self.check()
            self._update(**fields)

    def look_around(self, seconds: float) -> None:
        """Called every second while the model thinks: may it go on? What this raises ends the call at once."""
        self.check()
        if seconds - self._noted_at >= UPDATE_SECONDS or seconds < self._noted_at:
            self._noted_at = seconds
            self.note(seconds_waited=int(seconds))

    def complete(self, fields: Mapping[str, Any]) -> None:
        """The end everybody wants; inside the transaction that applied."""
        self.check()
        self._end(State.COMPLETED, CurationAttempt.State.COMPLETED, **fields)

    def cancel(self) -> None:
        with short_transaction():
            check_attempt(self.held.key, self.held.attempt)
            self._end(State.CANCELLED, CurationAttempt.State.CANCELLED)

    def fail(self, error: MemRelayError) -> None:
        self._put_down(State.FAILED, CurationAttempt.State.FAILED, error, None)

    def try_again(self, error: MemRelayError, at: datetime, *, counts: bool) -> None:
        """Leave it to a later attempt; ``counts`` says whether this one used up a try (D-13)."""
        self._put_down(State.QUEUED, CurationAttempt.State.FAILED, error, at, retries=self.job.retries + counts)

    def wait(self, error: MemRelayError, at: datetime) -> None:
        """End this attempt until the model is back (CUR-026)."""
        self._put_down(State.WAITING_DEPENDENCY, CurationAttempt.State.WAITING, error, at)

    def _put_down(self, state: State, ending: str, error: MemRelayError, at: datetime | None, **fields: Any) -> None:
        with short_transaction():
            self.check()
            told = {"error_code": error.code, "error": str(error)[:500]}
            findings = [*self.job.warnings, *error.facts.get("findings", [])][:MOST_WARNINGS]
            self._end(state, ending, next_retry_at=at, warnings=findings, attempt_fields=told, **told, **fields)

    def _end(
        self, state: State, ending: str, *, attempt_fields: Mapping[str, Any] | None = None, **fields: Any
    ) -> None:
        now = clock.now()
        if state in FINAL:
            fields["finished_at"] = now
        if state is State.COMPLETED:
            fields |= {"error_code": "", "error": "", "next_retry_at": None}
        self._update(state=state, phase="", cancel_requested=False, **usage_of(self.job.pk), **fields)
        CurationAttempt.objects.filter(pk=self.attempt.pk).update(state=ending, ended_at=now, **(attempt_fields or {}))

    def _update(self, **fields: Any) -> None:
        fields["updated_at"] = clock.now()
        CurationJob.objects.filter(pk=self.job.pk).update(**fields)
        for name, value in fields.items():
            setattr(self.job, name, value)

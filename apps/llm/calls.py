"""Call records, and the caps on what they may cost (D-15). No word of a request or an answer is kept."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import time as time_of_day
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import F, Sum
from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.estimates import token_estimate
from apps.base.ids import new_id
from apps.base.transactions import short_transaction
from apps.leases.owners import owner_is_alive, this_owner
from apps.llm.errors import BudgetReached
from apps.llm.models import ModelCall
from apps.llm.protocols import Reply

STOPPED, INTERRUPTED = "MODEL_CALL_STOPPED", "MODEL_CALL_INTERRUPTED"


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a call is for, and whose budget it uses."""

    name: str
    scope_key: str = ""
    job_id: str = ""
    prompt_version: str = ""


@dataclass(slots=True)
class Tally:
    """What one call has cost so far, over all its requests."""

    estimated_in: int  # Of one request, by the upper bound of ``base.estimates``.
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    is_estimate: bool = False
    began: float = field(default_factory=time.monotonic)

    def perhaps_billed(self) -> None:
        """A request was sent and its answer lost: the endpoint may have counted it."""
        self.tokens_in += self.estimated_in
        self.is_estimate = True

    def answered(self, reply: Reply) -> None:
        self.is_estimate = self.is_estimate or reply.tokens_in is None or reply.tokens_out is None
        self.tokens_in += self.estimated_in if reply.tokens_in is None else reply.tokens_in
        self.tokens_out += token_estimate(reply.text) if reply.tokens_out is None else reply.tokens_out

    @property
    def milliseconds(self) -> int:
        return round((time.monotonic() - self.began) * 1000)


def begin(purpose: Purpose, *, reserved_in: int, reserved_out: int, **told: object) -> ModelCall:
    """Open the record of a call. Raises ``BudgetReached`` if it could pass a cap.

    What it may cost at most is booked until its end, so that calls at the same time do not pass a cap together.
    """
    close_interrupted()
    with short_transaction():
        if purpose.scope_key:
            check_budget(purpose.scope_key, reserved_in + reserved_out)
        return ModelCall.objects.create(
            id=new_id("call"),
            purpose=purpose.name,
            scope_key=purpose.scope_key,
            job_id=purpose.job_id,
            prompt_version=purpose.prompt_version,
            owner=this_owner(),
            started_at=clock.now(),
            tokens_in=reserved_in,
            tokens_out=reserved_out,
            **told,
        )


def finish(call: ModelCall, outcome: str, tally: Tally, reply: Reply | None = None, **told: object) -> None:
    """Close the record with what it did cost."""
    ModelCall.objects.filter(pk=call.pk, outcome=ModelCall.RUNNING).update(
        outcome=outcome,
        ended_at=clock.now(),
        duration_ms=tally.milliseconds,
        requests=tally.requests,
        tokens_in=tally.tokens_in,
        tokens_out=tally.tokens_out,
        is_estimate=tally.is_estimate,
        response_model=reply.model if reply else "",
        service_request_id=reply.request_id if reply else "",
        **told,
    )


def close_interrupted() -> int:
    """Close the records of processes that are no more (MOD-050). What was booked stays booked: it may have been billed."""
    running = ModelCall.objects.filter(outcome=ModelCall.RUNNING)
    owners = set(running.order_by().values_list("owner", flat=True).distinct())
    dead = [owner for owner in owners if not owner_is_alive(owner)]
    if not dead:
        return 0
    return running.filter(owner__in=dead).update(outcome=INTERRUPTED, ended_at=clock.now(), is_estimate=True)


def check_budget(scope_key: str, needed: int) -> None:
    """Raise ``BudgetReached`` if this many tokens more would pass the scope's cap of the day or of the month."""
    for setting, period, since in (
        ("MODEL_DAY_TOKENS", _("day"), day_begins()),
        ("MODEL_MONTH_TOKENS", _("month"), month_begins()),
    ):
        cap = getattr(settings, setting)
        used = tokens_since(scope_key, since) if cap else 0
        if cap and used + needed > cap:
            raise BudgetReached(period=period, used=used, cap=cap, needed=needed, setting=f"MEMRELAY_{setting}")


def tokens_since(scope_key: str, since: datetime) -> int:
    calls = ModelCall.objects.filter(scope_key=scope_key, started_at__gte=since)
    return calls.aggregate(tokens=Sum(F("tokens_in") + F("tokens_out")))["tokens"] or 0


def day_begins() -> datetime:
    """Midnight in the server's own zone: caps are the operator's, whoever asks."""
    zone = ZoneInfo(settings.CALLER_ZONE)
    return datetime.combine(clock.now().astimezone(zone).date(), time_of_day.min, zone).astimezone(UTC)


def month_begins() -> datetime:
    zone = ZoneInfo(settings.CALLER_ZONE)
    first = clock.now().astimezone(zone).date().replace(day=1)
    return datetime.combine(first, time_of_day.min, zone).astimezone(UTC)

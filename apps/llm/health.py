"""How the endpoint is: written down after every call, and told to those who wait when it is back.

The state survives a restart. A failure that passes makes a pause: as long as the endpoint asked for, else five minutes
that double up to an hour (MOD-046). A failure of the configuration waits for a person (MOD-048).
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from apps.base import clock
from apps.base.transactions import short_transaction
from apps.llm.connections import OpenConnection, is_in_use
from apps.llm.errors import Consequence, ModelError
from apps.llm.models import ConnectionHealth
from apps.llm.schemas import ConnectionState

FIRST_PAUSE, LONGEST_PAUSE = 300, 3600
DEPENDENCY = "model"


def succeeded(connection: OpenConnection, **learnt: Any) -> None:
    """The endpoint did what was asked of it. ``learnt`` are further fields of its health that are now known."""
    now = clock.now()
    with short_transaction():
        health = _health_of(connection)
        if health is None:
            return
        was = health.state
        _update(
            health,
            state=ConnectionState.AVAILABLE,
            succeeded_at=now,
            failures=0,
            error_code="",
            http_status=None,
            next_probe_at=next_look(connection, now),
            **learnt,
        )
        if was != ConnectionState.AVAILABLE or "verified_at" in learnt:
            _tell_those_who_wait(health)


def failed(
    connection: OpenConnection,
    error: ModelError,
    *,
    since: datetime,
    consequence: Consequence | None = None,
    **learnt: Any,
) -> None:
    """A call that began ``since`` failed. Only what is wrong with the endpoint counts, not what the model said."""
    consequence = consequence or error.consequence
    if consequence not in (Consequence.WAIT, Consequence.CONFIGURE):
        return
    now = clock.now()
    with short_transaction():
        health = _health_of(connection)
        if health is None:
            return
        # Calls that ran side by side met one and the same failure.
        is_told = health.failures > 0 and health.failed_at is not None and health.failed_at >= since
        failures = health.failures if is_told else health.failures + 1
        waits = consequence is Consequence.WAIT
        _update(
            health,
            state=ConnectionState.WAITING_DEPENDENCY if waits else ConnectionState.CONFIGURATION_ERROR,
            failed_at=now,
            failures=failures,
            error_code=error.code,
            http_status=error.http_status,
            next_probe_at=now + timedelta(seconds=pause_after(failures, error)) if waits else None,
            **learnt,
        )


def pause_after(failures: int, error: ModelError) -> int:
    """Seconds until the next look at an endpoint that failed so many times in a row."""
    asked_for = error.facts.get("seconds")
    if isinstance(asked_for, int):
        return max(1, asked_for)
    return int(min(FIRST_PAUSE * 2 ** min(failures - 1, 10), LONGEST_PAUSE))


def next_look(connection: OpenConnection, now: datetime) -> datetime | None:
    return now + timedelta(seconds=connection.probe_interval_seconds) if connection.probe_interval_seconds else None


def _health_of(connection: OpenConnection) -> ConnectionHealth | None:
    return ConnectionHealth.objects.select_related("connection").filter(pk=connection.id).first()


def _update(health: ConnectionHealth, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(health, name, value)
    health.save(update_fields=list(fields))


def _tell_those_who_wait(health: ConnectionHealth) -> None:
    """Call ``settings.DEPENDENCY_LISTENERS`` in the same transaction; like those of changes, they only write rows."""
    if health.connection.is_current and is_in_use(health.connection):
        for path in settings.DEPENDENCY_LISTENERS:
            import_string(path)(DEPENDENCY)

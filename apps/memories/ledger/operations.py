"""Logical operations: one deed of a caller, open while it lasts, closed with a number that orders Git commits (L-19)."""

from datetime import datetime

from django.db import connection

from apps.base import clock
from apps.base.ids import new_id
from apps.base.rows import new_row
from apps.base.transactions import short_transaction
from apps.memories.models import LogicalOperation
from apps.operations.caller import Caller

REASON_CHARACTERS = 500


def new_operation(caller: Caller, name: str, reason: str, at: datetime) -> LogicalOperation:
    """An operation that is not stored yet."""
    return new_row(
        LogicalOperation,
        id=new_id("op"),
        name=name,
        actor=caller.name[:120],
        origin=caller.origin.value,
        profile=caller.profile,
        token_id=caller.token_id or "",
        reason=reason[:REASON_CHARACTERS],
        opened_at=at,
    )


def open_operation(caller: Caller, name: str, reason: str = "", *, job_id: str = "") -> LogicalOperation:
    """Open one that spans several commits; its job closes it."""
    operation = new_operation(caller, name, reason, clock.now())
    operation.job_id = job_id
    operation.save(force_insert=True)
    return operation


def mark_closed(operation: LogicalOperation, at: datetime, state: str = LogicalOperation.CLOSED) -> None:
    """Give the operation its closing number; call it inside the transaction that stores it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(closing_number) FROM memories_logicaloperation")
        highest = int(cursor.fetchone()[0] or 0)
    operation.state = state
    operation.closing_number = highest + 1
    operation.closed_at = at


def close_operation(operation: LogicalOperation, state: str = LogicalOperation.CLOSED) -> None:
    """Close an open operation; closing it twice changes nothing."""
    with short_transaction():
        row = LogicalOperation.objects.get(pk=operation.pk)
        if row.state != LogicalOperation.OPEN:
            return
        mark_closed(row, clock.now(), state)
        row.save(update_fields=["state", "closing_number", "closed_at"])

"""What each session was shown, and how often each caller was shown a memory. Rows of this room only."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection

from apps.base import clock
from apps.base.transactions import short_transaction
from apps.operations.caller import Caller
from apps.recall.models import MemoryUsage, RecallDelivery, RecallSession

MOST_DELIVERED = 2_000  # In one session; the oldest beyond that lie far back in its transcript, or nowhere any more.
CLEANED_AT_ONCE = 200

_SESSION = """
    INSERT INTO recall_recallsession (owner, session_id, used_at) VALUES (%s, %s, %s)
    ON CONFLICT (owner, session_id) DO UPDATE SET used_at = excluded.used_at RETURNING id
"""
_DELIVERY = """
    INSERT INTO recall_recalldelivery (session_id, message_id, memory_id, at) VALUES (%s, %s, %s, %s)
    ON CONFLICT (session_id, memory_id) DO NOTHING
"""
_USAGE = """
    INSERT INTO recall_memoryusage (owner, memory_id, count, last_at) VALUES (%s, %s, 1, %s)
    ON CONFLICT (owner, memory_id) DO UPDATE SET count = count + 1, last_at = excluded.last_at
"""


def owner_of(caller: Caller) -> str:
    """Whose session and whose counts: the token's, or the person's. Other callers' are out of reach."""
    return caller.token_id or f"{caller.kind.value}:{caller.name}"[:160]


def delivered(owner: str, session_id: str) -> list[str]:
    """The memories that lie in the session's transcript, the last shown first."""
    rows = RecallDelivery.objects.filter(session__owner=owner, session__session_id=session_id)
    return list(rows.order_by("-pk").values_list("memory_id", flat=True)[:MOST_DELIVERED])


def deliver(owner: str, session_id: str, message_id: str, memory_ids: Sequence[str]) -> set[str]:
    """Note what is about to be shown; gives those that another call of the session did not note meanwhile."""
    now = clock.now()
    noted = set()
    with short_transaction(), connection.cursor() as cursor:
        cursor.execute(_SESSION, [owner, session_id, now])
        key = cursor.fetchone()[0]
        for memory_id in memory_ids:
            cursor.execute(_DELIVERY, [key, message_id, memory_id, now])
            if cursor.rowcount:
                noted.add(memory_id)
                cursor.execute(_USAGE, [owner, memory_id, now])
    return noted


def release(owner: str, session_id: str, message_ids: Collection[str]) -> int:
    """Forget what was shown with these messages, or with any where none is named; gives how many memories are free."""
    rows = RecallDelivery.objects.filter(session__owner=owner, session__session_id=session_id)
    if message_ids:
        rows = rows.filter(message_id__in=message_ids)
    with short_transaction():
        return rows.delete()[0]


def uses(owner: str, memory_ids: Collection[str]) -> dict[str, int]:
    rows = MemoryUsage.objects.filter(owner=owner, memory_id__in=memory_ids)
    return dict(rows.values_list("memory_id", "count"))


def forget_memories(memory_ids: Collection[str]) -> None:
    """What is deleted leaves no trace here. Inside the transaction of the deletion."""
    RecallDelivery.objects.filter(memory_id__in=memory_ids).delete()
    MemoryUsage.objects.filter(memory_id__in=memory_ids).delete()


def forget_old_sessions(now: datetime | None = None) -> int:
    """The keeper's bell: sessions that nobody used for long are forgotten, some at a time. One query where there is none."""
    before = (now or clock.now()) - timedelta(days=settings.RECALL_SESSION_DAYS)
    old = list(RecallSession.objects.filter(used_at__lt=before).values_list("pk", flat=True)[:CLEANED_AT_ONCE])
    if old:
        with short_transaction():
            RecallSession.objects.filter(pk__in=old, used_at__lt=before).delete()
    return len(old)

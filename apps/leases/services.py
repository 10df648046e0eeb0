"""Taking, keeping and giving back leases.

A lease is taken by one conditional UPDATE that names the owner and the attempt it saw: of two who want the same,
the database counts a row for one of them. Leases are never taken inside a transaction, which could take them back.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection
from django.db.models import QuerySet

from apps.base.clock import now
from apps.base.transactions import outside_transactions, short_transaction
from apps.leases.held import Held, slot_key
from apps.leases.models import Lease
from apps.leases.owners import end_if_hung, owner_is_alive, this_owner

HEARTBEAT_SECONDS = 15.0

logger = logging.getLogger(__name__)


@outside_transactions
def take(key: str, *, kind: str) -> Held | None:
    """Take the lease, or say that somebody has it.

    The work of a dead owner is taken over at once; an owner that hangs is ended first. Every taking is an attempt
    with a number of its own, so that the result of an older one can be told and refused.
    """
    seen = Lease.objects.filter(key=key).values_list("owner", "attempt").first()
    if seen is None:
        return _take_first(key, kind)
    owner, attempt = seen
    if owner and not _is_gone(owner):
        return None
    held, moment = Held(key, this_owner(), attempt + 1), now()
    taken = Lease.objects.filter(key=key, owner=owner, attempt=attempt).update(
        kind=kind, owner=held.owner, attempt=held.attempt, taken_at=moment, heartbeat_at=moment
    )
    return held if taken else None


def renew(held: Held) -> bool:
    """Say that the work goes on; the answer is whether it is still ours."""
    return bool(_rows_of(held).update(heartbeat_at=now()))


def release(held: Held) -> bool:
    """Give it back; the answer is whether it was still ours."""
    return bool(_rows_of(held).update(owner="", heartbeat_at=now()))


@contextmanager
def holding(key: str, *, kind: str) -> Iterator[Held | None]:
    """Hold a lease for the length of a block, with a heartbeat; ``None`` if somebody has it."""
    held = take(key, kind=kind)
    with _kept(held):
        yield held


def take_slot(kind: str) -> Held | None:
    """Take one of the slots for this kind of work, or say that all are at work (L-28)."""
    for number in range(settings.SLOTS[kind]):
        if held := take(slot_key(kind, number), kind="slot"):
            return held
    return None


@contextmanager
def slot(kind: str) -> Iterator[Held | None]:
    """Hold a slot for the length of a block, with a heartbeat; ``None`` if all are at work."""
    held = take_slot(kind)
    with _kept(held):
        yield held


def forget_released(*, before: datetime) -> int:
    """Remove leases that nobody held since then: their keys belong to work that is long done."""
    forgotten, _by_model = Lease.objects.filter(owner="", heartbeat_at__lt=before).delete()
    return forgotten


def _take_first(key: str, kind: str) -> Held | None:
    held, moment = Held(key, this_owner(), 1), now()
    try:
        with short_transaction():
            Lease.objects.create(
                key=key, kind=kind, owner=held.owner, attempt=held.attempt, taken_at=moment, heartbeat_at=moment
            )
    except IntegrityError:
        return None  # Somebody was first.
    return held


def _is_gone(owner: str) -> bool:
    if owner == this_owner():
        return False
    return not owner_is_alive(owner) or end_if_hung(owner)


def _rows_of(held: Held) -> QuerySet[Lease]:
    return Lease.objects.filter(key=held.key, owner=held.owner, attempt=held.attempt)


@contextmanager
def _kept(held: Held | None) -> Iterator[None]:
    if held is None:
        yield
        return
    done = threading.Event()
    heart = threading.Thread(target=_keep_renewing, args=(held, done), name=f"lease {held.key}", daemon=True)
    heart.start()
    try:
        yield
    finally:
        done.set()
        heart.join()
        release(held)


def _keep_renewing(held: Held, done: threading.Event) -> None:
    """The thread of a lease. It has a database connection of its own and keeps it only while it writes."""
    while not done.wait(HEARTBEAT_SECONDS):
        try:
            if not renew(held):
                logger.warning("The lease %s was taken over.", held.key)
                return
        except DatabaseError:
            logger.warning("The heartbeat of the lease %s could not be written.", held.key, exc_info=True)
        finally:
            connection.close()

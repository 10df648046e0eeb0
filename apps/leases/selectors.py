"""Reads that a transaction can afford: one indexed query, without building a model."""

from django.db import connection

from apps.leases.errors import LeaseLost, ScopeBusy
from apps.leases.held import Held, exclusive_key
from apps.leases.models import Lease
from apps.leases.owners import owner_is_alive


def exclusive_lease_on(scope_key: str) -> Lease | None:
    """The lease of whoever needs the scope for himself now; one of a dead process keeps nobody out."""
    lease = Lease.objects.filter(key=exclusive_key(scope_key)).exclude(owner="").first()
    return lease if lease is not None and owner_is_alive(lease.owner) else None


def refuse_if_busy(scope_key: str, *, held: Held | None = None) -> None:
    """Raise ``ScopeBusy`` while somebody else has the scope for himself; called inside the ledger's transaction (L-15).

    The holder shows what he holds and passes.
    """
    row = _row(exclusive_key(scope_key))
    if row is None:
        return
    kind, owner, attempt = row
    is_mine = held is not None and (held.key, held.owner, held.attempt) == (exclusive_key(scope_key), owner, attempt)
    if owner and not is_mine and owner_is_alive(owner):
        raise ScopeBusy(scope=scope_key, work=kind)


def check_attempt(key: str, attempt: int) -> None:
    """Raise ``LeaseLost`` unless this attempt still holds the lease; called in the transaction that applies (L-29)."""
    row = _row(key)
    if row is None or not row[1] or row[2] != attempt:
        raise LeaseLost(attempt=attempt)


def is_held(key: str) -> bool:
    """Whether a living process works on this now."""
    row = _row(key)
    return row is not None and owner_is_alive(row[1])


def _row(key: str) -> tuple[str, str, int] | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, owner, attempt FROM leases_lease WHERE key = %s", [key])
        found: tuple[str, str, int] | None = cursor.fetchone()
    return found

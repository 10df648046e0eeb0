"""Write the log, and tell the rooms that must move with the change."""

from collections.abc import Callable, Sequence
from functools import cache

from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from apps.base.rows import insert_rows
from apps.changes.models import Change

Listener = Callable[[Sequence[Change]], None]


def record(changes: Sequence[Change]) -> None:
    """Append to the log inside the caller's transaction, then call ``settings.CHANGE_LISTENERS`` in their order.

    Listeners write rows only; they commit and vanish with the change. One that raises aborts the write, loudly.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("A change is recorded inside the transaction that made it.")
    insert_rows(changes)
    for path in settings.CHANGE_LISTENERS:
        _listener(path)(changes)


@cache
def _listener(path: str) -> Listener:
    listener: Listener = import_string(path)
    return listener

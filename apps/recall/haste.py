"""A time budget for reads of the database: past it SQLite itself breaks the question off."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

STEPS = 2_000  # Of SQLite's machine between two looks at the clock: some tens of microseconds.


class OutOfTime(Exception):
    """The budget is used up; nothing is shown, since a message waits for nobody's memory."""


class Deadline:
    def __init__(self, milliseconds: float) -> None:
        self.at = time.monotonic() + milliseconds / 1000

    @property
    def left(self) -> float:
        return self.at - time.monotonic()

    def check(self) -> None:
        """Raise ``OutOfTime`` where the budget is used up: between two steps of our own."""
        if self.left <= 0:
            raise OutOfTime


@contextmanager
def in_haste(deadline: Deadline) -> Iterator[None]:
    """Break off any read at the deadline, and wait for a lock no longer than that."""
    connection.ensure_connection()
    raw = connection.connection
    usual = int(settings.DATABASES["default"]["OPTIONS"]["timeout"] * 1000)
    _wait_for_locks(max(1, int(deadline.left * 1000)))
    raw.set_progress_handler(lambda: deadline.left <= 0, STEPS)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)
        _wait_for_locks(usual)


@contextmanager
def never_waiting(deadline: Deadline) -> Iterator[None]:
    """For a short write: it waits for the one writer until the deadline, and is not broken off half-way."""
    usual = int(settings.DATABASES["default"]["OPTIONS"]["timeout"] * 1000)
    _wait_for_locks(max(1, int(deadline.left * 1000)))
    try:
        yield
    finally:
        _wait_for_locks(usual)


def _wait_for_locks(milliseconds: int) -> None:
    connection.connection.execute(f"PRAGMA busy_timeout = {milliseconds}")

"""Ring django-q2: the bell says that a job row waits; the row itself is the truth."""

from pathlib import Path

from django.conf import settings
from django.db import connection
from django_q.tasks import async_task


def ring(function: str, *arguments: str | int) -> None:
    """Ask a worker to call ``function`` (a dotted path that never moves) with ids.

    Inside a transaction the bell is rung with its commit or not at all (one database, D-27). A lost bell costs a delay,
    never work: a periodic sweep looks for waiting rows.
    """
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    async_task(function, *arguments, group=function.rpartition(".")[2])


def hurry_file() -> Path:
    return Path(settings.RUN_FOLDER) / "bells.hurry"


def hurry() -> None:
    """Ask the keeper to look for waiting rows within a moment. Cheaper than a bell of one's own with every write."""
    try:
        hurry_file().touch()
    except FileNotFoundError:
        hurry_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        hurry_file().touch()

"""What time it is: one place to ask, so that tests and two processes can agree on it."""

import os
from datetime import UTC, datetime

CLOCK_FILE = os.environ.get("MEMRELAY_CLOCK_FILE", "")


def now() -> datetime:
    """The current time, aware and in UTC.

    Where ``MEMRELAY_CLOCK_FILE`` names a file (tests only), the ISO time inside it is the time.
    """
    if CLOCK_FILE:
        with open(CLOCK_FILE, encoding="ascii") as file:
            return datetime.fromisoformat(file.read().strip()).astimezone(UTC)
    return datetime.now(UTC)


def as_stamp(moment: datetime) -> str:
    """A time as Markdown and the wire carry it: UTC, milliseconds, a trailing Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_stamp(stamp: str) -> datetime:
    """Read a time back; one without a zone is UTC. Raises ``ValueError`` on anything else."""
    moment = datetime.fromisoformat(stamp.strip())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def to_milliseconds(moment: datetime) -> datetime:
    """The same time as exactly as a stamp tells it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)

"""Named places where a test may kill the process, to see what a crash there leaves behind."""

import os
import signal
from collections import Counter

from django.conf import settings

_passed: Counter[str] = Counter()

POINTS = [
    "before-record",  # Checked, nothing written yet.
    "inside-record",  # All rows written, the transaction still open.
    "after-record",  # Committed, no file written.
    "before-rename",  # The new bytes lie in a dot-named file beside the place.
    "after-rename",  # The file is in place.
    "between-files",  # The new file of a move is there, the old one too.
    "before-sync",  # The sweep has looked at the files, none is durable yet.
    "after-sync",  # Files are durable, their intents still open.
    "after-clear",  # Intents are cleared.
]
EMBEDDING_POINTS = [
    "embedding-before-store",  # Vectors are made, no row written.
    "embedding-inside-store",  # All rows written, the transaction still open.
    "embedding-after-store",  # Committed.
]
GIT_POINTS = [
    "git-before-ref",  # The commits' objects are stored, the branch does not point to them yet.
    "git-after-ref",  # The branch points to the commits, their rows are not written.
    "git-moving",  # Of a change of strategy: some histories lie at their new place, some at the old one.
]


def fault(point: str) -> None:
    """Die here, as from ``kill -9``, if ``MEMRELAY_FAULT_POINT`` names this point (``point:n`` lets it pass n times first).

    Costs one comparison where nothing is set.
    """
    if not settings.FAULT_POINT:
        return
    wanted, _, passes = settings.FAULT_POINT.partition(":")
    if wanted == point:
        _passed[point] += 1
        if _passed[point] > int(passes or 0):
            os.kill(os.getpid(), signal.SIGKILL)

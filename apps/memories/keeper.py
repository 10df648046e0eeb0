"""The keeper: a process of its own that makes files durable, takes outside edits in and rings for jobs that wait (L-27)."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, close_old_connections

from apps.memories.jobs import ring_for_waiting
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import scopes_with_asides, sweep
from apps.memories.models import Scope

PAUSE = 0.2
JOBS_SECONDS = 5.0
SCAN_SHARE = 50  # A scan of a large folder rests this many times as long as it took: 2 % of a core at most.
logger = logging.getLogger(__name__)


def wake_file() -> Path:
    return Path(settings.RUN_FOLDER) / "keeper.wake"


def wake() -> None:
    """Ask the keeper to scan now."""
    wake_file().parent.mkdir(parents=True, exist_ok=True)
    wake_file().touch()


def run(should_stop: Callable[[], bool], beat: Callable[[], None] = lambda: None) -> None:
    """Sweep and scan until told to stop. One that fails is logged and tried again; the next round finds the same work."""
    Keeper().run(should_stop, beat)


class Keeper:
    def __init__(self) -> None:
        self.again = scopes_with_asides()
        self.next_sweep = self.next_scan = self.next_jobs = 0.0

    def run(self, should_stop: Callable[[], bool], beat: Callable[[], None]) -> None:
        first = True
        while not should_stop():
            beat()
            try:
                self.round(at_once=first)
                first = False
            except (DatabaseError, OSError):
                logger.exception("A round of the keeper failed; it is tried again.")
                close_old_connections()
                time.sleep(1)
            time.sleep(PAUSE)

    def round(self, *, at_once: bool = False) -> None:
        """One round: what is due of sweep, jobs and scan. ``at_once`` replays everything, as after a crash."""
        now = time.monotonic()
        if now >= self.next_sweep:
            self.again = sweep(at_once=at_once, also=self.again).scopes
            self.next_sweep = time.monotonic() + settings.SWEEP_SECONDS
        if now >= self.next_jobs:
            ring_for_waiting()
            self.next_jobs = time.monotonic() + JOBS_SECONDS
        if now >= self.next_scan or wake_file().exists():
            wake_file().unlink(missing_ok=True)
            started = time.monotonic()
            reports = [scan(scope_key) for scope_key in Scope.objects.values_list("key", flat=True)]
            took = time.monotonic() - started
            is_waiting = any(report.unsettled or report.waiting for report in reports)
            pause = min(settings.SCAN_SECONDS, settings.SETTLE_SECONDS + 0.5) if is_waiting else settings.SCAN_SECONDS
            self.next_scan = time.monotonic() + max(pause, took * SCAN_SHARE)

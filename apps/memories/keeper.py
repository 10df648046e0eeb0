"""The keeper: a process of its own that makes files durable, takes outside edits in and rings for jobs that wait (L-27)."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.utils.module_loading import import_string

from apps.base import clock
from apps.base.bells import hurry_file
from apps.base.errors import MemRelayError
from apps.changes.selectors import head
from apps.leases.owners import sweep_dead_owners
from apps.leases.services import forget_released
from apps.memories.ledger.scan import ScanReport, scan
from apps.memories.ledger.sweep import scopes_with_asides, sweep
from apps.memories.models import Scope
from apps.search.index import tidy

PAUSE = 0.2
JOBS_SECONDS = 5.0
HURRY_SECONDS = 0.5  # Whoever asks for it gets the bells this often.
CLEANING = timedelta(hours=1)
TIDY_PAGES, TIDY_STEPS = 100, 5  # Small steps: each holds the database's only writer for some milliseconds.
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
    Keeper(beat).run(should_stop)


class Keeper:
    """What is due when. Each duty may fail or be killed anywhere: the next round finds the same work."""

    def __init__(self, beat: Callable[[], None] = lambda: None) -> None:
        self.beat = beat
        self.again = scopes_with_asides()
        self.next_sweep = self.next_scan = self.next_jobs = self.next_cleaning = self.soon = 0.0
        self.tidied_at = -1

    def run(self, should_stop: Callable[[], bool]) -> None:
        first = True
        while not should_stop():
            self.beat()
            try:
                self.round(at_once=first)
                first = False
            except (DatabaseError, OSError):
                logger.exception("A round of the keeper failed; it is tried again.")
                close_old_connections()
                time.sleep(1)
            time.sleep(PAUSE)

    def round(self, *, at_once: bool = False) -> None:
        """One round. ``at_once`` replays everything, as after a crash."""
        now = time.monotonic()
        if now >= self.next_sweep:
            self.again = sweep(at_once=at_once, also=self.again).scopes
            self.next_sweep = time.monotonic() + settings.SWEEP_SECONDS
        if now >= self.next_jobs or (now >= self.soon and hurry_file().exists()):
            hurry_file().unlink(missing_ok=True)
            self.soon = now + HURRY_SECONDS
            for path in settings.KEEPER_BELLS:
                import_string(path)()
            self.next_jobs = time.monotonic() + JOBS_SECONDS
        if now >= self.next_scan or wake_file().exists():
            self.scan_all()
        if now >= self.next_cleaning:
            sweep_dead_owners()
            forget_released(before=clock.now() - CLEANING)
            self.next_cleaning = time.monotonic() + CLEANING.total_seconds()

    def scan_all(self) -> None:
        """Look at every folder, then tidy the index if something was written since the last time."""
        wake_file().unlink(missing_ok=True)
        started, is_waiting = time.monotonic(), False
        for scope_key in list(Scope.objects.values_list("key", flat=True)):
            self.beat()
            report = self.look_at(scope_key)
            is_waiting = is_waiting or report is None or bool(report.unsettled or report.waiting)
        took = time.monotonic() - started
        pause = min(settings.SCAN_SECONDS, settings.SETTLE_SECONDS + 0.5) if is_waiting else settings.SCAN_SECONDS
        self.next_scan = time.monotonic() + max(pause, took * SCAN_SHARE)
        self.tidy()

    def look_at(self, scope_key: str) -> ScanReport | None:
        """Scan one scope. A folder that cannot be read, or that a restore has for itself, holds up no other one."""
        try:
            return scan(scope_key)
        except (OSError, MemRelayError):
            logger.exception("The folder of %s could not be looked at; it is tried again.", scope_key)
            Scope.objects.filter(key=scope_key).update(outside_pending=True)
            return None

    def tidy(self) -> None:
        written = head()
        if written != self.tidied_at and not any(tidy(TIDY_PAGES) for _ in range(TIDY_STEPS)):
            self.tidied_at = written

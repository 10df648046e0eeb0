"""A job in the foreground: its progress on standard error, an interrupt stops it so that it can go on later."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.core.management import CommandError
from django.utils.translation import gettext as _

from apps.memories.jobs import run_here
from apps.memories.models import FolderJob
from apps.memories.transfer.reports import sentence
from apps.memories.transfer.running import FINAL, State, Watch

LINE_SECONDS = 0.5
INTERRUPTED = 130


class Progress:
    """One line that is written over on a terminal; elsewhere one every few seconds, fit for a log."""

    def __init__(self) -> None:
        self.on_terminal = sys.stderr.isatty()
        self.pause = LINE_SECONDS if self.on_terminal else 10 * LINE_SECONDS
        self.next_line = 0.0
        self.started, self.done_before = time.monotonic(), -1

    def __call__(self, job: FolderJob) -> None:
        now = time.monotonic()
        if self.done_before < 0:
            self.done_before = job.done
        if now < self.next_line and job.state == State.RUNNING:
            return
        self.next_line = now + self.pause
        pace = (job.done - self.done_before) / max(now - self.started, 0.001)
        line = _("{done} of {total} files, {pace} a second").format(done=job.done, total=job.total, pace=round(pace))
        sys.stderr.write(f"\r{line}\x1b[K" if self.on_terminal else f"{line}\n")
        sys.stderr.flush()

    def end(self) -> None:
        if self.on_terminal:
            sys.stderr.write("\n")


def work_on(job: FolderJob, write: Callable[[str], object]) -> None:
    """Do the job and say what came of it. Raises ``SystemExit`` or ``CommandError`` unless it is completed."""
    progress = Progress()
    with stopping_on_interrupt() as stopping:
        if not run_here(job.pk, Watch(progress, stopping.is_set)):
            raise CommandError(_("Another process works on this job already: {job_id}.").format(job_id=job.pk))
    progress.end()
    job.refresh_from_db()
    tell(job, write)
    if job.state == State.FAILED:
        raise CommandError(job.error)
    if job.state != State.COMPLETED:
        raise SystemExit(INTERRUPTED)


def tell(job: FolderJob, write: Callable[[str], object]) -> None:
    for told in job.reports:
        write(f"{told['path']}: {sentence(told)}")
    if job.reported > len(job.reports):
        write(_("{count} more files are not shown.").format(count=job.reported - len(job.reports)))
    if job.kind == FolderJob.IMPORT:
        counts = _("Imported {imported}, updated {updated}, unchanged {unchanged}, left out {skipped}.")
    else:
        counts = _("Written {imported}, left out {skipped}.")
    write(counts.format(imported=job.imported, updated=job.updated, unchanged=job.unchanged, skipped=job.skipped))
    if job.state not in FINAL:
        command = f"manage.py memory_{job.kind} --resume {job.pk}"
        write(_("Stopped. To go on: {command}").format(command=command))


@contextmanager
def stopping_on_interrupt() -> Iterator[threading.Event]:
    """The first Ctrl-C asks to stop after the files at hand; the second one ends the process, which loses nothing either."""
    stopping = threading.Event()

    def stop(number: int, frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

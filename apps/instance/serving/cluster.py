"""django-q2's cluster with one life: it never replaces a process of its own, it ends, and ``serve`` starts a new one.

A process that was killed may have held the lock of the job queue, and then its siblings wait for ever, the replacement
too (known upstream). What they were working on is offered again by the next cluster.
"""

import logging
import os
import signal
import threading
import time
import uuid
from multiprocessing import Process

from django_q.cluster import Sentinel

from apps.instance.serving.processes import die_with_parent

logger = logging.getLogger(__name__)


class Ending:
    """Whether the cluster was asked to end: an event without a lock, so that a signal handler may set it."""

    asked = False

    def set(self) -> None:
        self.asked = True

    def is_set(self) -> bool:
        return self.asked

    def wait(self, seconds: float) -> bool:
        if not self.asked:
            time.sleep(seconds)
        return self.asked


class Cluster(Sentinel):
    """The sentinel runs in this very process: one process less, and nobody between it and ``serve``."""

    def reincarnate(self, process: Process) -> None:
        logger.warning("Process %s of the job cluster ended, so the whole cluster does.", process.pid)
        os._exit(1)  # At once: a proper end would wait for siblings that may never answer. They die with this process.


def run_cluster() -> None:
    """Run jobs until SIGTERM; then finish those that run."""
    ending = Ending()
    cluster = Cluster(ending, threading.Event(), uuid.uuid4(), start=False)
    signal.signal(signal.SIGTERM, lambda *_signal: ending.set())
    os.register_at_fork(after_in_child=_be_a_child)
    cluster.start()


def _be_a_child() -> None:
    """A killed parent must not leave orphans that go on taking jobs; and SIGTERM is for the parent to understand."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()

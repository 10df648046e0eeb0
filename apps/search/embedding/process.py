"""The embedder process: it holds the model, answers questions, embeds what waits, and ends when nobody needs it (D-29).

Nothing is lost with it: vectors are derived from rows, and whoever asks lives without an answer.
"""

import logging
import os
import queue
import select
import signal
import socket
import threading
import time

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

from apps.leases.locks import process_lock
from apps.search.embedding.client import ROLE, ready_file
from apps.search.embedding.desk import Desk
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.embedding.loading import Loading
from apps.search.embedding.memory import be_modest, give_memory_back

TALKERS = 8  # Threads for conversations; who comes when all talk waits in the queue.
NICE = 19
TICK_SECONDS = 1.0
QUEUE_PAUSE = 2.0  # Between two looks at an empty queue; saving wakes it at once.
TROUBLE_PAUSE = 10.0
FAREWELL_SECONDS = 0.5
# Read when the libraries are imported, which is later. One thread each: the web processes need the other cores.
ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
}
logger = logging.getLogger(__name__)


def run(listener: socket.socket) -> None:
    """Serve until SIGTERM, or until nobody asked and nothing waited for so long that the memory is better given back."""
    os.environ.update(ENVIRONMENT)
    be_modest()
    _let_commits_wait()
    embedder = Embedder(listener)
    embedder.end_on_sigterm()
    with process_lock(ROLE):
        ready_file().unlink(missing_ok=True)
        try:
            embedder.run()
        finally:
            ready_file().unlink(missing_ok=True)


class Embedder:
    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.stopping = threading.Event()
        self.waking = threading.Event()
        self.loading = Loading()
        self.desk = Desk(self.loading, self.waking.set)
        self.worked_at = time.monotonic()
        self.is_working = False
        self.visitors: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()
        self.bell, self.ringer = socket.socketpair()  # Wakes the thread that lets visitors in.

    def end_on_sigterm(self) -> None:
        self.ringer.setblocking(False)
        signal.set_wakeup_fd(self.ringer.fileno())
        signal.signal(signal.SIGTERM, lambda *_signal: self.stopping.set())

    def stop(self) -> None:
        self.stopping.set()
        self.ringer.send(b"!")

    def run(self) -> None:
        self.loading.start()
        for number in range(TALKERS):
            threading.Thread(target=self._talk, name=f"talking-{number}", daemon=True).start()
        worker = threading.Thread(target=self._work, name="embedding", daemon=True)
        worker.start()
        try:
            self._receive()
        finally:
            self.stopping.set()
            self.waking.set()
            worker.join(FAREWELL_SECONDS)  # A batch that is being embedded is not waited for; it is embedded again.

    def _receive(self) -> None:
        """Let visitors in until it is time to end. Those who come too late stay at the door, and start the next one."""
        self.listener.setblocking(False)
        while not self.stopping.is_set() and not self._is_idle():
            ready, _writable, _failing = select.select([self.listener, self.bell], [], [], TICK_SECONDS)
            if self.listener in ready:
                try:
                    self.visitors.put(self.listener.accept()[0])
                except OSError:
                    continue  # It went away before it was let in.

    def _is_idle(self) -> bool:
        last = max(self.desk.asked_at, self.worked_at, self.loading.settled_at)
        return (
            not self.is_working
            and not self.loading.is_trying
            and time.monotonic() - last > settings.EMBEDDER_IDLE_SECONDS
        )

    def _talk(self) -> None:
        """The life of a thread for conversations; it keeps its database connection."""
        while True:
            self.desk.converse(self.visitors.get())

    def _work(self) -> None:
        """The life of the thread that embeds what waits, with what the processor has left."""
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        if not settings.EMBEDDER_WORK:
            return
        while not self.stopping.is_set():
            self.waking.clear()
            try:
                pause = 0.0 if self._worked() else QUEUE_PAUSE
            except (EmbedderUnavailable, EmbeddingUnavailable):
                pause = QUEUE_PAUSE  # The loading tells of it.
            except Exception as failure:  # The queue is durable: what failed is met again.
                logger.exception("Embedding failed; it is tried again.")
                if isinstance(failure, DatabaseError):
                    connections.close_all()
                pause = TROUBLE_PAUSE
            if pause:
                self._rest(pause)

    def _worked(self) -> bool:
        model = self.loading.get(TICK_SECONDS)
        self.is_working = True
        worked: bool = import_string(settings.EMBEDDER_WORK)(model, self.stopping.is_set)
        if worked:
            self.worked_at = time.monotonic()
        return worked

    def _rest(self, pause: float) -> None:
        if self.is_working:
            give_memory_back()
        self.is_working = False
        self.waking.wait(pause)


def _let_commits_wait() -> None:
    """Commits of this process need not reach the disk at once: vectors lost with the power are made again."""
    options = connections.settings["default"]["OPTIONS"]
    options["init_command"] = options["init_command"].replace("synchronous=FULL", "synchronous=NORMAL")

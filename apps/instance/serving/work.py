"""What the children of ``serve`` do: web, jobs, embedding, and keeping files and rows together (L-27)."""

import signal
import socket
import sys
import threading
from dataclasses import dataclass
from functools import partial

from gunicorn.app.wsgiapp import run as run_gunicorn

from apps.instance.serving.bells import release_bells
from apps.instance.serving.children import Child
from apps.instance.serving.cluster import run_cluster
from apps.instance.serving.listening import somebody_waits_at
from apps.instance.serving.state import beat
from apps.memories import keeper
from apps.search.embedding import process as embedder


@dataclass(frozen=True)
class Doors:
    """What ``serve`` listens on. Every child inherits all of it, and keeps what is its own."""

    port: socket.socket | None = None
    embedder: socket.socket | None = None

    def leave(self, *, but: socket.socket | None = None) -> None:
        for door in (self.port, self.embedder):
            if door and door is not but:
                door.close()


def web(doors: Doors, port: socket.socket) -> Child:
    def work() -> None:
        doors.leave(but=port)
        sys.argv = ["gunicorn", "-c", "python:memrelay.gunicorn", "--bind", f"fd://{port.detach()}"]
        run_gunicorn()

    return Child("web", work)


def jobs(doors: Doors) -> Child:
    def work() -> None:
        doors.leave()
        release_bells()
        run_cluster()

    return Child("jobs", work, has_family=True)


def keeping(doors: Doors) -> Child:
    def work() -> None:
        doors.leave()
        stopping = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_signal: stopping.set())
        keeper.run(stopping.is_set, beat)

    return Child("keeper", work)


def embedding(doors: Doors, listener: socket.socket) -> Child:
    """Started by the first who comes to its door: a server that nobody searches by meaning does without its memory."""

    def work() -> None:
        doors.leave(but=listener)
        embedder.run(listener)

    return Child("embedder", work, is_wanted=partial(somebody_waits_at, listener))

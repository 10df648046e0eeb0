"""What the children of ``serve`` do: web, jobs, and keeping files and rows together (L-27)."""

import signal
import socket
import sys
import threading

from gunicorn.app.wsgiapp import run as run_gunicorn

from apps.instance.serving.bells import release_bells
from apps.instance.serving.children import Child
from apps.instance.serving.cluster import run_cluster
from apps.instance.serving.state import beat
from apps.memories import keeper


def web(listener: socket.socket) -> Child:
    def work() -> None:
        sys.argv = ["gunicorn", "-c", "python:memrelay.gunicorn", "--bind", f"fd://{listener.detach()}"]
        run_gunicorn()

    return Child("web", work)


def jobs(listener: socket.socket | None) -> Child:
    def work() -> None:
        _leave(listener)
        release_bells()
        run_cluster()

    return Child("jobs", work, has_family=True)


def keeping(listener: socket.socket | None) -> Child:
    def work() -> None:
        _leave(listener)
        stopping = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_signal: stopping.set())
        keeper.run(stopping.is_set, beat)

    return Child("keeper", work)


def _leave(listener: socket.socket | None) -> None:
    """Only the web processes hold the port."""
    if listener:
        listener.close()

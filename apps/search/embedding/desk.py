"""What the embedder answers: its operations by name, each a function of the desk and the message."""

import logging
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

from apps.base import processors
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.embedding.frames import BadFrame, Message, receive, send
from apps.search.embedding.loading import Loading
from apps.search.embedding.memory import resident_kilobytes

if TYPE_CHECKING:
    from apps.search.embedding.model import EmbeddingModel, Vectors

CONVERSATION_SECONDS = 5.0  # A thread is not kept for somebody who says nothing.
LONGEST_WAIT = 30.0
SHARE_OF_WAIT = 0.8  # The rest is for the answer's way back.
QUERIES_KEPT = 512
logger = logging.getLogger(__name__)


class Desk:
    """One for the process; many threads use it. ``settings.EMBEDDER_OPERATIONS`` adds operations of other rooms."""

    def __init__(self, loading: Loading, wake: Callable[[], None]) -> None:
        self.loading = loading
        self.wake = wake
        self.asked_at = time.monotonic()
        self._queries: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._one_query = threading.Lock()
        self._keeping = threading.Lock()
        self._operations: dict[str, Callable[[Desk, Message], Message]] = {
            "ping": _ping,
            "wake": _wake,
            "health": _health,
            "embed_query": _embed_query,
            **{name: import_string(path) for name, path in settings.EMBEDDER_OPERATIONS.items()},
        }

    def model(self, message: Message) -> "EmbeddingModel":
        """The loaded model. Raises ``EmbedderUnavailable`` where it is not there within the time the caller waits."""
        return self.loading.get(_wait_of(message))

    def query_vector(self, text: str, message: Message) -> "Vectors":
        """The vector of a question; what was asked lately is remembered."""
        model = self.model(message)
        kept = (model.key, text)
        if (vector := self._queries.get(kept)) is None:
            with self._turn_at(model):
                vector = model.embed_query(text)
        with self._keeping:
            self._queries[kept] = vector
            self._queries.move_to_end(kept)
            if len(self._queries) > QUERIES_KEPT:
                self._queries.popitem(last=False)
        return vector

    def _turn_at(self, model: "EmbeddingModel") -> AbstractContextManager[Any]:
        """Questions take turns where two at once would only share the core; an endpoint has cores of its own."""
        return nullcontext() if getattr(model, "is_remote", False) else self._one_query

    def converse(self, connection: socket.socket) -> None:
        """Answer until the other side is content, says nothing, or says nonsense. A hint is not answered."""
        with connection:
            connection.settimeout(CONVERSATION_SECONDS)
            try:
                while (message := receive(connection)) is not None:
                    if message.get("hint"):
                        processors.keep_off(threading.get_native_id(), message.get("processor"))
                        self.answer(message)
                    else:
                        send(connection, self.answer(message))
            except BadFrame as nonsense:
                logger.warning("A conversation with the embedder ended: %s", nonsense)
            except OSError:
                return  # It has gone, or says nothing any more.

    def answer(self, message: Message) -> Message:
        """One answer. Whatever goes wrong with one question is told to its asker, and the others go on."""
        operation = self._operations.get(str(message.get("op")))
        if operation is None:
            return {"error": "UNKNOWN_OPERATION"}
        if operation not in (_ping, _health, _wake):  # A question keeps the process; being looked at does not.
            self.asked_at = time.monotonic()
        try:
            return operation(self, message)
        except EmbedderUnavailable as failure:
            return {"error": failure.reason.upper()}
        except EmbeddingUnavailable as failure:
            self.loading.try_again()
            return {"error": failure.code, "message": str(failure)}
        except DatabaseError:
            logger.exception("The embedder's operation %s failed.", message.get("op"))
            connections.close_all()
            return {"error": "FAILED"}
        except Exception:  # One bad question must not take the thread from the next one.
            logger.exception("The embedder's operation %s failed.", message.get("op"))
            return {"error": "FAILED"}


def _wait_of(message: Message) -> float:
    wait = message.get("wait")
    return min(LONGEST_WAIT, float(wait) * SHARE_OF_WAIT) if isinstance(wait, int | float) and wait > 0 else 0.0


def _ping(desk: Desk, message: Message) -> Message:
    return {"pong": True}


def _wake(desk: Desk, message: Message) -> Message:
    desk.wake()
    return {}


def _health(desk: Desk, message: Message) -> Message:
    model = desk.loading.model
    told: dict[str, Any] = {
        "model": model.key if model else None,
        "trouble": str(desk.loading.trouble or ""),
        "resident_kilobytes": resident_kilobytes(),
        "quiet_seconds": round(time.monotonic() - desk.asked_at, 1),
    }
    return told


def _embed_query(desk: Desk, message: Message) -> Message:
    vector = desk.query_vector(str(message["text"]), message)
    model = desk.model(message)
    return {"model": model.key, "vector": [float(figure) for figure in vector]}

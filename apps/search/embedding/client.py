"""How every other process asks the embedder. Light: no numpy, no model."""

import select
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from apps.base import processors
from apps.base.transactions import outside_transactions
from apps.leases.locks import role_is_served
from apps.search.embedding.errors import EmbedderUnavailable
from apps.search.embedding.frames import BadFrame, Message, address_of, receive, send, socket_file

ROLE = "embedder"  # Whose lock it holds while it runs.
CONNECT_SECONDS = 0.5
WAKE_SECONDS = 1.0


def ready_file() -> Path:
    """There once the running embedder has its model, or knows why not."""
    return socket_file().with_suffix(".ready")


class Conversation:
    """One connection. ``call`` asks and waits; ``start`` and ``answer`` do the same in two steps, for work in between.
    ``hint`` says what comes.

    Raises ``EmbedderUnavailable``; after that the conversation is over.
    """

    @outside_transactions
    def __init__(self, *, timeout: float = CONNECT_SECONDS) -> None:
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._connection.settimeout(timeout)
        try:
            with address_of(socket_file()) as address:
                self._connection.connect(address)
        except OSError as failure:
            self._connection.close()
            raise _unavailable(failure) from failure

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(self, message: Mapping[str, Any], timeout: float) -> Message:
        """Ask, and wait so many seconds for the answer."""
        self.start(message, timeout)
        return self.answer(timeout)

    def start(self, message: Mapping[str, Any], timeout: float) -> None:
        """Ask, and wait for nothing. ``timeout`` tells the embedder how long somebody will wait for it."""
        try:
            self._connection.settimeout(timeout)
            send(self._connection, {**message, "wait": timeout})
        except (OSError, BadFrame) as failure:
            self.close()
            raise _unavailable(failure) from failure

    def hint(self, message: Mapping[str, Any], timeout: float) -> None:
        """Say what will be asked next, so that it is prepared while the caller goes on; there is no answer."""
        self.start({**message, "hint": True, "processor": processors.here()}, timeout)
        processors.make_way()  # Who prepares it may have been woken up on this processor, and leaves it.

    def answer(self, timeout: float) -> Message:
        """The answer to what was started first."""
        try:
            self._connection.settimeout(max(timeout, 0.001))
            answer = receive(self._connection)
        except (OSError, BadFrame) as failure:
            self.close()
            raise _unavailable(failure) from failure
        if answer is None:
            self.close()
            raise EmbedderUnavailable(reason="not_running")
        if "error" in answer:
            raise EmbedderUnavailable(
                answer.get("message") or None, reason=str(answer["error"]).lower(), detail=answer.get("message", "")
            )
        return answer

    @property
    def has_answer(self) -> bool:
        """Whether somebody has answered already, or gone."""
        asked = select.poll()  # ``select`` itself takes no descriptor above 1,023.
        asked.register(self._connection, select.POLLIN)
        return bool(asked.poll(0))

    def close(self) -> None:
        self._connection.close()


def wake() -> bool:
    """Tell the embedder that work waits, starting it if need be; say whether somebody holds its socket."""
    try:
        with Conversation() as conversation:
            conversation.start({"op": "wake"}, WAKE_SECONDS)
    except EmbedderUnavailable:
        return False
    return True


def _unavailable(failure: OSError | ValueError) -> EmbedderUnavailable:
    match failure:
        case TimeoutError() | BlockingIOError():
            # While libraries are imported it may be too busy to say that it starts.
            return EmbedderUnavailable(reason="timeout" if ready_file().exists() else "embedder_starting")
        case FileNotFoundError() | ConnectionError():
            return EmbedderUnavailable(reason="not_running")
        case _:
            return EmbedderUnavailable(reason="failed")


def ask_health(timeout: float = 1.0) -> Message:
    """What the running embedder says of itself. One that rests is left alone: ``reason`` is ``resting``."""
    if not role_is_served(ROLE):
        raise EmbedderUnavailable(reason="resting")
    began = time.monotonic()
    with Conversation(timeout=timeout) as conversation:
        return conversation.call({"op": "health"}, max(0.1, timeout - (time.monotonic() - began)))

"""One answer for one request: retries of what passes, and the endpoint's dialect learnt on the way.

At most three retries follow the first try (D-13). A request that the endpoint refuses for a parameter is said without
it; that is another request, not another try, and cannot go on for long: a dialect only ever gets smaller.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from django.conf import settings

from apps.base.transactions import outside_transactions
from apps.llm.calls import Tally
from apps.llm.connections import OpenConnection
from apps.llm.dialects import Dialect, adapted, refuses_streams
from apps.llm.errors import ModelRateLimited, ModelRequestRejected, ModelUnavailable, ModelUnreachable
from apps.llm.protocols import Reply, Wanted
from apps.llm.remote import Abandoned, exchange

RETRIES = 3
LONGEST_PAUSE = 60.0  # Who is asked to wait longer gives the worker back and is woken later.
LOOK_SECONDS = 1.0

WhileWaiting = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Voice:
    """How the endpoint is spoken to."""

    dialect: Dialect
    streams: bool = False
    has_switched: bool = False  # Between streaming and not: once is enough.

    def quieter(self, complaint: str) -> "Voice | None":
        """The same without what was refused; ``None`` if nothing can be left out."""
        if smaller := adapted(self.dialect, complaint):
            return replace(self, dialect=smaller)
        if refuses_streams(complaint) and not self.has_switched:
            return replace(self, streams=not self.streams, has_switched=True)
        return None


@outside_transactions
def converse(
    connection: OpenConnection,
    voice: Voice,
    wanted: Wanted,
    tally: Tally,
    *,
    retries: int = RETRIES,
    timeout: float,
    while_waiting: WhileWaiting | None = None,
) -> tuple[Reply, Voice]:
    """The model's reply, and the voice that it listened to. Raises the last ``ModelError``."""
    failures = 0
    while True:
        tally.requests += 1
        try:
            reply = _exchange(connection, voice, wanted, timeout, while_waiting)
        except ModelRequestRejected as rejection:
            quieter = voice.quieter(rejection.complaint)
            if quieter is None:
                raise
            voice = quieter
        except ModelUnavailable as failure:
            if failure.http_status is None and not isinstance(failure, ModelUnreachable):
                tally.perhaps_billed()
            failures += 1
            pause = pause_before(failures, failure)
            if failures > retries or pause is None:
                raise
            _sleep(pause, while_waiting)
        else:
            tally.answered(reply)
            return reply, replace(voice, streams=reply.streamed)


def pause_before(retry: int, failure: ModelUnavailable) -> float | None:
    """Seconds before this retry; ``None`` if none is worth while."""
    if isinstance(failure, ModelRateLimited) and failure.quota_is_gone:
        return None
    asked_for = failure.facts.get("seconds")
    if asked_for is not None:
        return float(asked_for) if asked_for <= LONGEST_PAUSE else None
    pause: float = settings.MODEL_RETRY_SECONDS * 2 ** (retry - 1)
    return min(pause, LONGEST_PAUSE) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads clients, keeps no secret


def _exchange(
    connection: OpenConnection, voice: Voice, wanted: Wanted, timeout: float, while_waiting: WhileWaiting | None
) -> Reply:
    abandoned = threading.Event()

    def do() -> Reply:
        return exchange(connection, voice.dialect, wanted, streams=voice.streams, timeout=timeout, abandoned=abandoned)

    if while_waiting is None:
        return do()
    return _watched(do, while_waiting, abandoned)


def _watched(do: Callable[[], Reply], while_waiting: WhileWaiting, abandoned: threading.Event) -> Reply:
    """Do it in a thread, and let the caller look around every second.

    A look that raises ends the waiting at once. The thread notices with its next piece of the stream, or when its
    request times out; whatever it still hears is thrown away.
    """
    outcome: list[Reply | BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(do())
        except Abandoned:
            pass
        except BaseException as error:  # Whatever it is, it belongs to the one who waits.
            outcome.append(error)
        finally:
            done.set()

    began = time.monotonic()
    threading.Thread(target=work, name="model-call", daemon=True).start()
    try:
        while not done.wait(LOOK_SECONDS):
            while_waiting(time.monotonic() - began)
    except BaseException:
        abandoned.set()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _sleep(seconds: float, while_waiting: WhileWaiting | None) -> None:
    began = time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0:
        time.sleep(min(left, LOOK_SECONDS))
        if while_waiting is not None:
            while_waiting(time.monotonic() - began)

"""Two threads that work at the same time do not share a processor."""

import os
import threading
from collections.abc import Iterator

import pytest

from apps.base import processors

ALL = os.sched_getaffinity(0)


class Sleeper:
    """A thread that waits."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._over.wait)
        self._thread.start()
        assert self._thread.native_id is not None
        self.number: int = self._thread.native_id

    def end(self) -> None:
        self._over.set()
        self._thread.join()


@pytest.fixture
def sleeper() -> Iterator[Sleeper]:
    one = Sleeper()
    yield one
    one.end()


def test_a_thread_knows_where_it_runs() -> None:
    assert processors.here() in ALL


def test_a_thread_keeps_off_one_processor_at_a_time(sleeper: Sleeper) -> None:
    for number in sorted(ALL):
        processors.keep_off(sleeper.number, number)
        assert os.sched_getaffinity(sleeper.number) == (ALL - {number} or ALL)
    assert os.sched_getaffinity(0) == ALL


def test_who_knows_no_processor_or_no_thread_any_more_changes_nothing(sleeper: Sleeper) -> None:
    for nothing in (None, "0", [0]):
        processors.keep_off(sleeper.number, nothing)  # type: ignore[arg-type]
    assert os.sched_getaffinity(sleeper.number) == ALL
    sleeper.end()
    processors.keep_off(sleeper.number, min(ALL))
    assert os.sched_getaffinity(0) == ALL


def test_where_the_system_tells_nothing_all_goes_on(sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "_sched_getcpu", lambda: None)
    assert processors.here() is None
    for name in ("sched_getaffinity", "sched_yield"):
        monkeypatch.delattr(os, name)
    processors.keep_off(sleeper.number, 0)
    processors.make_way()

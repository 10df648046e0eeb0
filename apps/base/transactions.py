"""Short transactions, and the guard that keeps slow work out of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection, transaction

P = ParamSpec("P")
R = TypeVar("R")


class SlowWorkInTransaction(RuntimeError):
    """A defect of ours: something slow was called while SQLite's only writer was held."""


def outside_transactions(function: Callable[P, R]) -> Callable[P, R]:
    """Mark work that leaves the process: files, Git, the model, OCR, the network.

    SQLite has one writer. Whoever holds its transaction while a disk or a network thinks holds up every other request.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        if in_transaction():
            raise SlowWorkInTransaction(f"{function.__qualname__} was called inside a transaction.")
        return function(*args, **kwargs)

    return guarded


def in_transaction() -> bool:
    """Whether a transaction of our own is open; the one a test case wraps around everything does not count."""
    return any(not getattr(block, "_from_testcase", False) for block in connection.atomic_blocks)


@contextmanager
def short_transaction() -> Iterator[None]:
    """One IMMEDIATE transaction (settings: ``transaction_mode``); inside another one it joins that."""
    with transaction.atomic():
        yield

"""The threads in which MCP calls reach the database: few, each with a connection that it keeps (D-28)."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")


class Threads:
    """A small pool. SQLite has one writer, so that more threads would only queue behind each other."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="mcp")

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Do synchronous work; the request's id and language go with it."""
        whole = partial(_in_good_order, partial(work, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, whole)

    def close(self) -> None:
        """Let what runs come to its end."""
        self._pool.shutdown(wait=True)


def _in_good_order(work: Callable[[], R]) -> R:
    try:
        return work()
    finally:
        for connection in connections.all(initialized_only=True):
            connection.close_if_unusable_or_obsolete()  # Does nothing inside a transaction.

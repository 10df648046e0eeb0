"""Going through all rows that a question is held against, by two threads.

More would take the processors that everything else on a small server needs.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from apps.base import processors
from apps.search.vectors.blocks import Block, Floats, Part
from apps.search.vectors.packed import Question


def scan(blocks: Sequence[tuple[Block, Question]]) -> list[Floats]:
    """For each block the scores of all its rows for its question, each at most ``error`` times its length off."""
    found = [np.empty(block.count, np.float32) for block, _ in blocks]
    work = [part for (block, question), near in zip(blocks, found, strict=True) for part in block.parts(question, near)]
    work.sort(key=lambda part: part.rows, reverse=True)  # The small ones last, so that both end at about the same time.
    left = iter(work)  # Taken from by both, so that neither waits for one that got less of its processor.
    if len(work) > 1:
        helper, thread = _helper()
        processors.keep_off(thread, processors.here())
        helped = helper.submit(_finish, left)
        _finish(left)
        helped.result()
    else:
        _finish(left)
    return found


def _finish(left: Iterator[Part]) -> None:
    for part in left:
        part.do()


@cache
def _helper() -> tuple[ThreadPoolExecutor, int]:
    """The second thread and its native id. Made at the first scan, so that no process which merely imports this has threads."""
    helper = ThreadPoolExecutor(1, "scan")
    return helper, helper.submit(threading.get_native_id).result()

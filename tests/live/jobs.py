"""Jobs for tests: what they do can be seen from outside."""

import os
import time
from pathlib import Path


def note(file: str) -> None:
    """Say that a job ran."""
    _append(file, "ran")


def take_a_while(file: str) -> None:
    """Say that a job began, work for some seconds, say that it ended; each with the process that does it."""
    _append(file, "began")
    time.sleep(4)
    _append(file, "ended")


def _append(file: str, line: str) -> None:
    with Path(file).open("a") as out:
        out.write(f"{line} {os.getpid()}\n")

"""File locks: the kernel holds them and gives them back when their process ends, however it ends.

One descriptor for each acquisition, so that threads exclude each other as processes do. Lock files are never removed.
"""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote

from django.conf import settings

from apps.base.transactions import outside_transactions
from apps.leases.descriptors import PrivateFile
from apps.leases.errors import AlreadyServing, LockTaken

FIRST_PAUSE, LONGEST_PAUSE = 0.002, 0.05
PROBE_SECONDS = 0.5  # Somebody who only asks whether a role is served holds its lock for a moment.


@contextmanager
def file_lock(path: Path, *, blocking: bool = True, timeout: float | None = None) -> Iterator[None]:
    """Hold the lock of a file; raise ``LockTaken`` if it is not free (at once, or within the timeout)."""
    file = PrivateFile(path)
    try:
        if not _acquired(file, timeout if blocking else 0):
            raise LockTaken
        yield
    finally:
        file.close()


@outside_transactions
def scope_lock(scope_key: str, *, timeout: float | None = None) -> AbstractContextManager[None]:
    """Hold a scope for the work on its files: the first of the locks in the order."""
    return file_lock(Path(settings.RUN_FOLDER) / "locks" / "scopes" / quote(scope_key, safe=""), timeout=timeout)


@contextmanager
def process_lock(role: str) -> Iterator[None]:
    """Be the only server of a role on this data folder, or raise ``AlreadyServing`` (L-26)."""
    file = PrivateFile(_role_file(role))
    try:
        if not _acquired(file, PROBE_SECONDS):
            raise AlreadyServing(role=role)
        yield
    finally:
        file.close()


def first_start_lock() -> AbstractContextManager[None]:
    """Make keys and tables once: whoever starts at the same time waits for it (L-26)."""
    return file_lock(Path(settings.RUN_FOLDER) / "locks" / "first-start")


def role_is_served(role: str) -> bool:
    """Whether some process holds the lock of the role now."""
    file = PrivateFile(_role_file(role))
    try:
        return not file.lock(shared=True, wait=False)
    finally:
        file.close()


def _role_file(role: str) -> Path:
    return Path(settings.RUN_FOLDER) / "locks" / f"serve-{role}"


def _acquired(file: PrivateFile, timeout: float | None) -> bool:
    if timeout is None:
        return file.lock()
    deadline, pause = time.monotonic() + timeout, FIRST_PAUSE
    while not file.lock(wait=False):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(pause * 2, LONGEST_PAUSE)
    return True

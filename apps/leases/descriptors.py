"""Open files whose locks belong to this process alone.

A ``flock`` belongs to the open file, and a forked child inherits open files: a lock held through one that the
child still has open outlives its holder. So the child closes them first thing, and a program started by
``exec`` never sees them.
"""

import fcntl
import os
import threading
from pathlib import Path

_opening = threading.Lock()


class PrivateFile:
    """One descriptor, opened for one acquisition; made with its folder where it does not exist."""

    def __init__(self, path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> None:
        with _opening:  # No fork between the opening and the note of it.
            self.descriptor = _opened(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)
            _open_files.add(self)

    def lock(self, *, shared: bool = False, wait: bool = True) -> bool:
        """Take the lock; without waiting, say whether it was free."""
        how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
        try:
            fcntl.flock(self.descriptor, how)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Give the lock and the descriptor back; in a child that only inherited them, nothing."""
        _open_files.discard(self)
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # A child being forked right now may still have a copy.
            os.close(descriptor)

    def is_still_at(self, path: Path) -> bool:
        """Whether the path leads to this very file: it may have been removed before the lock was ours."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(path))
        except FileNotFoundError:
            return False


_open_files: set[PrivateFile] = set()


def _opened(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _forget_the_parents_files() -> None:
    for file in _open_files:
        os.close(file.descriptor)
        file.descriptor = -1
    _open_files.clear()
    _opening.release()


os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_forget_the_parents_files)

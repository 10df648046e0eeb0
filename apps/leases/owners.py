"""Owners: processes that can be asked from outside whether they still live.

An owner is a uuid whose file in ``run/owners`` its process keeps locked. The kernel frees the lock when the
process ends, so a free lock is a dead owner: no clock, process number or boot id is trusted for that
(containers share them). The owner is entered after the fork, never shared with a child.

A process can also hang with the lock in its hands. For that its file carries a beat, which a thread renews,
and who the process is. Whoever finds the beat too old ends the process first; only then is its work free (L-29).
The beat is a time of the monotonic clock: it stands still while the machine sleeps and nobody sets it.
"""

import json
import logging
import os
import signal
import threading
import uuid
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, monotonic_ns, sleep

from django.conf import settings

from apps.leases.descriptors import PrivateFile

HEARTBEAT_SECONDS = 5.0
HUNG_SECONDS = 60.0
SECOND_LOOK_SECONDS = 1.0
DYING_SECONDS = 5.0
BEAT_WIDTH = 20

logger = logging.getLogger(__name__)


class Owner:
    """This process, entered in the list of the living."""

    def __init__(self) -> None:
        self.path, self.file = _entered()
        self.identity = self.path.name
        self.stopping = threading.Event()
        self.beat()
        os.pwrite(self.file.descriptor, b"\n" + _who_this_is(), BEAT_WIDTH)
        self.heart = threading.Thread(target=self._keep_beating, name="owner-heartbeat", daemon=True)
        self.heart.start()

    def beat(self) -> None:
        self.last_beat = monotonic_ns()
        os.pwrite(self.file.descriptor, b"%0*d" % (BEAT_WIDTH, self.last_beat), 0)

    def leave(self) -> None:
        self.stopping.set()
        self.heart.join()  # It writes to the descriptor by number, which may soon be another file's.
        self.path.unlink(missing_ok=True)
        self.file.close()

    def _keep_beating(self) -> None:
        while not self.stopping.wait(HEARTBEAT_SECONDS):
            try:
                self.beat()
            except OSError:
                # A full disk must not end the thread: a later beat may go through again.
                logger.warning("The heartbeat of this process could not be written.", exc_info=True)


_mine: Owner | None = None
_entering = threading.Lock()


def this_owner() -> str:
    """The identity of this process; the first call enters it."""
    return _me().identity


def leave() -> None:
    """Be no owner any more: what this process still held is free. The next ``this_owner`` is another one."""
    global _mine
    with _entering:
        if _mine is not None:
            _mine.leave()
            _mine = None


def owner_is_alive(identity: str) -> bool:
    """Whether the process of this owner still runs, hanging or not."""
    if not identity:
        return False
    if _mine is not None and identity == _mine.identity:
        return True
    try:
        file = PrivateFile(_owner_file(identity), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not file.lock(shared=True, wait=False)  # Shared, so that two who ask do not see each other.
    finally:
        file.close()


def end_if_hung(identity: str) -> bool:
    """Kill the process of an owner that stopped beating, and say whether it is dead now.

    A process that cannot be told for certain (another container, another system than Linux) is left alone, and so
    is everybody when this process itself was just asleep: then the others were too.
    """
    seen = _record(identity)
    if seen is None or not _looks_hung(seen):
        return False
    sleep(SECOND_LOOK_SECONDS)
    again = _record(identity)
    if again is None or again.beat != seen.beat or not _killed(again):
        return False
    logger.warning("Process %d held work and no longer answered, so it was ended.", again.pid)
    return _died(identity)


def sweep_dead_owners() -> int:
    """Remove the files of owners that are no more, and say how many."""
    removed = 0
    for path in _owners_folder().glob("*"):
        try:
            file = PrivateFile(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            # The lock first: whoever enters under this name meanwhile finds his file gone and enters anew.
            if file.lock(wait=False) and file.is_still_at(path):
                path.unlink(missing_ok=True)
                removed += 1
        finally:
            file.close()
    return removed


# ------------------------------------------------------------------------------------------------ entering


def _me() -> Owner:
    global _mine
    if _mine is None:
        with _entering:
            if _mine is None:
                _mine = Owner()
    return _mine


def _entered() -> tuple[Path, PrivateFile]:
    while True:
        path = _owner_file(str(uuid.uuid4()))
        file = PrivateFile(path)
        file.lock()
        if file.is_still_at(path):
            return path, file
        file.close()  # A sweep saw the file before it was locked.


def _owners_folder() -> Path:
    return Path(settings.RUN_FOLDER) / "owners"


def _owner_file(identity: str) -> Path:
    return _owners_folder() / identity


def _be_nobody() -> None:
    """In a forked child: the parent is not me. Its file is closed by ``descriptors``."""
    global _mine, _entering
    _mine, _entering = None, threading.Lock()


os.register_at_fork(after_in_child=_be_nobody)


# ----------------------------------------------------------------------------------------------- the hanging


@dataclass(frozen=True, slots=True)
class Record:
    """What an owner's file says: its last beat, and which process it is."""

    beat: int
    pid: int
    started: int
    world: str


def _record(identity: str) -> Record | None:
    try:
        beat, who = _owner_file(identity).read_bytes().split(b"\n", 1)
        return Record(int(beat), **json.loads(who))
    except (OSError, ValueError, TypeError):
        return None  # Gone, or just being written.


def _who_this_is() -> bytes:
    pid = os.getpid()
    return json.dumps({"pid": pid, "started": _start_of(pid), "world": _world()}).encode()


def _world() -> str:
    """Where process numbers and the monotonic clock mean the same; empty where that cannot be told."""
    try:
        return " ".join(os.readlink(f"/proc/self/ns/{kind}") for kind in ("pid", "time"))
    except OSError:
        return ""


def _start_of(pid: int) -> int:
    """When the process started, in ticks; a number that is used again has another start. 0: there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[19])


def _looks_hung(record: Record) -> bool:
    now = monotonic_ns()
    if not record.world or record.world != _world() or record.pid == os.getpid():
        return False
    i_was_awake = now - _me().last_beat < HUNG_SECONDS * 1e9 / 2
    return i_was_awake and now - record.beat > HUNG_SECONDS * 1e9


def _killed(record: Record) -> bool:
    if not record.started or _start_of(record.pid) != record.started:
        return False
    try:
        os.kill(record.pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


def _died(identity: str) -> bool:
    deadline = monotonic() + DYING_SECONDS
    while owner_is_alive(identity):
        if monotonic() > deadline:
            return False
        sleep(0.01)
    return True

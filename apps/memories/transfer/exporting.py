"""Writing a scope's current Markdown into an empty folder, laid out as the scope is."""

import os
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from apps.base.ids import new_id
from apps.base.transactions import outside_transactions, short_transaction
from apps.memories.errors import FolderRefused
from apps.memories.models import Memory, Status
from apps.memories.reading import current
from apps.memories.transfer.reports import report
from apps.memories.transfer.running import State, Tally, Work

BATCH = 200
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


def run_export(work: Work) -> State:
    """One attempt at an export, from where the last one got to. Answers the state it ends in."""
    job, root = work.job, Path(work.job.folder)
    if root.is_symlink() or not root.is_dir():
        raise FolderRefused(reason=_("there is no such folder."))
    rows = Memory.objects.filter(scope=job.scope_key).exclude(status=Status.DELETED).order_by("pk")
    left = rows.filter(pk__gt=int(job.position or 0))
    work.note_total(job.done + left.count())
    while True:
        if stopped := work.stop_wanted():
            return stopped
        batch = list(rows.filter(pk__gt=int(job.position or 0))[:BATCH])
        if not batch:
            return State.COMPLETED
        tally = Tally(done=len(batch))
        for memory in batch:
            _export(root, memory, tally)
        with short_transaction():
            stored: dict[str, Any] = work.advance(tally, str(batch[-1].pk))
        work.take_over(stored)


def _export(root: Path, memory: Memory, tally: Tally) -> None:
    document = current(memory).document
    if write_new(root, memory.path, document):
        tally.imported += 1
    else:
        tally.skipped += 1
        tally.reports.append(report(memory.path, "exists"))


@outside_transactions
def write_new(root: Path, path: str, document: bytes) -> bool:
    """Put a file where none is, whole or not at all; one that holds the same already is fine (an attempt was killed).

    Folder after folder is opened by its own descriptor and never through a symbolic link, so that nothing is written
    outside of ``root``. Raises ``FolderRefused`` where the disk refuses.
    """
    *folders, name = path.split("/")
    opened = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for folder in folders:
            deeper = _opened(opened, folder)
            os.close(opened)
            opened = deeper
        return _placed(opened, name, document)
    except NotADirectoryError:
        return False
    except OSError as error:
        raise FolderRefused(reason=_("the disk refuses: {error}.").format(error=error.strerror)) from error
    finally:
        os.close(opened)


def _opened(parent: int, folder: str) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(folder, flags, dir_fd=parent)
    except FileNotFoundError:
        os.mkdir(folder, PRIVATE_FOLDER, dir_fd=parent)
        return os.open(folder, flags, dir_fd=parent)


def _placed(folder: int, name: str, document: bytes) -> bool:
    temporary = f".{new_id('export')}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(document)
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        return True
    except FileExistsError:
        return _holds(folder, name, document)
    finally:
        os.unlink(temporary, dir_fd=folder)


def _holds(folder: int, name: str, document: bytes) -> bool:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as file:
        return file.read() == document

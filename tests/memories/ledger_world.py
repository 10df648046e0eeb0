"""Tools of the ledger's tests: files as an outside editor changes them, and a look at every trace of a memory."""

import os
import time
from pathlib import Path
from typing import Any

from apps.memories.ledger.scan import ScanReport, scan
from apps.memories.ledger.sweep import SweepReport, sweep
from apps.memories.models import FileIntent, Memory, MemoryRevision, Scope
from apps.memories.scopes import file_of
from tests.world import Agent

LONG_AGO = 3600.0


def file_of_saved(saved: Any) -> Path:
    return file_of(saved.scope, saved.path)


def settle(file: Path, seconds: float = LONG_AGO) -> None:
    """Make a file look as if nobody has touched it for a while."""
    then = time.time() - seconds
    os.utime(file, (then, then))


def edit_outside(file: Path, text: str | bytes, *, settled: bool = True) -> None:
    """Write as an editor does that makes a new file and renames it."""
    document = text.encode() if isinstance(text, str) else text
    new = file.with_name(f".{file.name}.swp")
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_bytes(document)
    if settled:
        settle(new)
    os.replace(new, file)


def outside_body(file: Path, old: str, new: str, *, settled: bool = True) -> None:
    edit_outside(file, file.read_text().replace(old, new), settled=settled)


def all_durable() -> SweepReport:
    """Every intent settled, whatever lies aside examined as if time had passed."""
    report = sweep(at_once=True)
    assert not FileIntent.objects.exists()
    return report


def scanned(scope_key: str) -> ScanReport:
    """A look at the folder; where files are missing, a second one later on, when that is believed."""
    all_durable()
    report = scan(scope_key)
    if not report.waiting:
        return report
    gone = dict.fromkeys(report.waiting, "2020-01-01T00:00:00.000Z")
    Scope.objects.filter(key=scope_key).update(missing=gone)
    return scan(scope_key)


def texts(agent: Agent, memory_id: str) -> list[str]:
    """The bodies of every revision, oldest first."""
    history = agent.call("memory_history", memory_id=memory_id)
    numbers = sorted(item.revision for item in history.revisions)
    return [agent.call("memory_revision_get", memory_id=memory_id, revision=number).body for number in numbers]


def row(saved: Any) -> Memory:
    return Memory.objects.get(stable_id=saved.memory_id)


def newest(saved: Any) -> MemoryRevision:
    memory = row(saved)
    return MemoryRevision.objects.get(memory=memory, number=memory.revision)

"""Bringing a folder of Markdown in: batch by batch, each one commit that carries the job's position with it.

Between two batches other saves get their turn: a batch is as large as fits into a fraction of a second.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from apps.base.errors import MemRelayError
from apps.base.rows import insert_rows
from apps.base.text import clean_line, fold, nfc, same_slug_key, slug_for
from apps.base.transactions import short_transaction
from apps.leases.errors import LeaseLost, ScopeBusy
from apps.memories import documents, store
from apps.memories.errors import FileUnsettled, FolderRefused, HeadConflict, ReviewNeeded
from apps.memories.ledger import Committed, Deed, Outcome, commit
from apps.memories.models import FolderJob, ImportedFile, Memory, MemoryRevision, Status
from apps.memories.transfer.changes import BringIn, keep_names
from apps.memories.transfer.folders import SourceFile, as_position, place_at, place_of, shown_path, source_files
from apps.memories.transfer.notes import Note, Unfit, read_note
from apps.memories.transfer.reports import report
from apps.memories.transfer.running import State, Tally, Work
from apps.operations.caller import Caller, Origin
from apps.workspaces.errors import WorkspaceArchived, WorkspaceDeleted

NAME = "memory_import"
FIRST_BATCH = 25
BATCH_SECONDS = 0.15  # How long a batch may keep SQLite's only writer.
NOT_A_FILES_FAULT = (LeaseLost, ScopeBusy, ReviewNeeded, HeadConflict, WorkspaceArchived, WorkspaceDeleted)


@dataclass(frozen=True, slots=True)
class Known:
    """What an earlier import noted of a file."""

    pk: int
    raw_hash: str
    revision: int
    memory_pk: int
    memory_id: str
    status: str


def run_import(work: Work) -> State:
    """One attempt at an import, from where the last one got to. Answers the state it ends in."""
    return Importing(work).run()


class Importing:
    def __init__(self, work: Work) -> None:
        self.work, self.job = work, work.job
        self.root = Path(self.job.folder)
        self.scope_key = self.job.scope_key
        self.caller = caller_of(self.job)

    def run(self) -> State:
        if not self.root.is_dir():
            raise FolderRefused(reason=_("there is no such folder."))
        waiting = [file for file in self.files if place_of(file.path) > place_at(self.job.position)]
        self.work.note_total(self.job.done + len(waiting))
        start, size = 0, min(FIRST_BATCH, settings.SAVE_MANY)
        while start < len(waiting):
            if stopped := self.work.stop_wanted():
                return stopped
            batch = waiting[start : start + size]
            took = self.step(batch)
            start += len(batch)
            size = max(1, min(settings.SAVE_MANY, int(size * min(2.0, BATCH_SECONDS / max(took, 0.001)))))
        return State.COMPLETED

    @cached_property
    def files(self) -> list[SourceFile]:
        return source_files(self.root)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The names that files of this folder have: an alias never takes one of them away."""
        stems = (clean_line(PurePosixPath(file.path).stem) for file in self.files if not file.problem)
        return frozenset(key for stem in stems for key in (same_slug_key(stem), slug_for(stem)))

    def step(self, batch: Sequence[SourceFile]) -> float:
        """Bring one batch in. Where a file spoils the commit, each goes alone, so that it spoils only itself."""
        tally = Tally(done=len(batch))
        plan = self._plan(self._read(batch, tally), tally)
        started = time.monotonic()
        try:
            self._apply(plan, tally, batch[-1])
        except NOT_A_FILES_FAULT:
            raise
        except MemRelayError as error:
            if len(batch) > 1:
                return sum(self.step([file]) for file in batch)
            self._leave_out(batch[0], error)
        return time.monotonic() - started

    # Reading.

    def _read(self, batch: Sequence[SourceFile], tally: Tally) -> list[Note]:
        notes = []
        for file in batch:
            try:
                notes.append(self._note(file))
            except Unfit as unfit:
                tally.skipped += 1
                tally.reports.append(report(shown_path(file.path), unfit.code, unfit.detail))
        return notes

    def _note(self, file: SourceFile) -> Note:
        if file.problem:
            raise Unfit(file.problem, str(file.size) if file.problem == "too_large" else "")
        try:
            read = store.read(self.root / file.path)
        except OSError as error:
            raise Unfit("unreadable") from error
        if read is None:
            raise Unfit("vanished")
        if len(read[0]) > settings.IMPORT_FILE_BYTES:
            raise Unfit("too_large", str(len(read[0])))
        return read_note(file.path, read[0], read[1].mtime / 1e9)

    # Deciding.

    def _plan(self, notes: Sequence[Note], tally: Tally) -> list["Planned"]:
        """What each note leads to: nothing, a new revision, a new memory. The ledger decides the rest on its own rows."""
        known = self._known(notes)
        twins = self._twins([note for note in notes if self.source(note) not in known])
        plan: list[Planned] = []
        for note in notes:
            before = known.get(self.source(note))
            if before and before.raw_hash == note.raw_hash:
                tally.unchanged += 1
                if before.status == Status.DELETED:
                    tally.reports.append(report(note.path, "deleted_here", before.memory_id))
            elif before:
                change = BringIn(note=note, memory_id=before.memory_id, revision=before.revision)
                plan.append(Planned(note, before, change))
            elif twin := twins.get(note.path):
                tally.unchanged += 1
                plan.append(Planned(note, None, None, twin))
            else:
                plan.append(Planned(note, None, BringIn(note=note)))
        return plan

    def source(self, note: Note) -> str:
        """The file's identity: its folder on this machine and its path there, in one Unicode form (L-16)."""
        return f"{nfc(shown_path(str(self.root)))}\n{note.path}"

    def _known(self, notes: Sequence[Note]) -> dict[str, Known]:
        rows = ImportedFile.objects.filter(scope=self.scope_key, source__in=[self.source(note) for note in notes])
        columns = ("source", "pk", "raw_hash", "revision", "memory_id", "memory__stable_id", "memory__status")
        return {source: Known(*rest) for source, *rest in rows.values_list(*columns)}

    def _twins(self, notes: Sequence[Note]) -> dict[str, tuple[int, int]]:
        """Memories that are these very notes although no row says so, as after a rebuild or out of an export.

        Told by the note's own id or by its place, and by its text; answers row and revision by the note's path.
        """
        if not notes:
            return {}
        by_key: dict[str, Note] = {}
        for note in notes:
            by_key[note.stable_id or fold(note.place or "")] = note
        rows = Memory.objects.filter(scope=self.scope_key)
        found = list(rows.filter(path_key__in=[key for key, note in by_key.items() if not note.stable_id]))
        if ids := [key for key, note in by_key.items() if note.stable_id]:
            found += list(rows.filter(stable_id__in=ids))
        twins: dict[str, tuple[int, int]] = {}
        for memory in found:
            note = by_key.get(memory.stable_id) or by_key[memory.path_key]
            if memory.status != Status.DELETED and _same_text(memory, note):
                twins[note.path] = (memory.pk, memory.revision)
        return twins

    def _free_names(self, note: Note) -> tuple[str, ...]:
        if not note.names:
            return ()
        stem = clean_line(PurePosixPath(note.path).stem)
        own = (same_slug_key(stem), slug_for(stem))
        return tuple(name for name in note.names if name in own or name not in self.stems)

    # Doing.

    def _apply(self, plan: Sequence["Planned"], tally: Tally, last: SourceFile) -> None:
        changes = [planned.change for planned in plan if planned.change]
        position = as_position(last.path)
        stored: dict[str, Any] = {}

        def within(done: Sequence[Committed]) -> None:
            outcomes = iter(done[0].outcomes if done else ())
            stored.update(self._record(plan, outcomes, replace_reports(tally), position))

        if changes:
            commit(self.caller, self.scope_key, changes, Deed(NAME, operation=self.job.operation, within=within))
        else:
            with short_transaction():
                within([])
        self.work.take_over(stored)

    def _record(self, plan: Sequence["Planned"], outcomes: Any, tally: Tally, position: str) -> dict[str, Any]:
        """Note what became of each file, and move the job on, in the commit's own transaction."""
        new: list[ImportedFile] = []
        names: dict[int, tuple[str, ...]] = {}
        for planned in plan:
            memory_pk, revision = planned.twin or (0, 0)
            if planned.change:
                outcome: Outcome = next(outcomes)
                memory_pk, revision = outcome.memory.pk, outcome.memory.revision
                _count(planned, outcome, tally)
                names[memory_pk] = self._free_names(planned.note)
            if planned.before:
                ImportedFile.objects.filter(pk=planned.before.pk).update(
                    memory=memory_pk, raw_hash=planned.note.raw_hash, revision=revision
                )
            else:
                new.append(
                    ImportedFile(
                        scope_id=self.scope_key,
                        source=self.source(planned.note),
                        memory_id=memory_pk,
                        raw_hash=planned.note.raw_hash,
                        revision=revision,
                    )
                )
        insert_rows(new, keys=False)
        keep_names(self.scope_key, names)
        return self.work.advance(tally, position)

    def _leave_out(self, file: SourceFile, error: MemRelayError) -> None:
        code = "unsettled" if isinstance(error, FileUnsettled) else "refused"
        told = report(shown_path(file.path), code, str(error))
        with short_transaction():
            stored = self.work.advance(Tally(done=1, skipped=1, reports=[told]), as_position(file.path))
        self.work.take_over(stored)


@dataclass(frozen=True, slots=True)
class Planned:
    note: Note
    before: Known | None
    change: BringIn | None
    twin: tuple[int, int] | None = None


def _same_text(memory: Memory, note: Note) -> bool:
    document = MemoryRevision.objects.values_list("document", flat=True).get(memory=memory, number=memory.revision)
    return documents.body_of(bytes(document)) == documents.body_of(note.document)


def _count(planned: Planned, outcome: Outcome, tally: Tally) -> None:
    was_updated = planned.before is not None and outcome.memory.stable_id == planned.before.memory_id
    tally.updated += was_updated
    tally.imported += not was_updated
    for code in ("changed_on_both_sides", "id_taken"):
        if code in outcome.warnings:
            tally.reports.append(report(planned.note.path, code, outcome.memory.stable_id))
    if planned.note.problems:
        tally.reports.append(report(planned.note.path, "broken_frontmatter", planned.note.problems))


def replace_reports(tally: Tally) -> Tally:
    """A tally of one try: a transaction that fails must not leave its counts in the next one."""
    return replace(tally, reports=[*tally.reports])


def caller_of(job: FolderJob) -> Caller:
    """Whoever started the job, with the origin and token it had then."""
    caller = Caller.for_job(job)
    if job.operation is None:
        return caller
    return replace(caller, origin=Origin(job.operation.origin), token_id=job.operation.token_id or None)

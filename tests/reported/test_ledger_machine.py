"""The ledger against a simple model, by a machine that invents its own stories.

Deeds of agents, an editor's hands in the folder, crashes before the files are written, sweeps and scans, in any order.
After each settling everything that was ever acknowledged or written outside is in some revision, and rows, files, index,
log and numbers agree.
"""

import itertools
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.db import transaction
from django.test import override_settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from apps.base.errors import MemRelayError
from apps.changes.models import Change
from apps.memories import store
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import sweep
from apps.memories.models import FileIntent, LogicalOperation, Memory, MemoryRevision, Scope, ScopeCommit
from apps.memories.scopes import file_of, folder_of
from apps.operations.caller import Caller
from apps.search.models import Document
from tests.world import Agent, World, call

SCOPES = ["global/bob", "global/shared"]
TITLES = ["Tea", "茶", "Über tea", "tea!"]
ORDINARY = {"TITLE_TAKEN", "WRONG_STATE", "REVISION_CONFLICT", "INVALID", "MEMORY_NOT_FOUND"}
picks = st.integers(min_value=0, max_value=1000)
crashes = st.sampled_from([False, False, False, True])


@dataclass
class Kept:
    """What the model knows of one memory; ``certain`` until somebody outside has had a hand in it."""

    status: str
    body: str
    certain: bool = True


class LedgerMachine(RuleBasedStateMachine):
    agent: Agent
    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block._from_testcase = True  # type: ignore[attr-defined]
        self.block.__enter__()
        self.numbers = itertools.count(1)
        self.kept: dict[str, Kept] = {}
        self.acknowledged: set[str] = set()
        self.outside: dict[Path, str] = {}  # The last text of an editor in each file.
        self.renamed: set[str] = set()  # These may have a twin, which brings a deleted one back.
        place = Path(tempfile.mkdtemp(dir=self.folder))
        self.overridden = override_settings(
            MEMORIES_FOLDER=place / "memories", RUN_FOLDER=place / "run", SETTLE_SECONDS=0.0
        )
        self.overridden.enable()
        self.perform("memory_save", title="Anchor", body=self.text())  # So that no scope is ever empty.
        self.perform("memory_save", title="Anchor", body=self.text(), scope="shared")

    def teardown(self) -> None:
        try:
            self.settle_and_compare()
        finally:
            self.overridden.disable()
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    # Deeds.

    def text(self) -> str:
        return f"text-{next(self.numbers)}-end\n"

    def perform(self, name: str, *, crash: bool = False, **arguments: Any) -> Any:
        with crashing() if crash else nullcontext():
            try:
                return self.agent.call(name, **arguments)
            except MemRelayError as refused:
                assert refused.code in ORDINARY, refused.as_dict()
                return None

    def one(self, pick: int) -> str:
        return sorted(self.kept)[pick % len(self.kept)]

    def revision(self, memory_id: str) -> int:
        return Memory.objects.get(stable_id=memory_id).revision

    def note(self, done: Any, body: str | None = None) -> None:
        if done is None:
            return
        known = self.kept.get(done.memory_id)
        if known is None:
            self.kept[done.memory_id] = Kept("active", body or "")
        else:
            known.status = getattr(done, "status", "deleted")
            known.body = known.body if body is None else body
        if body:
            self.acknowledged.add(body)

    @rule(title=st.sampled_from(TITLES), new=st.booleans(), scope=st.sampled_from(["global", "shared"]), crash=crashes)
    def save(self, title: str, new: bool, scope: str, crash: bool) -> None:
        body = self.text()
        if_exists = "new" if new else "refuse"
        self.note(
            self.perform("memory_save", crash=crash, title=title, body=body, scope=scope, if_exists=if_exists), body
        )

    @precondition(lambda self: self.kept)
    @rule(pick=picks, crash=crashes)
    def update(self, pick: int, crash: bool) -> None:
        memory_id, body = self.one(pick), self.text()
        revision = self.revision(memory_id)
        done = self.perform("memory_update", crash=crash, memory_id=memory_id, revision=revision, body=body)
        self.note(done, body)

    @precondition(lambda self: self.kept)
    @rule(pick=picks, crash=crashes)
    def append(self, pick: int, crash: bool) -> None:
        memory_id, text = self.one(pick), self.text()
        done = self.perform("memory_append", crash=crash, memory_id=memory_id, text=text)
        if done is not None:
            self.acknowledged.add(text)
            self.kept[memory_id].body = f"{self.kept[memory_id].body}\n{text}"

    @precondition(lambda self: self.kept)
    @rule(pick=picks, crash=crashes, deed=st.sampled_from(["archive", "unarchive", "delete", "restore"]))
    def keep(self, pick: int, crash: bool, deed: str) -> None:
        self.note(self.perform(f"memory_{deed}", crash=crash, memory_id=self.one(pick)))

    @precondition(lambda self: self.kept)
    @rule(pick=picks, to=picks, crash=crashes)
    def revert(self, pick: int, to: int, crash: bool) -> None:
        memory_id = self.one(pick)
        number = 1 + to % self.revision(memory_id)
        done = self.perform("memory_revert", crash=crash, memory_id=memory_id, to_revision=number)
        if done is not None:
            body = self.agent.call("memory_revision_get", memory_id=memory_id, revision=number).body
            self.kept[memory_id].body = body

    @precondition(lambda self: self.kept)
    @rule(pick=picks, scope=st.sampled_from(["global", "shared"]), crash=crashes)
    def move(self, pick: int, scope: str, crash: bool) -> None:
        self.note(self.perform("memory_move", crash=crash, memory_id=self.one(pick), to_scope=scope))

    # An editor in the folder.

    def file(self, memory_id: str) -> Path | None:
        memory = Memory.objects.get(stable_id=memory_id)
        file = file_of(memory.scope_id, memory.path)
        return file if file.exists() and memory.status != "deleted" else None

    def touched(self, memory_id: str, file: Path, before: str) -> None:
        self.kept[memory_id].certain = False
        # What nobody has seen, its own author may overwrite; also where a save has moved it out of its way since.
        self.outside = {place: text for place, text in self.outside.items() if place != file and text not in before}

    @precondition(lambda self: self.kept)
    @rule(pick=picks, headless=st.booleans())
    def edit_outside(self, pick: int, headless: bool) -> None:
        memory_id, text = self.one(pick), self.text()
        file = self.file(memory_id)
        if file is None:
            return
        settled = not FileIntent.objects.exists()
        head, rule_, _body = file.read_text().rpartition("---\n")
        new, before = file.with_name(".editor.swp"), file.read_text()
        new.write_text(text if headless else f"{head}{rule_}{text}")
        os.replace(new, file)
        certain = self.kept[memory_id].certain and settled
        self.touched(memory_id, file, before)
        self.outside[file] = text
        if certain:
            self.kept[memory_id].body, self.kept[memory_id].certain = text, True

    @precondition(lambda self: self.kept)
    @rule(pick=picks)
    def rename_outside(self, pick: int) -> None:
        memory_id = self.one(pick)
        file = self.file(memory_id)
        if file is None:
            return
        text = self.outside.get(file)
        new = file.with_name(f"renamed-{next(self.numbers)}.md")
        os.rename(file, new)
        self.touched(memory_id, file, "")
        self.renamed.add(memory_id)
        if text:
            self.outside[new] = text

    @precondition(lambda self: self.kept)
    @rule(pick=picks)
    def delete_outside(self, pick: int) -> None:
        memory_id = self.one(pick)
        file = self.file(memory_id)
        if file is not None:
            before = file.read_text()
            file.unlink()
            self.touched(memory_id, file, before)

    @rule(scope=st.sampled_from(SCOPES), name=st.sampled_from(["", "tea.md", "new.md"]))
    def write_outside(self, scope: str, name: str) -> None:
        """A new file, sometimes where a memory would like to lie."""
        anchor = Memory.objects.filter(scope=scope).earliest("pk")
        file = file_of(scope, anchor.path).with_name(name or f"note-{next(self.numbers)}.md")
        if not file.exists() and file.parent.is_dir():
            text = self.text()
            file.write_text(text)
            self.outside[file] = text

    # The keeper.

    @rule(at_once=st.booleans())
    def sweep_once(self, at_once: bool) -> None:
        sweep(at_once=at_once, also=SCOPES)

    @rule(scope=st.sampled_from(SCOPES))
    def scan_once(self, scope: str) -> None:
        scan(scope)

    @rule()
    def settle_and_compare(self) -> None:
        for _round in range(3):
            sweep(at_once=True, also=SCOPES)
            for scope in SCOPES:
                if scan(scope).alarm:
                    call(Caller.for_command(), "scope_alarm_decide", scope=scope, decision="restore_files")
        sweep(at_once=True, also=SCOPES)
        compare_rows()
        compare_files()
        self.compare_model()

    def compare_model(self) -> None:
        documents = MemoryRevision.objects.values_list("document", flat=True)
        everything = b"\n".join([*map(bytes, documents), *reported_files()]).decode()
        for text in self.acknowledged | set(self.outside.values()):
            assert text in everything, f"{text!r} is in no revision"
        for memory_id, known in self.kept.items():
            row = Memory.objects.get(stable_id=memory_id)
            body = self.agent.call("memory_revision_get", memory_id=memory_id, revision=row.revision).body
            if known.certain:
                assert (row.status, body) == (known.status, known.body)
            known.status, known.body, known.certain = row.status, body, memory_id not in self.renamed


def reported_files() -> Iterator[bytes]:
    """What lies in files that the scan cannot take in and says so: copies of a memory's file, say."""
    for scope in Scope.objects.all():
        yield from ((folder_of(scope.key) / notice["path"]).read_bytes() for notice in scope.notices)


def compare_rows() -> None:
    """Numbers without gaps, one log entry for each revision, the index exactly what lives, nothing left to do."""
    assert not FileIntent.objects.exists()
    revisions: dict[str, list[int]] = {}
    for stable_id, number in MemoryRevision.objects.values_list("memory__stable_id", "number"):
        revisions.setdefault(stable_id, []).append(number)
    memories = list(Memory.objects.all())
    for memory in memories:
        assert sorted(revisions[memory.stable_id]) == list(range(1, memory.revision + 1))
    for scope in Scope.objects.all():
        versions = ScopeCommit.objects.filter(scope=scope).order_by("version").values_list("version", flat=True)
        assert list(versions) == list(range(1, scope.version + 1))
    assert not LogicalOperation.objects.exclude(state="closed").exists()
    closings = sorted(LogicalOperation.objects.values_list("closing_number", flat=True))
    assert closings == list(range(1, len(closings) + 1))
    logged = Counter(Change.objects.exclude(kind="memory.departed").values_list("stable_id", "revision"))
    told = {(stable_id, number): 1 for stable_id, numbers in revisions.items() for number in numbers}
    assert logged == Counter(told)
    facts = ("stable_id", "scope_key", "revision", "status")
    living = {(m.stable_id, m.scope_id, m.revision, m.status) for m in memories if m.status != "deleted"}
    assert set(Document.objects.values_list(*facts)) == living


def compare_files() -> None:
    """Each living memory has its file with the newest revision's bytes; other files are reported by name."""
    for scope in Scope.objects.all():
        files = {path for path, _status in store.markdown_files(folder_of(scope.key))}
        for memory in Memory.objects.filter(scope=scope).exclude(status="deleted"):
            newest = MemoryRevision.objects.get(memory=memory, number=memory.revision)
            assert file_of(scope.key, memory.path).read_bytes() == bytes(newest.document)
            files.remove(memory.path)
        assert files == {notice["path"] for notice in scope.notices}
        assert not list(store.asides(folder_of(scope.key)))


@contextmanager
def crashing() -> Iterator[None]:
    """The rows are written and the process dies: no file follows."""
    with mock.patch("apps.memories.ledger.road.write_out", return_value=[]):
        yield


@pytest.mark.django_db
def test_whatever_happens_in_whatever_order_nothing_is_lost_and_everything_agrees(world: World, tmp_path: Path) -> None:
    LedgerMachine.agent, LedgerMachine.folder = world.bobs_agent, tmp_path
    run_state_machine_as_test(
        LedgerMachine,
        settings=hypothesis_settings(
            max_examples=int(os.environ.get("LEDGER_STORIES", "15")),
            stateful_step_count=30,
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

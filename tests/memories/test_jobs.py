"""Jobs of folders: started once, stopped, taken up, killed anywhere; each file comes in once (L-13, L-19, L-20, L-28, L-29)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils.module_loading import import_string

from apps.leases.errors import ScopeBusy
from apps.leases.models import Lease
from apps.leases.services import take, take_slot
from apps.memories import jobs
from apps.memories.errors import JobOver, JobUnknown, PathRefused
from apps.memories.jobs import ring_for_waiting, run_folder_job
from apps.memories.keeper import Keeper
from apps.memories.ledger import open_operation
from apps.memories.models import ImportedFile, LogicalOperation, Memory, MemoryRevision, ScopeCommit
from apps.memories.services.jobs import RUN
from apps.memories.transfer import importing
from apps.memories.transfer.running import FRUITLESS_ATTEMPTS, Work, job_key
from apps.operations.models import RequestReceipt
from apps.operations.receipts import RequestIdReused
from tests.memories.folder_world import bells, fill, imported, job_row
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six notes, taken in two at a time however slow the machine is."""
    settings.IMPORT_FOLDERS = [str(tmp_path / "outside")]
    settings.SAVE_MANY = 2
    monkeypatch.setattr(importing, "BATCH_SECONDS", 1e6)
    return fill(tmp_path / "outside", {f"{number}.md": f"text {number}\n" for number in range(6)})


@pytest.fixture
def alice(world: World) -> Agent:
    return world.alices_agent


class Killed(BaseException):
    """Stands for a kill: nothing catches it."""


def after_batches(monkeypatch: pytest.MonkeyPatch, count: int, deed: Callable[[], None]) -> None:
    """Do something when so many batches are behind an import."""
    take_over, seen = Work.take_over, []

    def counted(work: Work, fields: dict[str, Any]) -> None:
        take_over(work, fields)
        seen.append(fields)
        if len(seen) == count:
            deed()

    monkeypatch.setattr(Work, "take_over", counted)


def dies() -> None:
    raise Killed


def test_an_import_answers_at_once_with_a_job_that_a_bell_rings_for(alice: Agent, folder: Path) -> None:
    answer = alice.rest.post("/memories/import", folder=str(folder))
    job = answer.json()
    assert (answer.status_code, job["state"], job["done"]) == (202, "waiting", 0)
    assert bells() == [(job["job_id"],)]
    operation = LogicalOperation.objects.get(pk=job["operation_id"])
    assert (operation.state, operation.job_id, operation.actor) == ("open", job["job_id"], "alice's agent")
    assert str(folder.parent) not in operation.reason
    run_folder_job(job["job_id"])
    done = alice.rest.get(f"/jobs/{job['job_id']}").json()
    assert (done["state"], done["done"], done["total"], done["imported"]) == ("completed", 6, 6, 6)
    assert done["finished_at"] and Memory.objects.count() == 6


def test_the_same_request_id_is_the_same_job_however_often_and_late(alice: Agent, folder: Path) -> None:
    first = alice.call("memory_import", folder=str(folder), request_id="once")
    second = alice.call("memory_import", folder=str(folder), request_id="once")
    receipt = RequestReceipt.objects.get(request_id="once")
    assert first.job_id == second.job_id == receipt.job_id and receipt.answer is None and len(bells()) == 1
    run_folder_job(first.job_id)
    receipt.refresh_from_db()
    assert receipt.answer["state"] == "completed" and receipt.answer["imported"] == 6
    assert alice.call("memory_import", folder=str(folder), request_id="once").state == "completed"
    with pytest.raises(RequestIdReused):
        alice.call("memory_import", folder=str(folder.parent), request_id="once")


def test_a_folder_whose_import_is_under_way_answers_that_job(alice: Agent, folder: Path) -> None:
    first = alice.call("memory_import", folder=str(folder))
    assert alice.call("memory_import", folder=str(folder)).job_id == first.job_id
    run_folder_job(first.job_id)
    assert alice.call("memory_import", folder=str(folder)).job_id != first.job_id


def test_a_stop_keeps_what_is_done_and_the_operation_open(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = alice.call("memory_import", folder=str(folder))
    after_batches(monkeypatch, 2, lambda: alice.call("job_stop", job_id=job.job_id))
    run_folder_job(job.job_id)
    stopped = alice.call("job_get", job_id=job.job_id)
    assert (stopped.state, stopped.done, stopped.imported) == ("paused", 4, 4)
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "open"
    run_folder_job(job.job_id)  # A late bell starts nothing that somebody stopped.
    assert alice.call("job_get", job_id=job.job_id).done == 4
    assert alice.call("job_resume", job_id=job.job_id).state == "waiting" and len(bells()) == 2
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    assert (done.state, done.done, done.imported, done.unchanged) == ("completed", 6, 6, 0)
    assert ScopeCommit.objects.filter(operation=job.operation_id).count() == 3
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "closed"


def test_a_stop_for_good_closes_the_operation_as_a_part(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = alice.call("memory_import", folder=str(folder), request_id="r")
    after_batches(monkeypatch, 1, lambda: alice.call("job_stop", job_id=job.job_id, for_good=True))
    run_folder_job(job.job_id)
    ended = alice.call("job_get", job_id=job.job_id)
    assert (ended.state, ended.imported) == ("cancelled", 2) and ended.finished_at
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "partial"
    assert RequestReceipt.objects.get(request_id="r").answer["state"] == "cancelled"
    with pytest.raises(JobOver):
        alice.call("job_resume", job_id=job.job_id)
    assert alice.call("job_stop", job_id=job.job_id).state == "cancelled"
    assert imported_again(alice, folder) == (4, 2)


def test_a_waiting_job_is_stopped_at_once(alice: Agent, folder: Path) -> None:
    job = alice.call("memory_import", folder=str(folder))
    assert alice.call("job_stop", job_id=job.job_id).state == "paused"
    run_folder_job(job.job_id)
    assert not Memory.objects.exists()


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_a_killed_import_goes_on_where_it_was(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    job = alice.call("memory_import", folder=str(folder))
    with monkeypatch.context() as patch:
        after_batches(patch, batches, dies)
        with pytest.raises(Killed):
            run_folder_job(job.job_id)
    assert job_row(job).state == "running" and ImportedFile.objects.count() == batches * 2
    assert ring_for_waiting() == job.job_id
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    assert (done.state, done.done, done.imported, done.unchanged) == ("completed", 6, 6, 0)
    assert Memory.objects.count() == MemoryRevision.objects.count() == ImportedFile.objects.count() == 6
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "closed"


def test_position_files_and_memories_move_together_or_not_at_all(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = alice.call("memory_import", folder=str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(importing, "keep_names", lambda *_arguments: dies())
        with pytest.raises(Killed):
            run_folder_job(job.job_id)
    row = job_row(job)
    assert (row.position, row.done, Memory.objects.count(), ImportedFile.objects.count()) == ("", 0, 0, 0)
    run_folder_job(job.job_id)
    assert alice.call("job_get", job_id=job.job_id).imported == 6


def test_an_attempt_that_was_taken_over_writes_nothing_more(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L-29: a hung process that wakes up again meets the attempt number of its successor."""
    job = alice.call("memory_import", folder=str(folder))

    def taken_over() -> None:
        lease = Lease.objects.get(key=job_key(job.job_id))
        Lease.objects.filter(pk=lease.pk).update(owner="", attempt=lease.attempt)
        assert take(job_key(job.job_id), kind="job") is not None

    after_batches(monkeypatch, 1, taken_over)
    run_folder_job(job.job_id)
    assert job_row(job).state == "running" and Memory.objects.count() == 2
    assert job_row(job).done == 2


def test_a_job_somebody_works_on_is_left_to_them(alice: Agent, folder: Path) -> None:
    job = alice.call("memory_import", folder=str(folder))
    assert take(job_key(job.job_id), kind="job") is not None
    run_folder_job(job.job_id)
    assert not Memory.objects.exists() and ring_for_waiting() == ""


def test_a_bell_without_a_free_slot_returns_at_once_and_rings_later(alice: Agent, folder: Path) -> None:
    job = alice.call("memory_import", folder=str(folder))
    slot = take_slot("long")
    assert slot is not None
    run_folder_job(job.job_id)
    assert job_row(job).state == "waiting" and ring_for_waiting() == "" and len(bells()) == 1
    Lease.objects.filter(key=slot.key).update(owner="")
    keeper = Keeper()
    keeper.round()
    assert len(bells()) == 2
    keeper.round()
    assert len(bells()) == 2  # It does not ring at every round.


def test_a_finished_job_rings_for_the_next_one(alice: Agent, folder: Path) -> None:
    fill(folder / "sub", {"x.md": "x"})
    first = alice.call("memory_import", folder=str(folder))
    second = alice.call("memory_import", folder=str(folder / "sub"))
    run_folder_job(first.job_id)
    assert bells()[-1] == (second.job_id,) and len(bells()) == 3


def test_a_scope_that_is_busy_makes_the_job_wait(alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*arguments: Any, **named: Any) -> None:
        raise ScopeBusy(scope="global/shared", work="restore")

    job = alice.call("memory_import", folder=str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(importing, "commit", busy)
        run_folder_job(job.job_id)
    waiting = alice.call("job_get", job_id=job.job_id)
    assert waiting.state == "waiting" and waiting.error
    run_folder_job(job.job_id)
    assert alice.call("job_get", job_id=job.job_id).error == "" and Memory.objects.count() == 6


def test_a_job_that_gets_nowhere_fails_in_the_end(alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **named: Any) -> None:
        raise OperationalError("database is locked")

    job = alice.call("memory_import", folder=str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(importing, "commit", broken)
        for _attempt in range(FRUITLESS_ATTEMPTS):
            with pytest.raises(OperationalError):
                run_folder_job(job.job_id)
    run_folder_job(job.job_id)
    failed = alice.call("job_get", job_id=job.job_id)
    assert failed.state == "failed" and failed.error
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "partial"


def test_a_folder_that_is_gone_fails_the_job_and_closes_what_came_in_as_a_part(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = alice.call("memory_import", folder=str(folder))
    with monkeypatch.context() as patch:
        after_batches(patch, 1, dies)
        with pytest.raises(Killed):
            run_folder_job(job.job_id)
    folder.rename(folder.with_name("elsewhere"))
    run_folder_job(job.job_id)
    failed = alice.call("job_get", job_id=job.job_id)
    assert (failed.state, failed.imported) == ("failed", 2) and "no such folder" in failed.error
    assert LogicalOperation.objects.get(pk=job.operation_id).state == "partial"


def test_an_operation_without_its_job_is_closed_as_a_part(world: World) -> None:
    operation = open_operation(world.operator, "memory_import", job_id="job_gone")
    ring_for_waiting()
    operation.refresh_from_db()
    assert operation.state == "partial" and operation.closing_number


def test_a_file_that_spoils_its_commit_spoils_only_itself(
    alice: Agent, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = importing.BringIn.apply

    def picky(change: Any, recording: Any) -> Any:
        if change.note.path == "1.md":
            raise PathRefused(path="1.md", reason="it is picky.")
        return apply(change, recording)

    monkeypatch.setattr(importing.BringIn, "apply", picky)
    job = alice.call("memory_import", folder=str(folder))
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    assert (done.state, done.imported, done.skipped, done.done) == ("completed", 5, 1, 6)
    assert [(told.path, told.code) for told in done.reports] == [("1.md", "refused")]


def test_jobs_are_listed_newest_first_and_only_where_their_scope_is_seen(
    world: World, alice: Agent, folder: Path
) -> None:
    elsewhere: Any = call(world.operator, "project_create", name="Elsewhere")
    own = imported(world, folder, project_id=elsewhere.project_id)
    other = imported(world, folder, project_id=world.workspace.pk)
    page = alice.call("job_list", limit=1)
    rest = alice.call("job_list", limit=1, cursor=page.next_cursor)
    assert [job.job_id for job in page.jobs + rest.jobs] == [other.job_id, own.job_id] and not rest.next_cursor
    assert not page.jobs[0].reports and not alice.call("job_list", state="running").jobs
    bound = world.agent("bound", project_id=world.workspace.pk, rights=["read", "write", "administer"])
    assert [job.job_id for job in bound.call("job_list").jobs] == [other.job_id]
    with pytest.raises(JobUnknown):
        bound.call("job_get", job_id=own.job_id)
    assert world.bobs_agent.rest.get(f"/jobs/{own.job_id}").status_code == 403


def test_the_dotted_path_of_the_bell_leads_to_the_job() -> None:
    assert import_string(RUN) is run_folder_job and jobs.RUN_FOLDER_JOB == RUN


def imported_again(alice: Agent, folder: Path) -> tuple[int, int]:
    job = alice.call("memory_import", folder=str(folder))
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    return done.imported, done.unchanged

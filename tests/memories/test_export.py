"""``memory_export``: a scope's current Markdown in an empty folder, byte for byte, and back again."""

import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.memories.errors import FolderRefused
from apps.memories.jobs import run_folder_job
from apps.memories.models import Memory
from apps.memories.scopes import file_of
from apps.memories.services.jobs import start_export
from apps.memories.transfer import exporting
from apps.memories.transfer.running import State
from tests.memories.folder_world import codes, files_in, fill, imported, titles
from tests.memories.ledger_world import all_durable, edit_outside
from tests.world import Agent, World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _opened(settings: Any, tmp_path: Path) -> None:
    settings.IMPORT_FOLDERS = [str(tmp_path / "outside")]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "outside" / "export"


@pytest.fixture
def alice(world: World) -> Agent:
    return world.alices_agent


@pytest.fixture
def some_documents(alice: Agent) -> list[Any]:
    made = [alice.call("memory_save", title=f"Note {number}", body=f"text {number}\r\n") for number in range(4)]
    made.append(alice.call("checkpoint_save", title="Half way", completed="Half of it."))
    alice.call("memory_archive", memory_id=made[0].memory_id)
    alice.call("memory_delete", memory_id=made[1].memory_id)
    return made


def exported(alice: Agent, target: Path, **arguments: Any) -> Any:
    job = alice.call("memory_export", folder=str(target), **arguments)
    run_folder_job(job.job_id)
    return alice.call("job_get", job_id=job.job_id)


def test_everything_that_is_not_deleted_lies_there_as_it_lies_in_the_scope(
    alice: Agent, some_documents: list[Any], target: Path
) -> None:
    job = exported(alice, target)
    assert (job.state, job.imported, job.total, job.operation_id) == ("completed", 4, 4, "")
    living = Memory.objects.exclude(status="deleted")
    assert {str(file.relative_to(target)) for file in files_in(target)} == {memory.path for memory in living}
    for memory in living:
        assert (target / memory.path).read_bytes() == file_of(memory.scope_id, memory.path).read_bytes()


def test_an_edit_outside_is_exported_as_it_lies(alice: Agent, target: Path) -> None:
    saved = alice.call("memory_save", title="Tea", body="four\n")
    all_durable()
    file = file_of(saved.scope, saved.path)
    edit_outside(file, file.read_text().replace("four", "five"))
    exported(alice, target)
    assert (target / saved.path).read_bytes() == file.read_bytes() and "five" in file.read_text()


def test_a_folder_with_something_in_it_is_refused(alice: Agent, some_documents: list[Any], target: Path) -> None:
    fill(target, {"mine.txt": "x"})
    assert alice.rest.post("/memories/export", folder=str(target)).status_code == 422
    assert [file.name for file in files_in(target)] == ["mine.txt"]


def test_neither_links_nor_the_servers_own_folder_are_written_to(
    world: World, data_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for place in (tmp_path / "link", data_folder / "memrelay" / "export"):
        with pytest.raises(FolderRefused):
            start_export(world.operator, str(place), "global/shared")


def test_a_link_put_into_the_folder_meanwhile_leads_nowhere(
    alice: Agent, some_documents: list[Any], target: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    job = alice.call("memory_export", folder=str(target))
    (target / "memories").symlink_to(elsewhere)
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    assert set(codes(done).values()) == {"exists"} and done.skipped == 2
    assert not files_in(elsewhere)


def test_a_stopped_and_a_killed_export_go_on(
    alice: Agent, some_documents: list[Any], target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "BATCH", 1)
    job = alice.call("memory_export", folder=str(target))
    write, written = exporting.write_new, []

    def dying(root: Path, path: str, document: bytes) -> bool:
        write(root, path, document)
        written.append(path)
        if len(written) == 2:
            raise KeyboardInterrupt
        return True

    with monkeypatch.context() as patch:
        patch.setattr(exporting, "write_new", dying)
        with pytest.raises(KeyboardInterrupt):
            run_folder_job(job.job_id)
    alice.call("job_stop", job_id=job.job_id)
    assert alice.call("job_get", job_id=job.job_id).state == State.PAUSED
    alice.call("job_resume", job_id=job.job_id)
    run_folder_job(job.job_id)
    done = alice.call("job_get", job_id=job.job_id)
    assert (done.state, done.done, done.imported, done.skipped) == ("completed", 4, 4, 0)
    assert len(files_in(target)) == 4 and not [name for name in os.listdir(target) if name.startswith(".")]


def test_an_export_comes_back_as_what_it_was(
    world: World, alice: Agent, some_documents: list[Any], target: Path
) -> None:
    exported(alice, target)
    again = imported(world, target)
    assert (again.imported, again.unchanged, again.reported) == (0, 4, 0)
    into = world.workspace.pk
    ids = [memory.stable_id for memory in Memory.objects.all()]
    copied = imported(world, target, project_id=into)
    assert copied.imported == 4 and set(codes(copied).values()) == {"id_taken"}
    assert set(titles(world, project_id=into)) == {"Note 2", "Note 3"}
    assert set(titles(world, project_id=into, status="archived")) == {"Note 0"}
    assert set(titles(world, project_id=into, resource="checkpoint")) == {"Half way"}
    assert alice.call("checkpoint_latest", project_id=into).checkpoint.completed == "Half of it."
    assert not set(ids) & {memory.memory_id for memory in titles(world, project_id=into).values()}


def test_the_command_writes_a_scope_and_refuses_a_full_folder(
    world: World, alice: Agent, some_documents: list[Any], tmp_path: Path, capsys: Any
) -> None:
    call_command("memory_export", str(tmp_path / "new" / "folder"), scope="global/shared")
    assert "Written 4, left out 0." in capsys.readouterr().out
    assert len(files_in(tmp_path / "new" / "folder")) == 4
    with pytest.raises(CommandError, match="not empty"):
        call_command("memory_export", str(tmp_path / "new" / "folder"), scope="global/shared")

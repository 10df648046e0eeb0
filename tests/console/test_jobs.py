"""Jobs as pages: how far they are, stopping and going on, and starting imports and exports."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.memories.jobs import run_folder_job
from apps.memories.models import FolderJob, Memory
from tests.console.looking import sent, text_of
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def notes(tmp_path: Path, settings: Any) -> Path:
    """A folder that the operator opened, with two notes and a file that cannot be one."""
    folder = tmp_path / "open"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "tea.md").write_text("# Tea\n\nGreen.\n")
    (folder / "notes" / "rain.md").write_text("# Rain\n\nTake a coat.\n")
    (folder / "notes" / "broken.md").write_bytes(b"\xff\xfe\x00\xd8")
    settings.IMPORT_FOLDERS = [str(folder)]
    return folder


def started(client: Client, notes: Path, kind: str = "import", **fields: Any) -> str:
    response = client.post(f"/jobs/{kind}", {"root": str(notes), "below": "notes", "place": "global", **fields})
    assert response.status_code == 302, response.content.decode()
    return str(response.headers["Location"])


def test_a_folder_is_imported_and_told_of(alice: Client, notes: Path) -> None:
    assert "No jobs yet" in text_of(alice, "/jobs")
    path = started(alice, notes)
    page = text_of(alice, path)
    assert "Waiting" in page
    assert 'hx-trigger="every 1s"' in page
    listed = text_of(alice, "/jobs")
    assert 'hx-trigger="every 2s"' in listed
    assert path in listed
    part = alice.get(path, headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()

    run_folder_job(path.removeprefix("/job/"))
    assert alice.get(path, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
    page = text_of(alice, path)
    assert "Completed" in page
    assert "3 of 3" in page
    assert "broken.md" in page
    assert "hx-trigger" not in page
    assert set(Memory.objects.values_list("title", flat=True)) == {"Tea", "Rain"}
    assert path in text_of(alice, "/jobs", state="completed")
    assert "No job is in this state" in text_of(alice, "/jobs", state="failed")


def test_a_job_stops_goes_on_and_ends(alice: Client, notes: Path) -> None:
    path = started(alice, notes)
    page = sent(alice, f"{path}/stop")
    assert "It stops after the file at hand." in page
    assert "Go on" in page
    assert "It goes on where it stopped." in sent(alice, f"{path}/resume")
    page = sent(alice, f"{path}/stop", for_good="true")
    assert "Cancelled" in page
    assert "Go on" not in page
    assert "can no longer" in sent(alice, f"{path}/resume") or FolderJob.objects.get().state == "cancelled"


def test_an_export_writes_into_an_empty_folder(world: World, alice: Client, notes: Path) -> None:
    run_folder_job(started(alice, notes).removeprefix("/job/"))
    page = sent(alice, "/jobs/export", root=str(notes), below="notes", place="global")
    assert "it is not empty." in page
    path = started(alice, notes, "export", below="copy")
    run_folder_job(path.removeprefix("/job/"))
    assert "Written" in text_of(alice, path)
    assert len(list((notes / "copy").rglob("*.md"))) == 2


@pytest.mark.parametrize("below", ["../elsewhere", "/etc", "none"])
def test_no_folder_but_those_opened_is_reached(alice: Client, notes: Path, below: str) -> None:
    page = sent(alice, "/jobs/import", root=str(notes), below=below, place="global")
    assert "notice-error" in page
    assert FolderJob.objects.count() == 0


def test_without_an_open_folder_the_page_says_how_to_open_one(alice: Client) -> None:
    for kind in ("import", "export"):
        page = text_of(alice, f"/jobs/{kind}")
        assert "MEMRELAY_IMPORT_FOLDERS=" in page
        assert "<form" not in page.partition("<main")[2].partition("</main>")[0]


def test_a_failed_job_waits_on_the_dashboard(alice: Client, bob: Client, notes: Path) -> None:
    path = started(alice, notes)
    FolderJob.objects.update(state="failed", error="The disk is full.")
    page = text_of(alice, "/")
    assert "The disk is full." in page
    assert f'href="{path}"' in page
    assert f'href="{path}"' not in text_of(bob, "/")
    assert "The disk is full." in text_of(alice, path)


def test_members_have_no_jobs(bob: Client, alice: Client, notes: Path) -> None:
    path = started(alice, notes)
    assert 'href="/jobs"' in text_of(alice, "/")
    assert 'href="/jobs"' not in text_of(bob, "/")
    for one in ("/jobs", "/jobs/import", path):
        assert bob.get(one).status_code == 403
    assert bob.post(f"{path}/stop").status_code == 403
    assert alice.get("/job/none").status_code == 404


def test_broken_addresses_lead_back(alice: Client) -> None:
    for query in ("cursor=broken", "state=none"):
        assert alice.get(f"/jobs?{query}").headers["Location"] == "/jobs"

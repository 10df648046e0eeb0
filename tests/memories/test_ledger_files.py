"""L-01 to L-11: what lies on disk, and what the ledger makes of it."""

import os
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from apps.memories import store
from apps.memories.errors import FileUnsettled, RevisionConflict
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import examine_asides, sweep
from apps.memories.models import FileIntent, Memory, Scope
from apps.memories.scopes import SCOPE_FILE, folder_of
from tests.memories.ledger_world import (
    all_durable,
    edit_outside,
    file_of_saved,
    newest,
    outside_body,
    row,
    scanned,
    settle,
    texts,
)
from tests.world import Agent, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(world: World) -> Agent:
    return world.bobs_agent


@pytest.fixture
def tea(bob: Agent) -> Any:
    return bob.call("memory_save", title="Tea", body="Drink at four.\n")


def test_l01_bytes_of_an_open_intent_or_its_base_are_no_outside_edit(bob: Agent, tea: Any) -> None:
    file = file_of_saved(tea)
    before = file.read_bytes()
    changed = bob.call("memory_update", memory_id="tea", revision=1, body="Drink at five.\n")
    edit_outside(file, before)  # As if the write-out had not happened yet.
    read = bob.call("memory_get", memory_id="tea")
    assert (read.revision, read.body) == (changed.revision, "Drink at five.\n")
    all_durable()
    assert "five" in file.read_text() and row(tea).revision == 2


def test_l01_an_outside_edit_is_read_at_once_and_becomes_a_revision(bob: Agent, tea: Any) -> None:
    all_durable()
    outside_body(file_of_saved(tea), "four", "six")
    read = bob.call("memory_get", memory_id="tea")
    assert (read.body, read.revision) == ("Drink at six.\n", 2)
    assert bob.call("memory_history", memory_id="tea").revisions[0].origin == "external"
    assert [hit.title for hit in bob.call("memory_search", query="six").results] == ["Tea"]


@pytest.mark.parametrize("torn", [b"", b"\0" * 40, None, "prefix"])
def test_l02_torn_bytes_under_an_open_intent_are_replayed(bob: Agent, tea: Any, torn: Any) -> None:
    file = file_of_saved(tea)
    whole = file.read_bytes()
    if torn is None:
        file.unlink()
    else:
        edit_outside(file, whole[:30] if torn == "prefix" else torn)
    assert bob.call("memory_get", memory_id="tea").body == "Drink at four.\n"
    all_durable()
    assert file.read_bytes() == whole
    assert texts(bob, "tea") == ["Drink at four.\n"]


def test_l02_foreign_bytes_under_an_open_intent_are_kept_first(bob: Agent, tea: Any) -> None:
    outside_body(file_of_saved(tea), "four", "dawn")
    all_durable()
    assert texts(bob, "tea") == ["Drink at four.\n", "Drink at dawn.\n", "Drink at four.\n"]
    assert newest(tea).warning == "outside_edit_kept"


def test_l03_line_ends_count_on_disk_but_not_in_the_content_hash(bob: Agent, tea: Any) -> None:
    all_durable()
    file = file_of_saved(tea)
    before = row(tea).content_hash
    edit_outside(file, file.read_bytes().replace(b"\n", b"\r\n"))
    assert bob.call("memory_get", memory_id="tea").body == "Drink at four.\r\n"
    after = row(tea)
    assert (after.revision, after.content_hash) == (2, before)
    assert newest(tea).commit.operation.closing_number is not None


def test_l04_the_sweep_stores_the_signature_and_reading_then_hashes_nothing(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert row(tea).file_inode is None
    all_durable()
    assert row(tea).file_inode == os.stat(file_of_saved(tea)).st_ino
    monkeypatch.setattr(store, "read", None)  # A call would fail.
    assert bob.call("memory_get", memory_id="tea").body == "Drink at four.\n"


def test_l05_an_unsettled_file_is_not_adopted_by_reads_and_writes_are_told_to_wait(bob: Agent, tea: Any) -> None:
    all_durable()
    outside_body(file_of_saved(tea), "four", "six", settled=False)
    read = bob.call("memory_get", memory_id="tea")
    assert (read.body, read.unsettled, read.revision) == ("Drink at four.\n", True, 1)
    with pytest.raises(FileUnsettled) as refused:
        bob.call("memory_append", memory_id="tea", text="More.")
    assert refused.value.retryable
    assert "six" in file_of_saved(tea).read_text()
    report = scan(tea.scope)
    assert (report.adopted, report.unsettled) == (0, 1)
    assert bob.call("memory_list").outside_changes_pending


def test_l05_a_reader_that_meets_an_outside_edit_writes_nothing_in_its_own_name(world: World, tea: Any) -> None:
    shared = world.alices_agent.call("memory_save", title="Shared", body="one\n", scope="shared")
    all_durable()
    outside_body(file_of_saved(shared), "one", "two")
    assert world.carols_reader.call("memory_get", memory_id=shared.memory_id).body == "two\n"
    latest = world.carols_reader.call("memory_history", memory_id=shared.memory_id).revisions[0]
    assert (latest.origin, latest.actor) == ("external", "outside edit")


def test_l06_adoption_writes_back_only_where_identity_is_missing(bob: Agent, tea: Any) -> None:
    all_durable()
    file = file_of_saved(tea)
    outside_body(file, "four", "six")
    adopted = file.read_bytes()
    scanned(tea.scope)
    assert file.read_bytes() == adopted
    edit_outside(file, "# Tea\n\nNo head at all.\n")
    scanned(tea.scope)
    written = file.read_text()
    assert "stable_id: " in written and "permalink: " in written and written.endswith("# Tea\n\nNo head at all.\n")
    again = file.read_bytes()
    assert scanned(tea.scope).adopted == 0
    assert file.read_bytes() == again


def test_l07_foreign_bytes_at_a_deletion_stay_in_the_history(bob: Agent, tea: Any) -> None:
    all_durable()
    file = file_of_saved(tea)
    before = file.read_text()
    bob.call("memory_delete", memory_id="tea")
    edit_outside(file, before.replace("four", "night"))  # Saved by an editor that had it open.
    FileIntent.objects.filter(action="delete").update(expected_hash="0" * 64)
    all_durable()
    assert not file.exists()
    assert row(tea).status == "deleted"
    history = bob.call("memory_history", memory_id=tea.memory_id)
    bodies = [
        bob.call("memory_revision_get", memory_id=tea.memory_id, revision=item.revision).body
        for item in history.revisions
    ]
    assert "Drink at night.\n" in bodies


def test_l08_what_an_editor_writes_into_the_displaced_file_becomes_a_revision(
    bob: Agent, tea: Any, settings: Any
) -> None:
    all_durable()
    with open(file_of_saved(tea), "r+b") as editor:
        bob.call("memory_update", memory_id="tea", revision=1, body="Drink at five.\n")
        editor.seek(0, os.SEEK_END)
        editor.write(b"Scribbled meanwhile.\n")
    all_durable()
    settings.SETTLE_SECONDS = 0.0
    assert examine_asides(tea.scope) == (1, 0)
    all_durable()
    assert any("Scribbled meanwhile." in text for text in texts(bob, "tea"))
    assert bob.call("memory_get", memory_id="tea").body == "Drink at five.\n"
    assert "Drink at five." in file_of_saved(tea).read_text()


def test_l08_an_editors_rename_in_the_moment_of_writing_is_not_overwritten(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    all_durable()
    file = file_of_saved(tea)
    swap = store._swap

    def raced(new: Path, target: Path) -> None:
        outside_body(file, "four", "noon")
        swap(new, target)

    monkeypatch.setattr(store, "_swap", raced)
    bob.call("memory_update", memory_id="tea", revision=1, body="Drink at five.\n")
    monkeypatch.setattr(store, "_swap", swap)
    settings.SETTLE_SECONDS = 0.0
    all_durable()
    sweep(at_once=True, also=[tea.scope])
    assert "Drink at noon.\n" in texts(bob, "tea")
    assert bob.call("memory_get", memory_id="tea").body == "Drink at five.\n"


@pytest.mark.parametrize("obstacle", ["directory", "symlink", "file for a folder"])
def test_l09_a_file_that_cannot_be_written_is_pending_and_red_and_healed_later(
    bob: Agent, obstacle: str, tmp_path: Path
) -> None:
    root = folder_of("global/bob")
    place = root / "memories" / "mine" / "tea.md"
    place.parent.parent.mkdir(parents=True)
    if obstacle == "directory":
        place.mkdir(parents=True)
    elif obstacle == "symlink":
        place.parent.mkdir()
        place.symlink_to(tmp_path / "elsewhere.md")
    else:
        place.parent.write_text("in the way")
    saved = bob.call("memory_save", title="Tea", body="Drink.\n", path="memories/mine/tea.md")
    assert saved.warnings == ["file_pending"]
    assert bob.call("memory_get", memory_id="tea").body == "Drink.\n"
    assert FileIntent.objects.get(path=saved.path).state == "blocked"
    assert not (tmp_path / "elsewhere.md").exists()
    if obstacle == "directory":
        place.rmdir()
    elif obstacle == "symlink":
        place.unlink()
    else:
        place.parent.unlink()
    all_durable()
    assert place.read_text().endswith("Drink.\n")


def test_l09_no_litter_stays_beside_the_files(bob: Agent, tea: Any, settings: Any) -> None:
    for number in range(3):
        bob.call("memory_append", memory_id="tea", text=f"line {number}")
    settings.SETTLE_SECONDS = 0.0
    all_durable()
    sweep(at_once=True, also=[tea.scope])
    assert list(store.asides(folder_of(tea.scope))) == []


def test_l10_an_archived_memory_has_exactly_one_file(bob: Agent, tea: Any) -> None:
    archived = bob.call("memory_archive", memory_id="tea")
    assert file_of_saved(archived).exists() and not file_of_saved(tea).exists()
    assert scanned(tea.scope).notices == []
    back = bob.call("memory_unarchive", memory_id="tea")
    assert back.path == tea.path and file_of_saved(back).exists() and not file_of_saved(archived).exists()


def test_l10_twins_under_an_open_intent_are_no_twins_but_copies_are_reported(bob: Agent, tea: Any) -> None:
    file = file_of_saved(tea)
    bob.call("memory_archive", memory_id="tea")
    edit_outside(file, "left over")
    assert scan(tea.scope).notices == []
    all_durable()
    copy = file_of_saved(bob.call("memory_get", memory_id="tea")).with_name("copy.md")
    shutil.copy(file_of_saved(bob.call("memory_get", memory_id="tea")), copy)
    settle(copy)
    assert [notice["code"] for notice in scanned(tea.scope).notices] == ["twin"]
    assert Memory.objects.count() == 1


def test_l10_a_file_moved_outside_keeps_its_identity(bob: Agent, tea: Any) -> None:
    all_durable()
    file = file_of_saved(tea)
    moved = folder_of(tea.scope) / "memories" / "kitchen" / "hot tea.md"
    moved.parent.mkdir()
    os.rename(file, moved)
    settle(moved)
    report = scanned(tea.scope)
    assert (report.moved, report.found, report.vanished) == (1, 0, 0)
    read = bob.call("memory_get", memory_id=tea.memory_id)
    assert (read.path, read.body) == ("memories/kitchen/hot tea.md", "Drink at four.\n")
    assert scanned(tea.scope).moved == 0


def test_l10_a_name_in_another_unicode_form_is_the_same_file(bob: Agent) -> None:
    saved = bob.call("memory_save", title="01_ナレッジベース Übung", body="text\n")
    all_durable()
    file = file_of_saved(saved)
    decomposed = file.with_name(unicodedata.normalize("NFD", file.name))
    assert decomposed.name != file.name
    os.rename(file, decomposed)
    settle(decomposed)
    report = scanned(saved.scope)
    assert (report.found, report.vanished, report.notices) == (0, 0, [])
    assert file.exists() and not decomposed.exists()
    assert Memory.objects.count() == 1


def test_l11_a_few_vanished_files_are_deleted_memories_with_a_history(bob: Agent, tea: Any) -> None:
    kept = bob.call("memory_save", title="Coffee", body="Never.\n")
    all_durable()
    file_of_saved(tea).unlink()
    assert scanned(tea.scope).vanished == 1
    assert row(tea).status == "deleted" and row(kept).status == "active"
    assert bob.call("memory_restore", memory_id=tea.memory_id).revision == 3
    assert file_of_saved(tea).exists()


def test_l11_a_file_that_is_gone_for_a_moment_is_not_deleted(bob: Agent, tea: Any) -> None:
    bob.call("memory_save", title="Coffee", body="Never.\n")
    all_durable()
    file = file_of_saved(tea)
    text = file.read_bytes()
    file.unlink()
    report = scan(tea.scope)
    assert (report.vanished, list(report.waiting)) == (0, [tea.memory_id])
    file.write_bytes(text)
    settle(file)
    assert scan(tea.scope).waiting == {}
    assert row(tea).status == "active" and row(tea).revision == 1


def test_l11_when_much_is_gone_nothing_is_deleted_until_a_person_decides(world: World, bob: Agent) -> None:
    saved = [bob.call("memory_save", title=f"Note {number}", body=f"text {number}\n") for number in range(25)]
    all_durable()
    for one in saved[:21]:
        file_of_saved(one).unlink()
    report = scanned("global/bob")
    assert report.vanished == 0 and report.alarm and report.alarm["code"] == "files_vanished"
    assert Memory.objects.filter(status="active").count() == 25
    assert bob.call("memory_get", memory_id=saved[0].memory_id).body == "text 0\n"
    decided = world.alices_agent.call("scope_alarm_decide", scope="global/bob", decision="restore_files")
    assert decided.files == 21
    all_durable()
    assert file_of_saved(saved[0]).exists()
    assert scanned("global/bob").alarm is None


def test_l11_the_person_may_also_let_them_go(world: World, bob: Agent) -> None:
    saved = [bob.call("memory_save", title=f"Note {number}", body="text\n") for number in range(3)]
    all_durable()
    for one in saved:
        file_of_saved(one).unlink()
    assert scanned("global/bob").alarm
    world.alices_agent.call("scope_alarm_decide", scope="global/bob", decision="accept_deletions")
    assert Memory.objects.filter(status="deleted").count() == 3
    assert Scope.objects.get(key="global/bob").alarm is None


def test_l11_a_missing_scope_file_stops_the_scan_from_deleting(bob: Agent, tea: Any) -> None:
    bob.call("memory_save", title="Coffee", body="Never.\n")
    all_durable()
    (folder_of(tea.scope) / SCOPE_FILE).unlink()
    file_of_saved(tea).unlink()
    report = scanned(tea.scope)
    assert report.alarm and report.vanished == 0
    assert row(tea).status == "active"


def test_an_outside_edit_and_a_stale_revision_meet_as_a_conflict_and_nothing_is_written(bob: Agent, tea: Any) -> None:
    all_durable()
    outside_body(file_of_saved(tea), "four", "six")
    with pytest.raises(RevisionConflict):
        bob.call("memory_update", memory_id="tea", revision=1, body="Mine.\n")
    assert bob.call("memory_get", memory_id="tea").body == "Drink at six.\n"
    assert bob.call("memory_append", memory_id="tea", text="And more.").revision == 3
    assert bob.call("memory_get", memory_id="tea").body.startswith("Drink at six.\n\nAnd more.")


def test_a_new_file_in_the_folder_becomes_a_memory_where_it_lies(bob: Agent, tea: Any) -> None:
    file = folder_of(tea.scope) / "memories" / "notes" / "Obsidian note.md"
    edit_outside(file, "---\ntags: [food]\ncustom: yes\n---\n# Bread\n\nBake it. 面包\n")
    assert scanned(tea.scope).found == 1
    found = bob.call("memory_search", query="面包").results[0]
    assert (found.title, found.path, found.tags) == ("Bread", "memories/notes/Obsidian note.md", ["food"])
    assert "custom: yes" in file.read_text()
    assert scanned(tea.scope).found == 0


def test_dot_entries_symlinks_and_other_files_are_left_alone(bob: Agent, tea: Any, tmp_path: Path) -> None:
    root = folder_of(tea.scope)
    outside = tmp_path / "secret.md"
    outside.write_text("not ours")
    (root / "memories" / "link.md").symlink_to(outside)
    (root / ".git").mkdir()
    (root / ".git" / "notes.md").write_text("internal")
    (root / "memories" / "picture.png").write_bytes(b"\x89PNG")
    report = scanned(tea.scope)
    assert (report.found, report.files) == (0, 1)


def test_a_file_that_is_no_text_is_reported_and_left_alone(bob: Agent, tea: Any) -> None:
    file = folder_of(tea.scope) / "memories" / "latin1.md"
    edit_outside(file, b"caf\xe9")
    assert [notice["code"] for notice in scanned(tea.scope).notices] == ["not_utf8"]
    assert file.read_bytes() == b"caf\xe9"

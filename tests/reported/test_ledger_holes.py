"""Holes in the road of a write, found by reading it as an adversary: races, error paths, files nobody expected."""

import os
from pathlib import Path
from typing import Any

import pytest

from apps.base.errors import MemRelayError
from apps.leases.errors import ScopeBusy
from apps.memories import store
from apps.memories.keeper import Keeper
from apps.memories.ledger import outside, writeout
from apps.memories.ledger import scan as scan_module
from apps.memories.ledger import sweep as sweep_module
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import sweep
from apps.memories.models import FileIntent, Memory, MemoryRevision, Scope
from apps.memories.scopes import folder_of
from apps.memories.services import deeds
from apps.operations import receipts
from tests.memories.ledger_world import (
    all_durable,
    edit_outside,
    file_of_saved,
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


# Once, whatever the order.


def late_receipts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look for a receipt finds none, as when the same call is under way in another process."""
    find, seen = receipts.find, []

    def blind_once(*arguments: Any) -> Any:
        seen.append(arguments)
        return None if len(seen) == 1 else find(*arguments)

    monkeypatch.setattr(deeds.receipts, "find", blind_once)


@pytest.mark.parametrize("deed", ["save", "update", "append", "archive", "checkpoint"])
def test_of_two_calls_at_once_with_one_request_id_the_second_answers_with_the_receipt(
    bob: Agent, tea: Any, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "save": ("memory_save", {"title": "New", "body": "x"}),
        "update": ("memory_update", {"memory_id": "tea", "revision": 1, "body": "y"}),
        "append": ("memory_append", {"memory_id": "tea", "text": "y"}),
        "archive": ("memory_archive", {"memory_id": "tea", "revision": 1}),
        "checkpoint": ("checkpoint_save", {"title": "Point", "completed": "y"}),
    }
    name, arguments = calls[deed]
    first = bob.call(name, **arguments, request_id="r1")
    revisions = MemoryRevision.objects.count()
    late_receipts(monkeypatch)
    second = bob.call(name, **arguments, request_id="r1")
    assert (second.memory_id, second.revision) == (first.memory_id, first.revision)
    assert MemoryRevision.objects.count() == revisions


def test_a_repeated_move_answers_with_its_receipt(bob: Agent, tea: Any) -> None:
    first = bob.call("memory_move", memory_id="tea", to_scope="shared", request_id="m1")
    again = bob.call("memory_move", memory_id="tea", to_scope="shared", request_id="m1")
    assert (again.memory_id, again.revision, again.scope) == (first.memory_id, first.revision, "global/shared")


def test_a_repeated_deed_answers_with_its_receipt_although_the_memory_was_deleted_since(bob: Agent, tea: Any) -> None:
    first = bob.call("memory_append", memory_id=tea.memory_id, text="More.", request_id="a1")
    bob.call("memory_delete", memory_id=tea.memory_id)
    assert bob.call("memory_append", memory_id=tea.memory_id, text="More.", request_id="a1").revision == first.revision


# Names.


def test_a_memory_moves_to_where_its_place_is_taken(bob: Agent, tea: Any) -> None:
    bob.call("memory_save", title="Other", body="x", scope="shared", path=tea.path)
    moved = bob.call("memory_move", memory_id="tea", to_scope="shared")
    assert moved.path != tea.path
    assert file_of_saved(moved).read_text().endswith("Drink at four.\n")


def test_a_memory_that_comes_back_has_its_old_name_again(bob: Agent, tea: Any) -> None:
    bob.call("memory_move", memory_id="tea", to_scope="shared")
    back = bob.call("memory_move", memory_id="tea", to_scope="global")
    assert back.slug == "tea"
    assert bob.call("memory_get", memory_id="tea").memory_id == tea.memory_id


@pytest.mark.parametrize("foreign", ["../../../../outside", "a/b", "x" * 300, "..", "with space", "new\\nline", "."])
def test_a_foreign_id_that_is_no_id_names_nothing_on_disk(bob: Agent, tea: Any, foreign: str) -> None:
    all_durable()
    file = folder_of(tea.scope) / "memories" / "stranger.md"
    edit_outside(file, f'---\nstable_id: "{foreign}"\npermalink: p\ntype: note\n---\nText 陌生\n')
    assert scanned(tea.scope).found == 1
    memory = Memory.objects.get(title="stranger")
    assert memory.stable_id.startswith("mem_")
    saved = bob.call("memory_append", memory_id=memory.stable_id, text="More.")
    assert saved.warnings == []
    all_durable()
    assert "More." in file.read_text() and memory.stable_id in file.read_text()


def test_a_new_file_at_the_place_of_a_deleted_memory_becomes_a_memory(bob: Agent, tea: Any) -> None:
    bob.call("memory_save", title="Coffee", body="Never.\n")
    bob.call("memory_delete", memory_id="tea")
    all_durable()
    file = file_of_saved(tea)
    edit_outside(file, "Something else altogether. 新的\n")
    report = scanned(tea.scope)
    assert (report.found, report.unsettled, report.notices) == (1, 0, [])
    assert len(bob.call("memory_search", query="新的").results) == 1
    restored = bob.call("memory_restore", memory_id=tea.memory_id)
    assert restored.path != tea.path
    assert file_of_saved(restored).read_text().endswith("Drink at four.\n")
    assert file.read_text().endswith("Something else altogether. 新的\n")


def test_a_file_whose_name_differs_only_in_case_is_reported_and_holds_up_nothing(bob: Agent, tea: Any) -> None:
    other = bob.call("memory_save", title="Coffee", body="Never.\n")
    all_durable()
    twin = file_of_saved(tea).with_name("TEA.md")
    if twin.exists():
        pytest.skip("this disk knows no case")
    edit_outside(twin, "Another one.\n")
    report = scanned(tea.scope)
    assert [notice["code"] for notice in report.notices] == ["name_taken"]
    assert report.unsettled == 0
    assert not bob.call("memory_list").outside_changes_pending
    file_of_saved(other).unlink()
    assert scanned(tea.scope).vanished == 1


# Races between the scan and everybody else.


def test_a_memory_saved_during_a_scan_is_no_twin(bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    all_durable()
    rows = scan_module._rows

    def then_saved(scope_key: str) -> Any:
        found = rows(scope_key)
        new = bob.call("memory_save", title="New", body="x\n")
        settle(file_of_saved(new))
        all_durable()
        return found

    monkeypatch.setattr(scan_module, "_rows", then_saved)
    report = scan(tea.scope)
    assert (report.notices, report.found) == ([], 0)


def test_a_memory_that_was_deleted_in_the_moment_it_vanished_does_not_stop_the_scan(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [bob.call("memory_save", title=f"Note {number}", body="x\n") for number in range(3)]
    all_durable()
    for one in kept[:2]:
        file_of_saved(one).unlink()
    gone = scan_module._gone_for_good

    def then_deleted(*arguments: Any) -> Any:
        found = gone(*arguments)
        if found:
            bob.call("memory_delete", memory_id=kept[0].memory_id)
        return found

    monkeypatch.setattr(scan_module, "_gone_for_good", then_deleted)
    scanned(tea.scope)
    assert {row(one).status for one in kept[:2]} == {"deleted"}
    assert row(kept[2]).status == "active"


def test_a_memory_written_in_the_moment_it_vanished_stays(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob.call("memory_save", title="Coffee", body="x\n")
    all_durable()
    file_of_saved(tea).unlink()
    gone = scan_module._gone_for_good

    def then_written(*arguments: Any) -> Any:
        found = gone(*arguments)
        if found:
            bob.call("memory_append", memory_id="tea", text="Still wanted.")
        return found

    monkeypatch.setattr(scan_module, "_gone_for_good", then_written)
    scanned(tea.scope)
    assert row(tea).status == "active"
    assert "Still wanted." in file_of_saved(tea).read_text()


def test_a_moved_file_does_not_replace_a_text_that_was_saved_meanwhile(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob.call("memory_save", title="Coffee", body="x\n")
    all_durable()
    moved = file_of_saved(tea).with_name("elsewhere.md")
    os.rename(file_of_saved(tea), moved)
    settle(moved)
    welcome = scan_module._welcome

    def then_saved(*arguments: Any) -> Any:
        bob.call("memory_update", memory_id="tea", revision=1, body="The newer text.\n")
        all_durable()
        return welcome(*arguments)

    monkeypatch.setattr(scan_module, "_welcome", then_saved)
    scan(tea.scope)
    assert bob.call("memory_get", memory_id="tea").body == "The newer text.\n"


# One that fails holds up nobody else.


def test_a_scope_that_cannot_be_read_holds_up_no_other(
    bob: Agent, world: World, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = world.alices_agent.call("memory_save", title="Shared", body="one\n", scope="shared")
    all_durable()
    outside_body(file_of_saved(shared), "one", "two 二")
    files = store.markdown_files

    def forbidden(root: Path) -> Any:
        if root == folder_of(tea.scope):
            raise PermissionError(13, "no")
        return files(root)

    monkeypatch.setattr(store, "markdown_files", forbidden)
    Keeper().round(at_once=True)
    assert row(shared).revision == 2
    assert Scope.objects.get(key=tea.scope).outside_pending


@pytest.mark.parametrize("policy", ["reviewed", "busy"])
def test_an_outside_edit_that_may_not_be_taken_in_now_is_still_read(
    bob: Agent, tea: Any, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reviewed scope takes outside edits in (the file is the authority); a busy one later, and reading goes on."""
    all_durable()
    outside_body(file_of_saved(tea), "four", "six")
    if policy == "reviewed":
        Scope.objects.filter(key=tea.scope).update(policy="reviewed")
        assert bob.call("memory_get", memory_id="tea").body == "Drink at six.\n"
        return
    monkeypatch.setattr("apps.memories.ledger.record.refuse_if_busy", busy)
    read = bob.call("memory_get", memory_id="tea")
    assert (read.body, read.unsettled) == ("Drink at four.\n", True)
    Keeper().round(at_once=True)
    assert Scope.objects.get(key=tea.scope).outside_pending
    monkeypatch.undo()


def busy(scope_key: str, **held: Any) -> None:
    raise ScopeBusy(scope=scope_key, work="restore")


def test_a_save_whose_file_cannot_be_looked_at_has_still_succeeded(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = store.read

    def unreadable(file: Path) -> Any:
        raise PermissionError(13, "no")

    monkeypatch.setattr(writeout.store, "read", unreadable)
    saved = bob.call("memory_save", title="New", body="x\n")
    assert saved.warnings == ["file_pending"]
    monkeypatch.setattr(writeout.store, "read", read)
    all_durable()
    assert file_of_saved(saved).read_text().endswith("x\n")


def test_a_file_that_cannot_be_read_is_served_from_the_revision(
    bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_durable()
    settle(file_of_saved(tea), 100)

    def unreadable(file: Path) -> Any:
        raise PermissionError(13, "no")

    monkeypatch.setattr(outside.store, "read", unreadable)
    read = bob.call("memory_get", memory_id="tea")
    assert (read.body, read.warnings) == ("Drink at four.\n", ["file_unreadable"])


def test_what_blocks_does_not_keep_the_rest_waiting(bob: Agent, tea: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "BATCH", 2)
    root = folder_of(tea.scope)
    for number in range(3):
        (root / "memories" / "mine" / f"{number}.md").mkdir(parents=True)
        bob.call("memory_save", title=f"Blocked {number}", body="x", path=f"mine/{number}.md")
    free = bob.call("memory_save", title="Free", body="x")
    for _round in range(6):
        sweep(at_once=True)
    assert not FileIntent.objects.filter(path=free.path).exists()


def test_an_old_file_stays_until_the_new_one_is_there(bob: Agent, tea: Any) -> None:
    all_durable()
    root = folder_of(tea.scope)
    (root / "archive").write_text("in the way")
    archived = bob.call("memory_archive", memory_id="tea")
    assert archived.warnings == ["file_pending"]
    sweep(at_once=True)
    assert file_of_saved(tea).exists()
    (root / "archive").unlink()
    all_durable()
    assert file_of_saved(archived).exists() and not file_of_saved(tea).exists()


# Outside edits where nobody looked.


def test_an_edit_of_the_old_file_of_an_archived_memory_does_not_become_its_text(bob: Agent, tea: Any) -> None:
    all_durable()
    before = file_of_saved(tea).read_text()
    archived = bob.call("memory_archive", memory_id="tea")
    FileIntent.objects.filter(action="write").delete()  # The new file is durable already, the old one's end is not.
    edit_outside(file_of_saved(tea), before.replace("four", "night"))
    sweep(at_once=True)
    all_durable()
    memory = row(tea)
    newest = MemoryRevision.objects.get(memory=memory, number=memory.revision)
    assert b"Drink at four." in bytes(newest.document)
    assert file_of_saved(archived).read_bytes() == bytes(newest.document)
    assert "Drink at night.\n" in texts(bob, tea.memory_id)


def test_a_file_nobody_knew_at_the_place_of_a_new_memory_stays_a_file(bob: Agent, tea: Any) -> None:
    all_durable()
    file = folder_of(tea.scope) / "memories" / "notes.md"
    edit_outside(file, "A person's own note. 手写\n")
    saved = bob.call("memory_save", title="Notes", body="An agent's note.\n", path="notes.md")
    all_durable()
    scanned(tea.scope)
    assert bob.call("memory_get", memory_id=saved.memory_id).body == "An agent's note.\n"
    found = bob.call("memory_search", query="手写").results
    assert len(found) == 1 and found[0].memory_id != saved.memory_id
    assert bob.call("memory_get", memory_id=found[0].memory_id).body == "A person's own note. 手写\n"


@pytest.mark.parametrize("document", [b"\xff\xfe\x00bad", b"---\ntitle: x\n---\n\xe4\xf6\xfc\n", b"\x00\x01\x02"])
@pytest.mark.parametrize("deed", ["append", "archive", "delete", "revert", "move"])
def test_a_file_that_is_no_text_can_be_put_right(bob: Agent, tea: Any, document: bytes, deed: str) -> None:
    bob.call("memory_save", title="Coffee", body="x")
    all_durable()
    edit_outside(file_of_saved(tea), document)
    scanned(tea.scope)
    arguments = {"append": {"text": "x"}, "revert": {"to_revision": 1}, "move": {"to_scope": "shared"}}.get(deed, {})
    try:
        bob.call(f"memory_{deed}", memory_id=tea.memory_id, **arguments)
    except MemRelayError as refused:
        assert refused.code == "NOT_UTF8"
        assert deed not in ("delete", "revert")
    documents = {bytes(one.document) for one in MemoryRevision.objects.filter(memory=row(tea))}
    assert document in documents
    all_durable()


def test_a_deleted_memory_whose_archived_place_was_chosen_comes_back_to_it(bob: Agent) -> None:
    saved = bob.call("memory_save", title="Mine", body="x", path="mine/own.md")
    bob.call("memory_archive", memory_id="mine")
    bob.call("memory_delete", memory_id="mine")
    assert bob.call("memory_restore", memory_id=saved.memory_id).status == "archived"
    assert bob.call("memory_unarchive", memory_id=saved.memory_id).path == saved.path

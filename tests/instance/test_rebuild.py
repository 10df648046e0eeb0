"""``rebuild``: the same list, search and current text from the files alone, and no number that was given out before (L-23)."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.accounts.models import User
from apps.base.errors import MemRelayError
from apps.changes.models import Change
from apps.instance import rebuild as rebuilding
from apps.instance.errors import DatabaseThere, ServerRuns
from apps.instance.management.commands.rebuild import told
from apps.leases.locks import process_lock
from apps.memories.ledger import Create, Deed, IfExists, commit
from apps.memories.models import (
    Alias,
    FileIntent,
    Folder,
    FolderJob,
    ImportedFile,
    LogicalOperation,
    Memory,
    MemoryRevision,
    Resource,
    Scope,
    ScopeCommit,
)
from apps.memories.scopes import SCOPE_FILE, file_of, folder_of
from apps.operations.models import RequestReceipt
from apps.profiles.models import Profile
from apps.search import index
from apps.workspaces.models import Project
from tests.memories.folder_world import fill, imported, snapshot
from tests.memories.ledger_world import all_durable, scanned, settle
from tests.secrets.made import TOKENS
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db
QUERIES = ["茶壶", "BENCH-100821", "kettle", "Half", "archived words", "don't use"]


@pytest.fixture
def alice(world: World) -> Agent:
    return world.alices_agent


@pytest.fixture
def lived_in(world: World, alice: Agent) -> str:
    """A data folder with a bit of everything; answers the workspace's id."""
    project = world.workspace.pk
    call(world.operator, "project_update", project_id=project, description="Carries 消息.")
    save = alice.call
    kettle = save(
        "memory_save", title="茶壶 Kettle", body="Error BENCH-100821; don't use.\r\n", tags=["iron", "热"], kind="rule"
    )
    save(
        "memory_update", memory_id=kettle.memory_id, revision=1, body="Error BENCH-100821; see [[Away]], don't use.\r\n"
    )
    save("memory_save", title="In work", body="The kettle of the workspace.", project_id=project, note_type="project")
    away = save("memory_save", title="Away", body="archived words\n", summary="Put away.")
    save("memory_archive", memory_id=away.memory_id)
    gone = save("memory_save", title="Gone", body="deleted kettle\n")
    save("memory_delete", memory_id=gone.memory_id)
    save(
        "checkpoint_save",
        title="Half way",
        completed="Half.",
        next_steps="The rest.",
        important=True,
        project_id=project,
    )
    world.bobs_agent.call("memory_save", title="Bob's own", body="His kettle.\n")
    document = Create(title="Handbook", body=b"Curated kettle.\n", resource=Resource.CURATED, if_exists=IfExists.NEW)
    commit(world.operator, f"project/{project}", [document], Deed("curation"))
    save("memory_save_many", memories=[{"title": f"Many {number}", "body": f"kettle {number}"} for number in range(5)])
    call(world.operator, "project_archive", project_id=project)
    all_durable()
    return project


def lose_database() -> None:
    """Every row of this server goes; what was on disk stays."""
    rows = (
        RequestReceipt,
        FolderJob,
        ImportedFile,
        FileIntent,
        Alias,
        MemoryRevision,
        Memory,
        ScopeCommit,
        LogicalOperation,
    )
    for model in (*rows, Folder, Scope, Change, Project, User):
        model.objects.all().delete()
    Profile.tokens.field.model.objects.all().delete()
    Profile.objects.exclude(pk="shared").delete()
    index.empty()


def seen(world: World) -> dict[str, Any]:
    """What callers can read, without the numbers of revisions."""
    operator = world.operator
    listed = call(operator, "memory_list", resource="any", status="any", limit=200).model_dump(mode="json")["memories"]
    living = [memory for memory in listed if memory["status"] != "deleted"]
    ids = [memory["memory_id"] for memory in living]
    texts = {one: call(operator, "memory_get", memory_id=one).model_dump(mode="json") for one in ids}
    found = {
        query: [
            without_revision(hit)
            for hit in call(operator, "memory_search", query=query).model_dump(mode="json")["results"]
        ]
        for query in QUERIES
    }
    checkpoints = call(operator, "checkpoint_list").model_dump(mode="json")["checkpoints"]
    workspaces = call(operator, "project_list", archived="any").model_dump(mode="json")["projects"]
    return {
        "list": [without_revision(memory) for memory in living],
        "texts": {one: without_revision(memory) for one, memory in texts.items()},
        "found": found,
        "checkpoints": [without_revision(checkpoint) for checkpoint in checkpoints],
        "workspaces": [without_revision(workspace) for workspace in workspaces],
        "tagged": [memory.title for memory in call(operator, "memory_list", tags=["热"]).memories],
        "by_slug": call(operator, "memory_get", memory_id="茶壶-kettle").title,
        "bob": [memory["title"] for memory in living if memory["scope"] == "global/bob"],
    }


def without_revision(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name != "revision"}


def test_the_same_list_search_and_text_come_back_from_the_files_alone(
    world: World, lived_in: str, data_folder: Path
) -> None:
    before, files = seen(world), snapshot(data_folder / "basic-memory")
    lose_database()
    report = rebuilding.recreate()
    assert seen(world) == before
    assert report.resources == {"memory": 9, "checkpoint": 1, "curated": 1} and report.archived == 1
    assert report.workspaces == 1 and not report.problems
    after = snapshot(data_folder / "basic-memory")
    changed = {path for path in after if after[path] != files.get(path)}
    assert all(path.endswith(SCOPE_FILE) or "/.memrelay/aside/" in path for path in changed)
    assert not [path for path in files if path not in after]


def test_no_old_revision_number_matches_a_rebuilt_text(world: World, alice: Agent, lived_in: str) -> None:
    kettle = Memory.objects.get(title="茶壶 Kettle")
    highest = Scope.objects.get(key="global/shared").reserved_revisions
    lose_database()
    rebuilding.recreate()
    rebuilt = call(world.operator, "memory_get", memory_id=kettle.stable_id)
    assert rebuilt.revision == highest + 1
    content = json.loads((folder_of("global/shared") / SCOPE_FILE).read_text())
    assert content["reserved_revisions"] > rebuilt.revision
    with pytest.raises(MemRelayError) as conflict:
        call(world.operator, "memory_update", memory_id=kettle.stable_id, revision=2, body="stale")
    assert conflict.value.code == "REVISION_CONFLICT"
    updated = call(world.operator, "memory_update", memory_id=kettle.stable_id, revision=rebuilt.revision, body="new")
    assert updated.revision == highest + 2
    lose_database()
    rebuilding.recreate()
    assert call(world.operator, "memory_get", memory_id=kettle.stable_id).revision > highest + 2


def test_a_scan_after_a_rebuild_finds_nothing_to_do(world: World, lived_in: str) -> None:
    lose_database()
    rebuilding.recreate()
    counts = MemoryRevision.objects.count(), Change.objects.count()
    for scope in ("global/shared", "global/bob", f"project/{lived_in}"):
        report = scanned(scope)
        assert (report.adopted, report.found, report.moved, report.vanished, report.alarm) == (0, 0, 0, 0, None)
    assert (MemoryRevision.objects.count(), Change.objects.count()) == counts


def test_a_lost_scope_file_costs_the_workspaces_name_and_nothing_else(world: World, lived_in: str) -> None:
    revision = Memory.objects.get(title="In work").revision
    (folder_of(f"project/{lived_in}") / SCOPE_FILE).unlink()
    (folder_of("global/bob") / SCOPE_FILE).write_text("{broken")
    lose_database()
    report = rebuilding.recreate()
    assert sorted(report.problems) == [
        ("scope_file", "global/bob", SCOPE_FILE),
        ("scope_file", f"project/{lived_in}", SCOPE_FILE),
    ]
    assert Project.objects.get(pk=lived_in).name == lived_in
    assert Memory.objects.get(title="In work").revision > revision


def test_what_cannot_come_back_is_told_and_left_where_it_lies(world: World, lived_in: str) -> None:
    kettle = Memory.objects.get(title="茶壶 Kettle")
    original = file_of(kettle.scope_id, kettle.path)
    folder = original.parent
    text = original.read_text()
    older = text.replace("revision: 2", "revision: 1")
    (folder / "older-copy.md").write_text(older)
    (folder / "latin.md").write_bytes("Gr\xfc\xdfe".encode("latin-1"))
    (folder / "stranger.md").write_text("no head\n")
    (folder / original.name.upper().replace("MD", "md")).write_text(older.replace(kettle.stable_id, "mem_other"))
    (folder / "link.md").symlink_to(original)
    lying = snapshot(folder)
    lose_database()
    report = rebuilding.recreate()
    codes = {path.rpartition("/")[2]: code for code, _scope, path in report.problems}
    assert codes.pop("older-copy.md") == "twin" and codes.pop("latin.md") == "unreadable"
    assert codes.pop("stranger.md") == "stranger" and set(codes.values()) == {"name_taken"}
    assert call(world.operator, "memory_get", memory_id=kettle.stable_id).body.startswith("Error BENCH")
    assert snapshot(folder) == lying
    settle(folder / "stranger.md")
    assert scanned("global/shared").found >= 1
    assert call(world.operator, "memory_get", memory_id="stranger").body == "no head\n"


def test_text_with_a_secret_stays_withheld(world: World, alice: Agent) -> None:
    saved = alice.call("memory_save", title="Plain", body="words\n")
    all_durable()
    file = file_of(saved.scope, saved.path)
    file.write_text(file.read_text() + f"key {TOKENS['memrelay-token']}\n")
    lose_database()
    rebuilding.recreate()
    assert Memory.objects.get(stable_id=saved.memory_id).withheld
    assert not call(world.operator, "memory_search", query="words").results


def test_a_folder_imported_before_the_loss_is_recognised_by_its_texts(
    world: World, tmp_path: Path, settings: Any
) -> None:
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    source = fill(tmp_path / "outside", {"a.md": "one\n", "b/Some Name.md": "---\naliases: [Nick]\n---\n# Title\n"})
    imported(world, source)
    all_durable()
    lose_database()
    rebuilding.recreate()
    assert call(world.operator, "memory_get", memory_id="Nick").title == "Title"
    assert call(world.operator, "memory_get", memory_id="Some Name").title == "Title"
    operator = World()
    again = imported(operator, source)
    assert (again.imported, again.unchanged) == (0, 2)


def test_full_folders_stay_full(world: World, alice: Agent, settings: Any) -> None:
    settings.FOLDER_FILES = 3
    for number in range(5):
        alice.call("memory_save", title=f"n{number}", body="x")
    all_durable()
    lose_database()
    rebuilding.recreate()
    folder = Folder.objects.get(scope="global/shared", base__startswith="memories/")
    assert (folder.number, folder.files) == (2, 2)


def test_the_command_tells_what_is_back_and_what_is_not(world: World, lived_in: str) -> None:
    lose_database()
    lines = told(rebuilding.recreate())
    assert lines[0] == "Back: 9 memories (1 archived), 1 checkpoints, 1 curated documents."
    shown = "\n".join(lines)
    for word in ("history", "cursors", "receipts", "tokens", "users", "settings", "sealed values"):
        assert f"- {word}" in shown


def test_it_refuses_while_a_server_runs(data_folder: Path) -> None:
    with process_lock("worker"), pytest.raises(ServerRuns):
        rebuilding.rebuild(force=True)
    with process_lock("web"), pytest.raises(CommandError, match="Stop it first"):
        call_command("rebuild")


def test_it_refuses_where_a_database_is(data_folder: Path, settings: Any) -> None:
    settings.DATABASE_FILE = data_folder / "memrelay" / "db" / "memrelay.sqlite3"
    settings.DATABASE_FILE.parent.mkdir(parents=True)
    with sqlite3.connect(settings.DATABASE_FILE) as made:
        made.execute("CREATE TABLE something (id)")
    with pytest.raises(DatabaseThere):
        rebuilding.rebuild()
    assert connection.settings_dict["NAME"] != str(settings.DATABASE_FILE)

"""L-12 to L-24: what one transaction decides, and what it leaves behind when it fails."""

import json
from typing import Any

import pytest

from apps.base import clock
from apps.changes.models import Change
from apps.leases.errors import ScopeBusy
from apps.leases.held import exclusive_key
from apps.leases.models import Lease
from apps.leases.owners import this_owner
from apps.memories import ledger
from apps.memories.errors import HeadConflict, MemoryUnknown, ReviewNeeded, RevisionConflict, TitleTaken, WrongResource
from apps.memories.ledger import Create, Deed, Edit, IfExists, commit
from apps.memories.models import (
    Alias,
    FileIntent,
    LogicalOperation,
    Memory,
    MemoryRevision,
    Resource,
    Scope,
    ScopeCommit,
)
from apps.memories.scopes import SCOPE_FILE, folder_of
from apps.operations.models import RequestReceipt
from apps.operations.receipts import RequestIdReused
from apps.search.models import Document
from apps.secrets.errors import CredentialDetected
from tests.memories.ledger_world import all_durable, file_of_saved, outside_body, row, scanned, texts
from tests.secrets.made import some
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(world: World) -> Agent:
    return world.bobs_agent


@pytest.fixture
def tea(bob: Agent) -> Any:
    return bob.call("memory_save", title="Tea", body="Drink at four.\n", tags=["hot"])


def everything() -> dict[str, int]:
    """Counts of every trace a write leaves."""
    models = (Memory, MemoryRevision, ScopeCommit, LogicalOperation, FileIntent, Change, Document, RequestReceipt)
    return {model.__name__: model.objects.count() for model in models}


def test_a_write_is_one_operation_one_commit_one_revision_and_one_change(bob: Agent, tea: Any) -> None:
    before = everything()
    bob.call("memory_update", memory_id="tea", revision=1, body="Drink at five.\n")
    after = everything()
    assert {name: after[name] - before[name] for name in after} == {
        "Memory": 0,
        "MemoryRevision": 1,
        "ScopeCommit": 1,
        "LogicalOperation": 1,
        "FileIntent": 1,
        "Change": 1,
        "Document": 0,
        "RequestReceipt": 0,
    }


def test_a_stale_revision_is_refused_and_nothing_is_written(bob: Agent, tea: Any) -> None:
    bob.call("memory_update", memory_id="tea", revision=1, body="Drink at five.\n")
    before, text = everything(), file_of_saved(tea).read_bytes()
    with pytest.raises(RevisionConflict) as refused:
        bob.call("memory_update", memory_id="tea", revision=1, body="Drink at six.\n")
    assert refused.value.facts["current"] == 2
    assert everything() == before
    assert file_of_saved(tea).read_bytes() == text


def test_an_edit_that_changes_nothing_makes_no_revision(bob: Agent, tea: Any) -> None:
    before = everything()
    answer = bob.call("memory_update", memory_id="tea", revision=1, body="Drink at four.\n")
    assert (answer.changed, answer.revision) == (False, 1)
    assert everything()["MemoryRevision"] == before["MemoryRevision"]


def test_l12_an_existing_title_is_refused_with_its_id_or_stored_as_a_new_memory(bob: Agent, tea: Any) -> None:
    with pytest.raises(TitleTaken) as refused:
        bob.call("memory_save", title="  TEA ", body="Other.\n")
    assert refused.value.facts["memory_id"] == tea.memory_id
    second = bob.call("memory_save", title="Tea", body="Other.\n", if_exists="new")
    assert (second.slug, second.path) == ("tea-2", tea.path.replace("tea.md", "tea-2.md"))
    assert bob.call("memory_get", memory_id="tea").body == "Drink at four.\n"


def test_l12_a_full_folder_gets_a_successor(bob: Agent, settings: Any) -> None:
    settings.FOLDER_FILES = 2
    paths = [bob.call("memory_save", title=f"Note {number}", body="x").path for number in range(5)]
    month = paths[0].split("/")[2]
    assert [path.split("/")[2] for path in paths] == [month, month, f"{month}-2", f"{month}-2", f"{month}-3"]


def test_l13_what_runs_within_moves_with_the_write_or_not_at_all(world: World, bob: Agent, tea: Any) -> None:
    def fail(done: object) -> None:
        LogicalOperation.objects.create(id="op_within", name="within", actor="x", origin="agent", profile="bob")
        raise ValueError("not this time")

    before = everything()
    with pytest.raises(ValueError, match="not this time"):
        commit(world.operator, tea.scope, [Create(title="New", body=b"x")], Deed("memory_save", within=fail))
    assert everything() == before


def test_l14_a_move_keeps_id_and_history_and_leaves_an_alias(world: World, bob: Agent, tea: Any) -> None:
    world.alices_agent.call("memory_save", title="tea!", body="Another.\n", scope="shared")
    moved = bob.call("memory_move", memory_id="tea", to_scope="shared")
    assert (moved.memory_id, moved.scope, moved.slug, moved.revision) == (tea.memory_id, "global/shared", "tea-2", 2)
    assert not file_of_saved(tea).exists() and file_of_saved(moved).exists()
    assert Alias.objects.get(scope="global/bob").memory_id == row(moved).pk
    assert texts(bob, tea.memory_id) == ["Drink at four.\n", "Drink at four.\n"]
    operation = MemoryRevision.objects.get(memory=row(moved), number=2).commit.operation
    assert {part.scope_id for part in operation.commits.all()} == {"global/bob", "global/shared"}
    all_durable()
    assert scanned("global/shared").notices == scanned("global/bob").notices == []


def test_l15_a_scope_under_an_exclusive_lease_is_busy(bob: Agent, tea: Any) -> None:
    Lease.objects.create(
        key=exclusive_key(tea.scope),
        kind="restore",
        owner=this_owner(),
        attempt=1,
        taken_at=clock.now(),
        heartbeat_at=clock.now(),
    )
    before = everything()
    with pytest.raises(ScopeBusy):
        bob.call("memory_append", memory_id="tea", text="More.")
    assert everything() == before
    assert bob.call("memory_get", memory_id="tea").revision == 1


def test_l16_checkpoints_never_collide_and_memories_may_share_a_title_with_them(bob: Agent) -> None:
    first = bob.call("checkpoint_save", title="Evening", completed="a")
    second = bob.call("checkpoint_save", title="Evening", completed="b")
    note = bob.call("memory_save", title="Evening", body="c")
    assert len({first.slug, second.slug, note.slug}) == 3


@pytest.mark.parametrize("deed", ["memory_archive", "memory_delete", "memory_move"])
def test_l17_checkpoints_refuse_what_memories_allow(bob: Agent, deed: str) -> None:
    saved = bob.call("checkpoint_save", completed="something")
    arguments = {"to_scope": "shared"} if deed == "memory_move" else {}
    with pytest.raises(WrongResource):
        bob.call(deed, memory_id=saved.memory_id, **arguments)
    assert bob.call("checkpoint_latest").checkpoint.completed.strip() == "something"


def test_l17_two_curated_documents_are_one_operation_and_refuse_edits_as_memories(world: World, bob: Agent) -> None:
    """The road that curation will take: several documents of ``resource=curated``, written as one deed."""
    documents = [
        Create(
            title=title,
            body=f"# {title}\n\nText.\n".encode(),
            resource=Resource.CURATED,
            slug=slug,
            path=f"curated/{slug}.md",
            if_exists=IfExists.NEW,
            extra={"document_type": slug, "source_memory_ids": ["mem_1", "mem_2"]},
        )
        for title, slug in (("Overview", "overview"), ("Current state", "current-state"))
    ]
    done = commit(world.operator, f"project/{world.workspace.pk}", documents, Deed("curation_apply"))
    assert [outcome.memory.path for outcome in done.outcomes] == ["curated/overview.md", "curated/current-state.md"]
    assert done.operation.state == "closed" and done.operation.commits.count() == 1
    text = (folder_of(f"project/{world.workspace.pk}") / "curated" / "overview.md").read_text()
    assert "document_type: overview" in text and "type: curated" in text
    with pytest.raises(WrongResource):
        bob.call("memory_append", memory_id=done.outcomes[0].memory.stable_id, text="mine")
    again = commit(
        world.operator,
        f"project/{world.workspace.pk}",
        [
            Edit(memory_id=outcome.memory.stable_id, revision=1, fields={"summary": "newer"}, action="curate")
            for outcome in done.outcomes
        ],
        Deed("curation_apply", expected_head=done.commit.version),
    )
    assert [outcome.memory.revision for outcome in again.outcomes] == [2, 2]
    with pytest.raises(HeadConflict):
        commit(
            world.operator,
            f"project/{world.workspace.pk}",
            [Edit(memory_id=done.outcomes[0].memory.stable_id, fields={"summary": "stale"})],
            Deed("curation_apply", expected_head=done.commit.version),
        )


def test_l18_a_deleted_memory_keeps_slug_and_path(bob: Agent, tea: Any) -> None:
    bob.call("memory_delete", memory_id="tea")
    again = bob.call("memory_save", title="Tea", body="New.\n")
    assert (again.slug, again.memory_id != tea.memory_id) == ("tea-2", True)
    with pytest.raises(MemoryUnknown):
        bob.call("memory_delete", memory_id=tea.memory_id)
    restored = bob.call("memory_restore", memory_id=tea.memory_id)
    assert (restored.slug, restored.path, restored.status) == ("tea", tea.path, "active")


def test_l19_an_operation_over_several_commits_is_open_until_it_is_closed(world: World, tea: Any) -> None:
    operation = ledger.open_operation(world.operator, "memory_import", job_id="job_1")
    for number in range(3):
        commit(
            world.operator,
            tea.scope,
            [Create(title=f"Part {number}", body=b"x")],
            Deed("memory_import", operation=operation),
        )
    operation.refresh_from_db()
    assert (operation.state, operation.closing_number, operation.commits.count()) == ("open", None, 3)
    ledger.close_operation(operation)
    ledger.close_operation(operation)
    operation.refresh_from_db()
    assert operation.state == "closed" and operation.closing_number == LogicalOperation.objects.count()


def test_l20_a_repeated_request_does_nothing_twice_and_answers_the_same(bob: Agent) -> None:
    first = bob.call("memory_save", title="Once", body="x", request_id="r1")
    before = everything()
    assert bob.call("memory_save", title="Once", body="x", request_id="r1") == first
    assert everything() == before
    with pytest.raises(RequestIdReused):
        bob.call("memory_save", title="Once", body="another", request_id="r1")
    with pytest.raises(RequestIdReused):
        bob.call("memory_append", memory_id=first.memory_id, text="x", request_id="r1")


@pytest.mark.parametrize("deed", ["append", "delete", "archive", "update"])
def test_l20_every_deed_may_be_repeated_with_its_request_id(bob: Agent, tea: Any, deed: str) -> None:
    arguments: dict[str, Any] = {"memory_id": "tea", "request_id": f"r-{deed}"}
    if deed == "append":
        arguments["text"] = "More."
    if deed == "update":
        arguments |= {"revision": 1, "title": "Tea time"}
    first = bob.call(f"memory_{deed}", **arguments)
    before = everything()
    again = bob.call(f"memory_{deed}", **arguments)
    assert again.revision == first.revision
    assert everything() == before


def test_l20_a_replayed_answer_shows_only_what_the_caller_may_still_see(world: World, bob: Agent) -> None:
    bound = world.agent("bound", profile_id="bob", project_id=world.workspace.pk)
    saved = bound.call("memory_save", title="Inside", body="x", request_id="r1")
    elsewhere = world.agent("elsewhere", profile_id="bob", project_id=other_workspace(world))
    with pytest.raises((MemoryUnknown, RequestIdReused)):
        elsewhere.call("memory_delete", memory_id=saved.memory_id, request_id="r1")


def other_workspace(world: World) -> str:
    made: Any = call(world.operator, "project_create", name="Other")
    return str(made.project_id)


def test_l22_only_a_new_secret_is_refused_and_an_adopted_one_is_withheld(bob: Agent, tea: Any) -> None:
    secret = "ghp_" + some(36)
    before = everything()
    with pytest.raises(CredentialDetected) as refused:
        bob.call("memory_append", memory_id="tea", text=f"key {secret}")
    assert secret not in str(refused.value) and secret not in json.dumps(refused.value.as_dict())
    assert everything() == before
    all_durable()
    outside_body(file_of_saved(tea), "four", f"four {secret}")
    assert scanned(tea.scope).notices == [{"code": "secret_withheld", "path": tea.path}]
    assert bob.call("memory_search", query="Drink").results == []
    assert bob.call("memory_get", memory_id="tea").warnings == ["secret_withheld"]
    kept = bob.call("memory_append", memory_id="tea", text="Nothing new that is secret.")
    assert kept.revision == 3 and bob.call("memory_search", query="Drink").results == []
    cleaned = bob.call("memory_update", memory_id="tea", revision=3, body="Drink at four.\n")
    assert cleaned.revision == 4
    assert len(bob.call("memory_search", query="Drink").results) == 1


def test_l23_the_scope_file_reserves_revision_numbers_ahead(world: World, bob: Agent, tea: Any) -> None:
    all_durable()
    told = json.loads((folder_of(tea.scope) / SCOPE_FILE).read_text())
    assert (told["scope"], told["reserved_revisions"]) == ("global/bob", 1000)
    Memory.objects.filter(stable_id=tea.memory_id).update(revision=1000)
    MemoryRevision.objects.filter(memory=row(tea)).update(number=1000)
    bob.call("memory_append", memory_id="tea", text="More.")
    all_durable()
    told = json.loads((folder_of(tea.scope) / SCOPE_FILE).read_text())
    assert told["reserved_revisions"] > 1001
    assert Scope.objects.get(key="global/bob").reserved_revisions == told["reserved_revisions"]


def test_l23_a_changed_workspace_changes_its_scope_file(world: World) -> None:
    pk = world.workspace.pk
    all_durable()
    file = folder_of(f"project/{pk}") / SCOPE_FILE
    assert json.loads(file.read_text())["workspace"]["name"] == "Relay"
    call(world.operator, "project_update", project_id=pk, revision=world.workspace.revision, name="Renamed")
    all_durable()
    assert json.loads(file.read_text())["workspace"]["name"] == "Renamed"


def test_l24_every_area_uses_year_and_month(bob: Agent, tea: Any) -> None:
    year_month = "/".join(tea.path.split("/")[1:3])
    assert tea.path == f"memories/{year_month}/tea.md"
    assert bob.call("checkpoint_save", completed="x").path.startswith(f"checkpoints/{year_month}/")
    assert bob.call("memory_archive", memory_id="tea").path == f"archive/{year_month}/tea.md"


def test_a_reviewed_scope_takes_no_direct_write(world: World) -> None:
    Scope.objects.create(key="library", policy="reviewed")
    before = everything()
    with pytest.raises(ReviewNeeded):
        world.alices_agent.call("memory_save", title="Rule", body="x", scope="library")
    assert everything() == before


def test_a_listener_that_fails_takes_the_write_with_it(bob: Agent, tea: Any, settings: Any) -> None:
    settings.CHANGE_LISTENERS = [f"{__name__}.refuse"]
    before = everything()
    with pytest.raises(RuntimeError, match="listener"):
        bob.call("memory_append", memory_id="tea", text="More.")
    assert everything() == before
    assert "More" not in file_of_saved(tea).read_text()


def refuse(changes: object) -> None:
    raise RuntimeError("The listener says no.")


def test_saving_many_is_all_or_nothing(bob: Agent, tea: Any) -> None:
    before = everything()
    with pytest.raises(TitleTaken):
        bob.call("memory_save_many", memories=[{"title": "A", "body": "a"}, {"title": "Tea", "body": "b"}])
    assert everything() == before
    saved = bob.call("memory_save_many", memories=[{"title": "A", "body": "a"}, {"title": "B", "body": "b"}])
    assert [one.slug for one in saved.memories] == ["a", "b"]
    assert ScopeCommit.objects.latest("pk").changes == 2

"""A curation from the request to the documents, with the model server as a program."""

import json
from typing import Any

import pytest

from apps.changes.selectors import head
from apps.curation.models import CuratedDocument, CuratedSource, CurationCursor
from apps.memories import frontmatter
from apps.memories.models import LogicalOperation, Memory, Resource
from apps.memories.scopes import file_of, project_scope
from tests.curation.conftest import ANSWER, GOOD
from tests.memories.ledger_world import all_durable, outside_body
from tests.world import World

pytestmark = pytest.mark.django_db


def documents(world: World) -> dict[str, Memory]:
    rows = Memory.objects.filter(resource=Resource.CURATED, scope=project_scope(world.workspace.pk))
    return {row.path: row for row in rows}


def test_thirty_memories_become_two_documents_that_cite_their_sources(world, switched_on, thirty, curate):
    job = curate(reason="first")

    assert (job.state, job.result, job.error) == ("completed", "applied", "")
    assert (job.sources_read, job.documents_created, job.attempt, job.retries) == (30, 2, 1, 0)
    assert job.requests == 1 and job.tokens_in > 0 and job.tokens_out > 0
    overview, state = documents(world)["curated/overview.md"], documents(world)["curated/current-state.md"]
    assert (overview.revision, state.revision, overview.title) == (1, 1, "Overview of the relay")
    text = file_of(overview.scope_id, overview.path).read_text()
    assert "## Aim" in text and "它保存记忆" in text
    slugs = Memory.objects.filter(stable_id__in=thirty).values_list("slug", flat=True)
    assert all(f"[[{slug}]]" in text for slug in slugs)
    assert set(CuratedSource.objects.filter(document__memory=overview).values_list("source_id", flat=True)) == set(
        thirty
    )


def test_every_key_of_the_frontmatter_is_there(world, switched_on, thirty, curate):
    job = curate()
    document = file_of(project_scope(world.workspace.pk), "curated/overview.md").read_bytes()
    head_of = frontmatter.read(document)
    told = {**head_of, **head_of.other}

    assert told["scope"] == "project"
    assert told["project_id"] == world.workspace.pk
    assert told["workspace_type"] == world.workspace.workspace_type
    assert told["usage_profile_id"] == "shared"
    assert told["document_type"] == "overview"
    assert told["revision"] == 1
    assert sorted(told["source_memory_ids"]) == sorted(thirty)
    assert told["curation_job_id"] == job.pk
    assert (told["model_name"], told["prompt_version"]) == ("double-text", "curate-1")
    keys = document.decode().partition("---\n")[2].partition("\n---")[0]
    for key in (
        "stable_id preference_context source_checkpoint_ids source_file_ids source_git_commit model_connection"
        " created_at updated_at"
    ).split():
        assert f"{key}:" in keys


def test_both_documents_are_one_operation_and_the_cursor_moves_with_them(world, switched_on, thirty, curate):
    before = head()
    job = curate()

    operation = LogicalOperation.objects.get(pk=job.operation_id)
    assert (operation.name, operation.state, operation.origin) == ("curation_apply", "closed", "curation")
    assert operation.commits.get().changes == 2
    assert CurationCursor.objects.get(pk=job.scope_key).sequence == job.end_cursor == before


def test_a_second_run_asks_no_model_while_nothing_changed(world, switched_on, thirty, curate):
    curate()
    switched_on.answer()
    again = curate()

    assert (again.state, again.result) == ("completed", "nothing_to_do")
    assert switched_on.generations() == []
    assert {memory.revision for memory in documents(world).values()} == {1}


def test_a_forced_run_asks_although_nothing_changed_and_writes_no_empty_revision(world, switched_on, thirty, curate):
    curate()
    switched_on.answer()
    again = curate(force=True)

    assert len(switched_on.generations()) == 1
    assert (again.result, again.documents_unchanged) == ("nothing_to_do", 2)
    assert {memory.revision for memory in documents(world).values()} == {1}


def test_an_incremental_run_reads_what_changed_and_sees_the_documents(world, switched_on, thirty, curate):
    curate()
    new = world.bobs_agent.call("memory_save", title="Newer", body="Search is done.", project_id=world.workspace.pk)
    changed = json.loads(json.dumps(ANSWER))
    changed["documents"] = [changed["documents"][1]]
    changed["documents"][0]["sections"][0] |= {"body": "Search is done.", "source_ids": [new.memory_id, thirty[0]]}
    switched_on.answer({"json": changed})
    job = curate()

    (request,) = switched_on.generations()
    sent = json.dumps(request["body"], ensure_ascii=False)
    assert (job.sources_read, job.documents_updated) == (1, 1)
    assert "Search is done." in sent and "Backups run at night." in sent and "Note 07" not in sent
    assert {path: memory.revision for path, memory in documents(world).items()} == {
        "curated/overview.md": 1,
        "curated/current-state.md": 2,
    }
    state = CuratedDocument.objects.get(document_type="current-state")
    sources = CuratedSource.objects.filter(document=state, revision=2).values_list("source_id", flat=True)
    assert set(sources) == {new.memory_id, thirty[0]}


def test_what_was_deleted_is_named_as_removed_and_can_be_cited_no_more(world, switched_on, thirty, curate):
    curate()
    gone = thirty[3]
    world.bobs_agent.call("memory_delete", memory_id=gone)
    listed = world.bobs_agent.call("curated_document_list", project_id=world.workspace.pk)
    assert all(document.stale for document in listed.documents)

    switched_on.answer(GOOD)
    job = curate()
    (request,) = switched_on.generations()
    assert "# Removed sources" in json.dumps(request["body"], ensure_ascii=False)
    # The double cites every id of the request, the removed one too.
    assert (job.state, job.error_code) == ("queued", "CURATION_ANSWER_REJECTED")
    assert {memory.revision for memory in documents(world).values()} == {1}


def test_an_edit_in_the_folder_is_what_the_next_curation_begins_from(world, switched_on, thirty, curate):
    curate()
    file = file_of(project_scope(world.workspace.pk), "curated/overview.md")
    all_durable()
    outside_body(file, "It keeps memories.", "It keeps memories, says Maya.")
    switched_on.answer(GOOD)
    job = curate(force=True)

    (request,) = switched_on.generations()
    assert "says Maya" in json.dumps(request["body"])
    assert job.state == "completed"
    assert documents(world)["curated/overview.md"].revision == 3
    got = world.bobs_agent.call(
        "curated_document_get", project_id=world.workspace.pk, document_type="overview", revision=2
    )
    assert "says Maya" in got.body and got.current_revision == 3


def test_a_document_that_changes_while_the_model_thinks_is_curated_once_more(
    world, switched_on, thirty, curate, monkeypatch
):
    curate()
    from apps.curation import running

    genuine, edits = running.generate, []

    def meanwhile(*args: Any, **kwargs: Any) -> Any:
        answer = genuine(*args, **kwargs)
        if not edits:
            from apps.memories import documents as text
            from apps.memories.ledger import Deed, Edit, commit

            memory = documents(world)["curated/overview.md"]
            edits.append(
                commit(
                    world.operator,
                    memory.scope_id,
                    [
                        Edit(
                            memory_id=memory.stable_id,
                            transform=lambda old: text.with_body(old, b"A person's words.\n"),
                        )
                    ],
                    Deed("edit"),
                )
            )
        return answer

    monkeypatch.setattr(running, "generate", meanwhile)
    changed = json.loads(json.dumps(ANSWER))
    changed["documents"][0]["sections"][0]["body"] = "Other words."
    switched_on.answer()
    switched_on.scenario(otherwise={**GOOD, "template": changed})
    job = curate(force=True)

    assert job.state == "completed" and job.attempt == 1
    first, second = switched_on.generations()
    assert "A person's words." not in json.dumps(first["body"]) and "A person's words." in json.dumps(second["body"])
    assert documents(world)["curated/overview.md"].revision == 3


def test_more_than_a_request_holds_is_read_in_batches_before_anything_is_written(world, switched_on, curate, settings):
    settings.SOURCE_TOKENS = 1500
    ids = [
        world.bobs_agent.call(
            "memory_save",
            title=f"Long {number}",
            body=f"{'words and more words ' * 100}{number}",
            project_id=world.workspace.pk,
        ).memory_id
        for number in range(6)
    ]
    job = curate()

    assert job.state == "completed", job.error
    assert job.batch == len(switched_on.generations()) > 2
    assert (job.sources_read, job.uncovered) == (6, [])
    assert {memory.revision for memory in documents(world).values()} == {1}
    assert set(CuratedSource.objects.values_list("source_id", flat=True)) == set(ids)


def test_an_empty_workspace_has_nothing_to_curate(world, switched_on, curate):
    job = curate(force=True)

    assert (job.state, job.result) == ("completed", "nothing_to_do")
    assert switched_on.generations() == []


def test_documents_are_listed_and_read_with_their_sources(world, switched_on, thirty, curate):
    curate()
    bob, project = world.bobs_agent, world.workspace.pk

    listed = bob.call("curated_document_list", project_id=project).documents
    assert [item.document_type for item in listed] == ["overview", "current-state"]
    assert {(item.source_count, item.stale, item.edited, item.model) for item in listed} == {
        (30, False, False, "double-text")
    }
    got = bob.rest.get(f"/curation/documents/{listed[0].document_id}", include_sources="true").json()
    assert got["body"].startswith("## Aim") and len(got["sources"]) == 30
    assert {source["state"] for source in got["sources"]} == {"current"}
    assert bob.rest.get("/curation/documents/nothing").status_code == 404
    assert bob.rest.get(f"/curation/documents/{thirty[0]}").status_code == 404


def test_a_document_is_no_memory_to_be_put_away(world, switched_on, thirty, curate):
    curate()
    document = documents(world)["curated/overview.md"]

    refused = world.bobs_agent.rest.delete(f"/memories/{document.stable_id}")
    assert refused.json()["error"]["code"] == "WRONG_RESOURCE"


def test_the_names_of_documents_are_kept_for_them(world, switched_on, curate):
    saved = world.bobs_agent.call("memory_save", title="Overview", body="A memory.", project_id=world.workspace.pk)
    elsewhere = world.bobs_agent.call("memory_save", title="Overview", body="A memory.", scope="global")
    assert (saved.slug, elsewhere.slug) == ("overview-2", "overview")

    curate()
    assert documents(world)["curated/overview.md"].slug == "overview"
    assert file_of(project_scope(world.workspace.pk), "curated/overview.md").exists()


def test_a_workspace_where_a_memory_has_had_the_name_gets_its_document_all_the_same(world, switched_on, curate):
    saved = world.bobs_agent.call("memory_save", title="Old", body="A memory.", project_id=world.workspace.pk)
    Memory.objects.filter(stable_id=saved.memory_id).update(slug="overview", slug_key="overview")
    job = curate()

    assert job.state == "completed", job.error
    assert documents(world)["curated/overview.md"].slug == "overview-2"


def test_context_begins_with_the_documents_and_tells_what_they_do_not_know(world, switched_on, thirty, curate):
    curate()
    world.bobs_agent.call("memory_save", title="Newest", body="Not curated yet.", project_id=world.workspace.pk)
    answer = world.bobs_agent.call("context_get", project_id=world.workspace.pk, max_tokens=20_000)

    assert [item.title for item in answer.curated] == ["Overview of the relay", "Where it stands"]
    assert (answer.curation.state, answer.curation.changes_since) == ("on", 1)
    assert answer.memories[0].title == "Newest"

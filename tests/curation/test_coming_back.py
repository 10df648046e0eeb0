"""Documents whose file or row was lost: the next curation, and a rebuild, go on with them."""

import pytest

from apps.curation.models import CuratedDocument, CuratedSource
from apps.instance import rebuild as rebuilding
from apps.memories.ledger import Deed, Delete, commit
from apps.memories.models import Memory, Status
from apps.memories.scopes import file_of
from tests.curation.conftest import GOOD
from tests.instance.test_rebuild import lose_database
from tests.memories.ledger_world import all_durable
from tests.world import World

pytestmark = pytest.mark.django_db


def test_a_document_that_vanished_is_brought_back_and_goes_on(world: World, switched_on, thirty, curate):
    curate()
    row = Memory.objects.get(path="curated/overview.md")
    commit(world.operator, row.scope_id, [Delete(memory_id=row.stable_id, any_resource=True)], Deed("vanish"))
    all_durable()
    assert not file_of(row.scope_id, row.path).exists()
    job = curate(force=True)

    again = Memory.objects.get(path="curated/overview.md")
    assert job.state == "completed", job.error
    assert (again.stable_id, again.status, again.revision) == (row.stable_id, Status.ACTIVE, 4)
    assert "## Aim" in file_of(row.scope_id, row.path).read_text()


def test_a_rebuild_knows_the_documents_and_their_sources_again(world: World, switched_on, thirty, curate):
    curate()
    all_durable()
    project = world.workspace.pk
    before = set(CuratedSource.objects.values_list("document__document_type", "source_id"))
    lose_database()
    CuratedDocument.objects.all().delete()
    rebuilding.recreate()

    agent = World().agent("after", toolset="full")
    listed = agent.call("curated_document_list", project_id=project).documents
    assert [(item.document_type, item.source_count, item.model) for item in listed] == [
        ("overview", 30, "double-text"),
        ("current-state", 30, "double-text"),
    ]
    assert set(CuratedSource.objects.values_list("document__document_type", "source_id")) == before


def test_context_says_that_a_document_is_stale(world: World, switched_on, thirty, curate):
    curate()
    world.bobs_agent.call("memory_delete", memory_id=thirty[0])
    answer = world.bobs_agent.call("context_get", project_id=world.workspace.pk)
    assert [item.stale for item in answer.curated] == [True, True]

    switched_on.scenario(otherwise={**GOOD, "ids": rf"\b(?!{thirty[0]})mem_[0-9a-hjkmnp-tv-z]{{26}}\b"})
    assert curate().state == "completed"
    answer = world.bobs_agent.call("context_get", project_id=world.workspace.pk)
    assert [item.stale for item in answer.curated] == [False, False]

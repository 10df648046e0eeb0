"""``search_state_get`` and the steering of embedding, through REST and the operations."""

import json
from typing import Any

import pytest

from apps.search.vectors import working
from tests.memories.ledger_world import all_durable, file_of_saved, outside_body, scanned
from tests.search.vectors.made import Embedder
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def embedder(settings: Any) -> Embedder:
    settings.EMBEDDING, settings.EMBEDDING_LOADER = "tiny", "tests.search.vectors.made"
    return Embedder()


def state(agent: Any, **query: Any) -> dict[str, Any]:
    response = agent.rest.get("/search/state", **query)
    assert response.status_code == 200, response.content
    told: dict[str, Any] = json.loads(response.content)
    return told


def test_a_memory_is_pending_then_indexed(world: World, embedder: Embedder) -> None:
    bob = world.bobs_agent
    saved = bob.call("memory_save", title="Acme", body="Maya works at Acme.")
    told = state(bob, memory_id=saved.memory_id)
    assert (told["memories"], told["pending"], told["indexed"]) == (1, 1, 0)
    assert told["memory"] == {
        "memory_id": saved.memory_id, "revision": 1, "text": "indexed", "meaning": "pending", "reason": "",
    }  # fmt: skip
    embedder.work_off()
    told = state(bob, memory_id="acme")
    assert (told["pending"], told["indexed"], told["memory"]["meaning"]) == (0, 1, "indexed")
    assert embedder.model.embedded == ["Acme\nMaya works at Acme."]


def test_counts_are_of_what_the_caller_may_see(world: World, embedder: Embedder) -> None:
    world.bobs_agent.call("memory_save", title="Bob's own", body="x")
    world.doras_agent.call("memory_save", title="The workspace's", body="x")
    assert state(world.doras_agent)["memories"] == 1
    assert state(world.bobs_agent)["memories"] == 2
    assert state(world.alices_agent)["memories"] == 2
    refused = world.doras_agent.rest.get("/search/state", memory_id="bob-s-own")
    assert refused.status_code == 404


def test_off_says_so(world: World) -> None:
    saved = world.bobs_agent.call("memory_save", title="Acme", body="x")
    told = state(world.bobs_agent, memory_id=saved.memory_id)
    assert (told["semantic_search"], told["model"], told["memory"]["meaning"]) == ("off", "", "off")


def test_without_a_worker_it_is_failing_with_the_reason(world: World, embedder: Embedder) -> None:
    told = state(world.bobs_agent)
    assert (told["semantic_search"], told["reason"]) == (
        "failing", "The worker does not run, which starts the embedder.",
    )  # fmt: skip


def test_deleted_and_withheld_memories_have_no_vectors(world: World, embedder: Embedder) -> None:
    bob = world.bobs_agent
    saved = bob.call("memory_save", title="Key", body="The walnut key.")
    all_durable()
    outside_body(file_of_saved(saved), "walnut", "ghp_" + "a1B2" * 9)
    scanned(saved.scope)
    embedder.work_off()
    assert embedder.model.embedded == []
    assert state(bob, memory_id=saved.memory_id)["memory"]["meaning"] == "withheld"


def test_an_administrator_stops_resumes_and_renews(world: World, embedder: Embedder) -> None:
    alice, bob = world.alices_agent, world.bobs_agent
    bob.call("memory_save", title="Acme", body="Maya works at Acme.")
    assert bob.rest.post("/search/embeddings/stop").status_code == 403
    assert json.loads(alice.rest.post("/search/embeddings/stop").content)["stopped"] is True
    assert working.work(embedder.model, lambda: False) is False
    assert alice.call("embedding_resume").stopped is False
    embedder.work_off()
    assert len(embedder.model.embedded) == 1
    told = alice.call("embedding_rebuild")
    assert (told.reembedding, told.indexed) == (True, 1)
    embedder.work_off()
    assert len(embedder.model.embedded) == 2
    told = alice.call("search_state_get")
    assert (told.reembedding, told.indexed, told.pending) == (False, 1, 0)

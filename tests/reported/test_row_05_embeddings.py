"""Row 5: a fact is corrected while the embedder is down. Old vectors are never served, new ones come without help."""

import json
from typing import Any

import pytest

from apps.search.filters import SearchFilters
from apps.search.models import Document
from apps.search.vectors import asking
from tests.search.vectors.made import Embedder, switched_on
from tests.world import Rest, World

pytestmark = pytest.mark.django_db
SCOPE = "global/bob"


@pytest.fixture
def embedder(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Embedder:
    return switched_on(settings, monkeypatch)


def ok(response: Any) -> Any:
    assert response.status_code < 300, response.content
    return json.loads(response.content)


def by_words(bob: Rest, query: str) -> list[str]:
    found = ok(bob.get("/memories/search", query=f'"{query}"'))["results"]
    return [hit["title"] for hit in found]


def by_meaning(query: str) -> dict[str, float]:
    """What lies near, with its cosine."""
    names = dict(Document.objects.values_list("pk", "stable_id"))
    found = asking.begin(query).finish(SearchFilters([SCOPE])).documents
    return {names[one.document_id]: round(one.cosine, 2) for one in found}


def test_row_5_a_fact_corrected_while_the_embedder_is_down(world: World, embedder: Embedder) -> None:
    bob = world.bobs_agent.rest
    saved = ok(bob.post("/memories", title="Maya", body="Maya works at Acme", summary="Her employer is Acme"))
    ok(bob.post("/memories", title="Rain", body="It rains on Sundays"))
    embedder.work_off()
    assert by_meaning("Maya works at Acme")[saved["memory_id"]] > 0.7

    embedder.is_up = False
    changed = ok(
        bob.patch(
            f"/memories/{saved['memory_id']}",
            revision=saved["revision"],
            title="Maya and Beta",
            summary="Her employer is Beta Corp",
            body="Maya works at Beta Corp",
        )
    )
    assert by_words(bob, "Acme") == []
    assert by_words(bob, "Beta Corp") == ["Maya and Beta"]
    assert by_meaning("Maya works at Acme") == {}
    state = ok(bob.get("/search/state", memory_id=saved["memory_id"]))
    assert (state["pending"], state["memory"]["meaning"], state["memory"]["revision"]) == (1, "pending", 2)

    embedder.is_up = True  # Back, but it has embedded nothing yet.
    assert saved["memory_id"] not in by_meaning("Maya works at Acme")

    embedder.work_off()
    near = by_meaning("Maya works at Beta Corp. Her employer is Beta Corp")
    assert next(iter(near)) == changed["memory_id"]
    assert all("Acme" not in text for text in embedder.model.embedded[-1:])
    state = ok(bob.get("/search/state", memory_id=saved["memory_id"]))
    assert (state["pending"], state["memory"]["meaning"]) == (0, "indexed")


def test_row_5_a_deleted_fact_is_not_found_by_meaning_either(world: World, embedder: Embedder) -> None:
    bob = world.bobs_agent.rest
    saved = ok(bob.post("/memories", title="Maya", body="Maya works at Acme"))
    embedder.work_off()
    assert saved["memory_id"] in by_meaning("Maya works at Acme")
    embedder.is_up = False
    ok(bob.delete(f"/memories/{saved['memory_id']}"))
    embedder.is_up = True
    assert by_meaning("Maya works at Acme") == {}

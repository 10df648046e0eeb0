"""Row 7 of what users of other memory servers reported: delete must be true, in every place that tells of memories."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from apps.memories.scopes import folder_of
from apps.search import telling
from apps.search.models import Passage
from tests.search.vectors.made import Embedder, switched_on
from tests.world import Rest, World, ok, save

pytestmark = pytest.mark.django_db
FACT = "The vault of Zanzibar opens with the phrase crimson walrus."
QUESTION = "Which phrase opens the vault of Zanzibar?"


@pytest.fixture
def embedder(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Embedder:
    telling.forget()
    settings.SEARCH_MEANING_FLOOR = -10  # Of so few texts none stands out.
    return switched_on(settings, monkeypatch)


def told_of(rest: Rest, session: str) -> dict[str, str]:
    """Every place that may tell of a memory, and what it says."""
    places: dict[str, Any] = {
        "list": rest.get("/memories"),
        "index": rest.get("/memories/index"),
        "context": rest.get("/context"),
        "recall": rest.post("/recall", message=QUESTION, session_id=session),
    }
    for mode in ("text", "semantic", "hybrid"):
        places[f"search by {mode}"] = rest.get("/memories/search", query="crimson walrus Zanzibar", mode=mode)
    # Changes name what was deleted and when; what it said they do not.
    said = {place: ok(response) for place, response in places.items()}
    said["context"].pop("changes")
    return {place: json.dumps(answer, ensure_ascii=False) for place, answer in said.items()}


def test_row_7_what_is_deleted_is_told_nowhere(world: World, bob: Rest, embedder: Embedder) -> None:
    saved = save(bob, "Vault of Zanzibar", FACT, tags=["vault"], summary="The phrase of the vault.")
    linking = save(bob, "Keys", "See [[Vault of Zanzibar]].")
    save(bob, "Weather", "It rains in autumn.")
    embedder.work_off()
    before = told_of(bob, "first session")
    assert [place for place, said in before.items() if saved["memory_id"] not in said] == []

    ok(bob.delete(f"/memories/{saved['memory_id']}"))

    embedder.work_off()
    for session in ("first session", "another session"):
        for place, said in told_of(bob, session).items():
            assert saved["memory_id"] not in said and "walrus" not in said and "phrase of the vault" not in said, place
    links = ok(bob.get(f"/memories/{linking['memory_id']}/links"))
    assert links["links_to"] == [{"target": "Vault of Zanzibar", "memory": None}]
    again = save(bob, "Zanzibar once more", FACT, tags=["vault"], if_exists="new")
    assert (again["duplicate"], again["related"]) == (None, [])
    texts = [file.read_text() for file in folder_of(saved["scope"]).rglob("*.md")]
    assert sum(saved["memory_id"] in text for text in texts) == 0


def test_row_7_no_row_of_an_index_outlives_it(world: World, bob: Rest, embedder: Embedder) -> None:
    saved = save(bob, "Vault of Zanzibar", f"{FACT} [[Keys]]", tags=["vault"])
    embedder.work_off()
    assert Passage.objects.exists()
    ok(bob.delete(f"/memories/{saved['memory_id']}"))
    embedder.work_off()
    assert not Passage.objects.exists()
    with connection.cursor() as cursor:
        for table in ("search_text", "search_document", "memories_memorylink"):
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert cursor.fetchone()[0] == 0, table


@pytest.mark.parametrize("named_by", ["memory_id", "slug", "path"])
def test_row_7_a_second_delete_says_not_found(bob: Rest, named_by: str) -> None:
    saved = save(bob, "Vault of Zanzibar", FACT)
    ok(bob.delete(f"/memories/{saved['memory_id']}"))
    refused = bob.delete(f"/memories/{quote(saved[named_by])}")
    assert (refused.status_code, json.loads(refused.content)["error"]["code"]) == (404, "MEMORY_NOT_FOUND")


def test_row_7_a_restored_one_is_told_of_again(bob: Rest, embedder: Embedder) -> None:
    saved = save(bob, "Vault of Zanzibar", FACT, tags=["vault"], summary="The phrase of the vault.")
    ok(bob.delete(f"/memories/{saved['memory_id']}"))
    ok(bob.post(f"/memories/{saved['memory_id']}/restore"))
    embedder.work_off()
    assert [place for place, said in told_of(bob, "a session").items() if saved["memory_id"] not in said] == []
    again = save(bob, "Zanzibar once more", FACT)
    assert again["duplicate"]["memory_id"] == saved["memory_id"]

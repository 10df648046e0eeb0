"""The server that MemRelay is compared with has to do its duty, or the comparison flatters nobody."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bench.floor.server import guarded
from bench.floor.store import Store
from bench.workload import EXACT_KINDS, LOOSE_KINDS, note, queries


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("floor") / "floor.sqlite3")
    store.save_many([(one.title, one.body, one.tags) for one in map(note, range(600))])
    yield store
    store.close()


@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_it_finds_every_exact_query(store, kind):
    for query in queries(kind):
        assert query.target in [hit["title"] for hit in store.search(query.text, 10)]


@pytest.mark.parametrize("kind", LOOSE_KINDS)
def test_it_answers_other_words_with_a_full_page(store, kind):
    assert all(len(store.search(query.text, 10)) == 10 for query in queries(kind)[:20])


def test_punctuation_alone_finds_nothing(store):
    assert store.search('" * ( -', 10) == []


def test_a_note_comes_back_word_for_word(store):
    one = note(3, "test")
    kept = store.get(store.save(one.title, one.body, one.tags))
    assert (kept["title"], kept["body"], kept["tags"]) == (one.title, one.body, ",".join(one.tags))
    assert store.get("unknown") is None


def test_what_is_saved_is_on_disk_at_once(store, tmp_path: Path):
    durable = Store(tmp_path / "durable.sqlite3")
    assert durable._database.execute("PRAGMA synchronous").fetchone() == (2,)
    durable.save("Title", "Body", [])
    other = sqlite3.connect(tmp_path / "durable.sqlite3")
    assert other.execute("SELECT count(*) FROM notes").fetchone() == (1,)
    other.close()
    durable.close()


@pytest.mark.parametrize(("header", "status"), [(b"Bearer right", 200), (b"Bearer wrong", 401), (b"", 401)])
async def test_nobody_comes_in_without_the_token(header, status):
    said: list[Any] = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        said.append(message)

    await guarded(app, "right")({"type": "http", "headers": [(b"authorization", header)]}, None, send)
    assert said[0]["status"] == status

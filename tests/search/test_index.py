"""Writing, moving, removing and rebuilding, with saves going on meanwhile (L-25)."""

from datetime import timedelta

import pytest
from django.db import connection, transaction

from apps.search import index, tokens
from apps.search.filters import SearchFilters
from apps.search.index import IndexEntry, index_move, index_remove, index_write, index_write_many, rebuild
from apps.search.models import Document, Rebuild, RemovedInRebuild
from apps.search.query import search_text
from tests.search.made import DAY, entry

pytestmark = pytest.mark.django_db


def found(query: str, **filters) -> list[str]:
    filters.setdefault("scope_keys", ["project/one"])
    limit = filters.pop("limit", 10)
    return [hit.stable_id for hit in search_text(query, SearchFilters(**filters), limit=limit).hits]


def rows(table: str = index.TABLE) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


def test_a_written_document_is_found_by_title_tag_summary_and_body():
    index_write(entry("a", "Harbor", "a walnut", tags=["front-end", "财务"], summary="about zircon"))
    for query in ("harbor", "front-end", "财务", "zircon", "walnut"):
        assert found(query) == ["a"]


def test_writing_again_replaces_the_words_and_keeps_the_row():
    first = index_write(entry("a", "Harbor", "a walnut"))
    second = index_write(entry("a", "Orchard", "a kumquat", revision=2, status="archived"))
    assert first == second
    assert (rows(), Document.objects.get().revision, Document.objects.get().status) == (1, 2, "archived")
    assert found("walnut", statuses=None) == []
    assert found("kumquat", statuses=None) == ["a"]


def test_a_write_costs_two_statements(django_assert_num_queries):
    with django_assert_num_queries(2):
        index_write(entry("a", "Harbor", "a walnut", tags=["x"]))


def test_a_document_knows_its_tokeniser_and_its_times_as_django_does():
    later = DAY + timedelta(minutes=1, microseconds=5)
    index_write(entry("a", created_at=DAY, updated_at=later))
    document = Document.objects.get(updated_at=later, created_at=DAY)
    assert document.tokeniser_version == tokens.TOKENISER_VERSION


def test_many_are_written_and_removed_together():
    assert index_write_many(entry(f"m{n}", body="walnut") for n in range(30)) == 30
    assert index_remove([f"m{n}" for n in range(20)] + ["unknown", "m0"]) == 20
    assert (rows(), Document.objects.count()) == (10, 10)
    assert index_remove(["m0"]) == 0


def test_a_moved_document_is_found_in_its_new_scope_only():
    index_write(entry("a", body="walnut"))
    index_move("a", scope_key="library", revision=2, updated_at=DAY)
    assert found("walnut") == []
    assert found("walnut", scope_keys=["library"]) == ["a"]


def test_all_of_a_long_memory_is_searchable():
    index_write(entry("a", body="filler words here. " * 60_000 + "the narwhal at the end"))
    assert found("narwhal") == ["a"]


def test_a_half_surrogate_in_a_text_is_no_failure():
    index_write(entry("a", body="walnut \ud83d kumquat"))
    assert found("kumquat") == ["a"]


def test_tidying_comes_to_an_end_and_changes_no_answer():
    for number in range(40):
        index_write(entry(f"m{number}", body=f"walnut {number}"))
    before = found("walnut", limit=50)
    rounds = 0
    while index.tidy(pages=1):
        rounds += 1
        assert rounds < 500
    assert found("walnut", limit=50) == before


def test_empty_leaves_nothing():
    index_write(entry("a", body="walnut"))
    index.empty()
    assert (rows(), Document.objects.count()) == (0, 0)


def test_what_was_written_before_a_rolled_back_step_stays():
    index_write(entry("a", body="walnut"))
    with pytest.raises(ValueError), transaction.atomic():
        index_write(entry("b", body="walnut"))
        index_write(entry("a", body="kumquat", revision=2))
        raise ValueError
    assert found("walnut") == ["a"]
    assert (rows(), Document.objects.count()) == (1, 1)


# --- rebuild ------------------------------------------------------------------------------------------------


def store(*names: str, **fields) -> list[IndexEntry]:
    entries = [entry(name, body=f"walnut {name}", **fields) for name in names]
    index_write_many(entries)
    return entries


def test_a_rebuild_finds_the_same_and_leaves_no_trace():
    entries = store("a", "b", "c")
    report = rebuild(entries, batch=2)
    assert (report.written, report.kept, report.dropped) == (3, 0, 0)
    assert sorted(found("walnut")) == ["a", "b", "c"]
    assert not Rebuild.objects.exists()
    assert index.NEXT_TABLE not in connection.introspection.table_names()


def test_a_rebuilt_table_ranks_as_the_first_one():
    store("a", "b")
    index_write_many(entry(f"x{n}", body="kumquat") for n in range(10))
    index_write(entry("t", title="walnut", body="more and more words " * 20))
    before = found("walnut")
    with connection.cursor() as cursor:
        cursor.execute("SELECT v FROM search_text_config WHERE k = 'rank'")
        rank = cursor.fetchone()
    rebuild([*store("a", "b"), *(entry(f"x{n}", body="kumquat") for n in range(10)),
             entry("t", title="walnut", body="more and more words " * 20)])  # fmt: skip
    assert found("walnut") == before
    with connection.cursor() as cursor:
        cursor.execute("SELECT v FROM search_text_config WHERE k = 'rank'")
        assert cursor.fetchone() == rank == (index.RANK,)


def test_the_first_table_is_cut_like_a_rebuilt_one():
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [index.TABLE])
        made = cursor.fetchone()[0]
    assert made.endswith(f'USING fts5({index.COLUMNS}, tokenize="{tokens.FTS_TOKENIZER}")')


def test_a_rebuild_brings_back_a_lost_index():
    entries = store("a", "b")
    index.empty()
    assert rebuild(entries).written == 2
    assert sorted(found("walnut")) == ["a", "b"]


def test_what_no_entry_stands_for_leaves_the_index():
    entries = store("a", "ghost")
    assert rebuild(entries[:1]).dropped == 1
    assert found("walnut") == ["a"]
    assert Document.objects.get().stable_id == "a"


def test_saves_moves_and_removals_during_a_rebuild_are_all_in_the_new_table():
    entries = store("a", "b", "c", "d")

    def read():
        yield entries[0]  # The first batch begins with this one.
        yield entries[1]
        index_write(entry("a", body="kumquat", revision=2))  # Already in the new table.
        index_write(entry("c", body="quetzal", revision=2))  # Not there yet; what is read below is older.
        index_write(entry("new", body="zircon"))
        index_remove(["b", "d"])
        yield entries[2]
        yield entries[3]

    rebuild(read(), batch=2)
    assert found("kumquat") == ["a"]
    assert found("quetzal") == ["c"]
    assert found("zircon") == ["new"]
    assert found("walnut") == []
    assert not RemovedInRebuild.objects.exists()
    assert rows() == Document.objects.count() == 3


def test_a_document_removed_and_saved_again_during_a_rebuild_stays():
    entries = store("a", "b")

    def read():
        yield entries[0]
        index_remove(["b"])
        index_write(entry("b", body="kumquat", revision=5))
        yield entries[1]

    rebuild(read(), batch=1)
    assert found("kumquat") == ["b"]


def test_an_entry_read_before_a_newer_save_does_not_bring_the_older_words_back():
    old = store("a")
    index_write(entry("a", body="kumquat", revision=2))
    rebuild(old)
    assert found("kumquat") == ["a"]
    assert found("walnut") == []


def test_a_killed_rebuild_goes_on_where_it_was_and_search_works_meanwhile(monkeypatch):
    entries = store("a", "b", "c")

    def killed():
        yield from entries[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(killed(), batch=1)
    assert sorted(found("walnut")) == ["a", "b", "c"]
    assert search_text("walnut", SearchFilters(["project/one"])).reason == "INDEX_REBUILDING"
    cut = []
    monkeypatch.setattr(index, "segment", lambda text: cut.append(text) or tokens.segment(text))
    report = rebuild(entries, batch=1)
    assert (report.written, report.kept) == (1, 2)
    assert "walnut a" not in cut
    assert search_text("walnut", SearchFilters(["project/one"])).complete


def test_a_rebuild_of_another_tokeniser_begins_anew(monkeypatch):
    entries = store("a", "b")

    def killed():
        yield entries[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(killed(), batch=1)
    monkeypatch.setattr(index, "TOKENISER_VERSION", 2)
    assert rebuild(entries).written == 2
    assert set(Document.objects.values_list("tokeniser_version", flat=True)) == {2}


def test_an_abandoned_rebuild_leaves_the_index_as_it_was():
    entries = store("a", "b")

    def killed():
        yield entries[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(killed(), batch=1)
    index.rebuild_abandon()
    assert not index.rebuild_is_running()
    assert sorted(found("walnut")) == ["a", "b"]
    index_write(entry("c", body="walnut"))
    assert sorted(found("walnut")) == ["a", "b", "c"]

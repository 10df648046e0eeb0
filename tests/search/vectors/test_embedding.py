"""From a saved document to a hit by meaning: what waits, what is stored, what is never served."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection

from apps.base import clock
from apps.search import index
from apps.search.cursors import Reason
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.filters import SearchFilters
from apps.search.models import Document, Embedding, EmbeddingTrouble, Passage
from apps.search.vectors import asking, matrix, queue, serving, working
from apps.search.vectors.state import document_states, store_state
from apps.search.vectors.texts import PassageText
from tests.search.made import DAY, entry
from tests.search.vectors.made import TinyModel

pytestmark = pytest.mark.django_db
HERE = SearchFilters(["project/one"])


@pytest.fixture
def save(texts):
    def saved(key, body="A walnut.", *, title="", summary="", tags=(), revision=1, withheld=False, **fields):
        texts[key] = PassageText(revision, title, summary, tags, body, withheld)
        return index.index_write(entry(key, title, body, summary=summary, tags=tags, revision=revision, **fields))

    return saved


def near(query, filters=HERE, **wanted):
    found = asking.begin(query).finish(filters, **wanted)
    keys = dict(Document.objects.values_list("pk", "stable_id"))
    return [keys[one.document_id] for one in found.documents]


def test_a_saved_document_waits_then_is_found_by_its_piece(embedder, save):
    body = (
        "The cat sleeps. The dog barks. Rain falls.\n\nInvoices are paid on Fridays. Nobody forgets.\n"
        + "More text. " * 40
    )
    save("a", body, title="Notes")
    save("b", "Trains leave at noon.")
    assert (queue.pending(), queue.is_due()) == (2, True)
    embedder.work_off()
    assert (queue.pending(), queue.is_due()) == (0, False)
    found = asking.begin("invoices are paid").finish(HERE)
    assert (found.available, found.reason, found.pending) == (True, None, 0)
    best = found.documents[0]
    assert "Invoices are paid on Fridays." in body[best.start : best.end]
    assert len(body[best.start : best.end]) < 300
    assert len(found.documents) == 2


def test_a_newer_text_is_never_found_by_its_old_vectors(embedder, save):
    save("a", "Maya works at Acme.")
    save("b", "Rain falls.")
    embedder.work_off()
    assert near("Maya works at Acme")[0] == "a"
    save("a", "Maya works at Beta.", revision=2)
    assert near("Maya works at Acme") == ["b"]
    found = asking.begin("x").finish(HERE)
    assert (found.pending, found.reason) == (1, Reason.VECTORS_PENDING)
    embedder.work_off()
    assert near("Maya works at Beta")[0] == "a"


def test_archiving_moving_and_other_tags_need_no_model(embedder, save):
    long = "One sentence here. " * 30
    save("a", long, title="T", tags=["x"])
    embedder.work_off()
    vectors = set(Passage.objects.values_list("text_hash", flat=True))
    embedder.model.embedded.clear()
    save("a", long, title="T", tags=["x"], revision=2, status="archived")
    embedder.work_off()
    assert near("one sentence") == []
    assert near("one sentence", SearchFilters(["project/one"], statuses=None)) == ["a"]
    save("a", long, title="T", tags=["x"], revision=3, scope_key="library")
    embedder.work_off()
    assert near("one sentence") == []
    assert near("one sentence", SearchFilters(["library"])) == ["a"]
    assert embedder.model.embedded == []
    assert set(Passage.objects.values_list("text_hash", flat=True)) == vectors
    save("a", long, title="T", tags=["y"], revision=4)
    embedder.work_off()
    assert embedder.model.embedded == []
    save("a", long, title="T", summary="S", tags=["y"], revision=5)
    embedder.work_off()
    assert embedder.model.embedded == ["T\nS\ny"]


def test_what_is_removed_is_found_no_more_and_leaves_no_vector(embedder, save):
    save("a", "Maya works at Acme.")
    save("b", "Rain falls.")
    embedder.work_off()
    assert near("Maya")[0] == "a"
    index.index_remove(["a"])
    assert near("Maya") == ["b"]
    assert Passage.objects.count() == 1


def test_a_move_counts_at_once(embedder, save):
    save("a", "Maya works at Acme.")
    embedder.work_off()
    near("Maya")
    index.index_move("a", scope_key="library", revision=2, updated_at=DAY)
    assert near("Maya") == near("Maya", SearchFilters(["library"])) == []


def test_withheld_and_vanished_texts_are_never_embedded(embedder, save, texts):
    save("secret", "The key is hunter2.", withheld=True)
    save("gone")
    del texts["gone"]
    embedder.work_off()
    assert embedder.model.embedded == []
    assert (Passage.objects.count(), queue.pending()) == (0, 0)


def test_a_rebuild_of_the_index_keeps_vectors_and_drops_those_of_ghosts(embedder, save):
    save("a", "Maya works at Acme.")
    save("ghost", "Rain falls.")
    embedder.work_off()
    index.rebuild([entry("a", "", "Maya works at Acme.")])
    assert near("Maya") == ["a"]
    assert Passage.objects.count() == 1
    index.empty()
    assert near("Maya") == []


def test_waiting_documents_are_counted_by_scope_and_to_a_limit(save):
    for number in range(3):
        save(f"m{number}")
    save("elsewhere", scope_key="library")
    assert (queue.pending(), queue.pending(["library"]), queue.pending([]), queue.pending(["none"])) == (4, 1, 0, 0)
    assert queue.pending(to=2) == 2


def test_the_newest_document_comes_first(save):
    save("old", updated_at=DAY)
    save("new", updated_at=DAY + timedelta(days=1))
    assert [due.stable_id for due in queue.due(5)] == ["new", "old"]


def test_a_text_that_breaks_the_model_is_tried_again_later_and_holds_nobody_up(embedder, save, monkeypatch):
    embedder.model.breaks_at = "poison"
    save("bad", "This is poison.", updated_at=DAY + timedelta(days=1))
    save("good", "Maya works at Acme.")
    embedder.work_off()
    assert near("Maya") == ["good"]
    trouble = EmbeddingTrouble.objects.get()
    assert (trouble.attempts, trouble.failed, trouble.reason) == (1, False, "ValueError")
    now = clock.now()
    for _ in range(4):
        now += timedelta(days=1)
        monkeypatch.setattr(clock, "now", lambda now=now: now)
        embedder.work_off()
    assert document_states(["bad", "good"]) == {
        "bad": ("failed", "The model failed at this text: ValueError."),
        "good": ("indexed", ""),
    }
    told = store_state()
    assert (told.documents, told.indexed, told.pending, told.failed) == (2, 1, 0, 1)
    save("bad", "This is healed.", revision=2)
    assert document_states(["bad"])["bad"] == ("pending", "")
    embedder.work_off()
    assert (document_states(["bad"])["bad"][0], EmbeddingTrouble.objects.count()) == ("indexed", 0)


def test_a_model_that_is_gone_is_no_fault_of_a_text(embedder, save):
    save("a")
    embedder.model.is_down = True
    with pytest.raises(EmbeddingUnavailable):
        embedder.work_off()
    assert EmbeddingTrouble.objects.count() == 0
    assert store_state().trouble == "The endpoint does not answer."
    embedder.model.is_down = False
    embedder.work_off()
    assert (store_state().trouble, store_state().indexed) == ("", 1)


def test_a_text_that_an_endpoint_refuses_is_told_from_one_that_is_gone(embedder, save):
    class Picky(TinyModel):
        def embed_passages(self, texts):
            if any("too long" in text for text in texts):
                raise EmbeddingUnavailable("400: the input is too long.")
            return super().embed_passages(texts)

    embedder.use(Picky())
    save("bad", "This is too long.", updated_at=DAY + timedelta(days=1))
    save("good")
    embedder.work_off()
    assert {key: state for key, (state, _) in document_states(["bad", "good"]).items()} == {
        "bad": "pending", "good": "indexed",
    }  # fmt: skip


def test_another_model_embeds_everything_anew_and_nothing_is_mixed(embedder, save, settings, monkeypatch):
    for number in range(7):
        save(f"m{number}", f"Memory number {number} about walnuts.")
    embedder.work_off()
    monkeypatch.setattr(working, "RENEWED_AT_ONCE", 3)
    monkeypatch.setattr("tests.search.vectors.made.KEY", "other@1:32")
    told = store_state()
    assert (told.indexed, told.pending, told.is_reembedding) == (0, 7, True)
    assert queue.is_due()
    embedder.use(TinyModel("other@1:32", 32))
    assert near("walnuts") == []
    for _ in range(4):
        working.work(embedder.model, lambda: False)
    Embedding.objects.update(is_stopped=True)
    assert (working.work(embedder.model, lambda: False), queue.is_due()) == (False, False)
    told = store_state()
    assert (told.pending, told.is_reembedding, told.is_stopped) == (7, True, True)
    Embedding.objects.update(is_stopped=False)
    embedder.work_off()
    told = store_state()
    assert (told.indexed, told.is_reembedding) == (7, False)
    assert sorted(near("walnuts")) == [f"m{number}" for number in range(7)]
    assert set(Passage.objects.values_list("model_id", flat=True)) == {Embedding.objects.get().model_id}


def test_a_document_that_changes_while_it_is_embedded_is_met_again(embedder, save):
    save("a", "First text.")
    ordinary = embedder.model.embed_passages

    def meanwhile(texts):
        if texts == ["First text."]:
            save("a", "Second text.", revision=2)
        return ordinary(texts)

    embedder.model.embed_passages = meanwhile
    embedder.work_off()
    assert embedder.model.embedded == ["First text.", "Second text."]
    assert list(Passage.objects.values_list("revision", flat=True)) == [2]


def test_a_text_of_another_revision_is_not_taken_and_nothing_runs_in_circles(embedder, save, texts):
    save("a")
    texts["a"] = texts["a"]._replace(revision=2)
    embedder.work_off()
    assert (Passage.objects.count(), document_states(["a"])["a"][0]) == (0, "pending")


def test_what_could_not_be_stored_waits_on(embedder, save, monkeypatch):
    save("a")

    def full(_cursor, _one):
        raise DatabaseError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(working, "_store_one", full)
        with pytest.raises(DatabaseError):
            embedder.work_off()
    embedder.work_off()
    assert near("walnut") == ["a"]


def test_stopping_leaves_a_document_as_it_was(embedder, save):
    save("a")
    working.work(embedder.model, lambda: False)
    assert working.work(embedder.model, lambda: True)
    assert queue.pending() == 1


def test_very_long_texts_say_what_has_no_vector(embedder, save, settings):
    settings.EMBEDDING_PASSAGES = 5
    save(
        "a",
        "\n\n".join(
            f"Paragraph {number} says one thing and another, at some length, so that it is long." * 3
            for number in range(30)
        ),
    )
    embedder.work_off()
    assert Passage.objects.count() == 5
    state, reason = document_states(["a"])["a"]
    assert state == "indexed" and "have no vectors" in reason


def test_off_is_off(save, settings):
    save("a")
    settings.EMBEDDING = "off"
    found = asking.begin("walnut").finish(HERE)
    assert (found.available, found.reason, found.documents) == (False, None, [])
    assert document_states(["a"]) == {"a": ("off", "")}
    assert store_state().model == ""


def test_an_embedder_that_is_away_or_starting_costs_no_answer(embedder, save):
    save("a")
    embedder.work_off()
    embedder.is_up = False
    found = asking.begin("walnut").finish(HERE)
    assert (found.available, found.reason) == (False, Reason.SEMANTIC_UNAVAILABLE)
    embedder.is_up = True
    embedder.loading.model = None
    found = asking.begin("walnut").finish(HERE)
    assert (found.available, found.reason) == (False, Reason.SEMANTIC_STARTING)
    embedder.loading.model = embedder.model
    went = asking.begin("walnut")
    embedder.is_up = False
    assert went.finish(HERE).reason is Reason.SEMANTIC_UNAVAILABLE


def test_a_large_store_is_read_in_parts_and_says_that_it_starts(embedder, save, monkeypatch):
    for number in range(9):
        save(f"m{number}", f"Memory number {number} about walnuts.")
    embedder.work_off()
    monkeypatch.setattr(matrix, "READ_AT_ONCE", 4)
    monkeypatch.setattr(serving, "SHARE_OF_WAIT", -1.0)
    serving.forget()
    found = asking.begin("walnuts").finish(HERE)
    assert (found.available, found.reason) == (False, Reason.SEMANTIC_STARTING)
    monkeypatch.setattr(serving, "WARMING_SECONDS", -1.0)
    assert working.work(embedder.model, lambda: False)  # It goes on reading.
    embedder.work_off()
    found = asking.begin("walnuts").finish(HERE)
    assert (found.available, len(found.documents)) == (True, 9)


def test_a_save_costs_no_statement_more(save, django_assert_num_queries):
    with django_assert_num_queries(2):
        save("a")


def test_the_queue_reads_its_index(save):
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + queue._DUE, ["2026-01-01", 5])
        plan = " ".join(row[3] for row in cursor.fetchall())
    assert "USING INDEX search_document_waiting" in plan
    assert "TEMP B-TREE" not in plan

"""The notes and queries that everything is measured with."""

import pytest

from bench.workload import EXACT_KINDS, LOOSE_KINDS, PLANTED, QUERIES, note, queries

NOTES = [note(number) for number in range(1_500)]
TEXTS = [f"{one.title}\n{one.body}".lower() for one in NOTES]


@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_each_exact_query_is_found_in_its_note_and_nowhere_else(kind):
    asked = queries(kind)
    assert len({query.text for query in asked}) == QUERIES
    for query in asked:
        holders = [one.title for one, text in zip(NOTES, TEXTS, strict=True) if query.text.lower() in text]
        assert holders == [query.target]


@pytest.mark.parametrize("kind", LOOSE_KINDS)
def test_loose_queries_are_made_of_words_that_many_notes_hold(kind):
    for query in queries(kind)[:20]:
        holders = [sum(word in text for text in TEXTS) for word in query.text.split()]
        assert max(holders) > 10


def test_questions_have_six_words():
    assert {len(query.text.split()) for query in queries("question")} == {6}


def test_the_smallest_data_set_holds_every_target():
    titles = {note(number).title for number in range(PLANTED)}
    assert all(query.target in titles for kind in EXACT_KINDS for query in queries(kind))


def test_notes_are_bilingual_of_the_promised_length_and_named_once():
    assert 0.27 < sum(one.is_chinese for one in NOTES) / len(NOTES) < 0.33
    assert all(400 <= len(one.body) <= 1_200 for one in NOTES)
    assert all(2 <= len(one.tags) <= 4 for one in NOTES)
    assert len({one.title for one in NOTES}) == len(NOTES)


def test_a_note_is_the_same_whenever_it_is_made_and_another_in_another_series():
    assert note(7) == note(7)
    assert note(7, "s").title != note(7).title

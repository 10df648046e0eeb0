"""Several wordings of one thing are one hit; what contradicts, adds to, or merely resembles it stays."""

from collections.abc import Sequence

import pytest

from apps.search.folding import FOLDED_AT_MOST, folded, suspects
from apps.search.index import index_write_many
from apps.search.likeness import said
from apps.search.models import Document
from tests.search.made import entry

pytestmark = pytest.mark.django_db


def fold(*bodies: str) -> list[list[int]]:
    """What is shown, each with what is folded into it, by the places of the texts."""
    index_write_many(entry(f"n{number}", "", body) for number, body in enumerate(bodies))
    keys = {row.pk: int(row.stable_id[1:]) for row in Document.objects.all()}
    order = sorted(keys, key=lambda key: keys[key])
    shown = folded(order, suspects(order), lambda key: said(bodies[keys[key]]))
    return [[keys[one.document_id], *(keys[key] for key in one.also)] for one in shown]


SAME = "The staging database runs PostgreSQL 16 since the load test."


@pytest.mark.parametrize(
    "other",
    [
        SAME,
        "The staging database runs PostgreSQL 16, since the load test!",
        "Since the load test the staging database runs on PostgreSQL 16.",
    ],
)
def test_one_thing_in_other_wordings_is_shown_once(other: str) -> None:
    assert fold(SAME, other) == [[0, 1]]


@pytest.mark.parametrize(
    "other",
    [
        "The staging database runs PostgreSQL 15 since the load test.",
        "The staging database never runs PostgreSQL 16 since the load test.",
        "The staging database runs MySQL 16 since the load test.",
        "The production database runs PostgreSQL 16 since the load test.",
        f"{SAME} The legacy billing box keeps its MySQL, which nobody dares to touch before the audit in spring.",
        "Lunch with the auditors moved to Thursday.",
    ],
)
def test_what_contradicts_it_or_says_more_stays(other: str) -> None:
    assert fold(SAME, other) == [[0], [1]]


def test_chinese_wordings_fold_and_contradictions_stay() -> None:
    assert fold("预发布环境的数据库用的是第十六版。", "预发布环境的数据库，用的是第十六版！") == [[0, 1]]
    assert fold("爸爸术后不能提重物。", "爸爸术后能提重物。") == [[0], [1]]


def test_what_is_read_further_down_changes_nothing_above() -> None:
    bodies = [SAME, "Lunch is on Thursday in the yard.", SAME, "Lunch is on Thursday in the yard.", SAME]
    for size in range(2, len(bodies) + 1):
        assert [group[0] for group in fold(*bodies[:size])] == [0, 1]


def test_only_the_best_hits_are_compared() -> None:
    index_write_many(entry(f"n{number}", "", SAME) for number in range(FOLDED_AT_MOST + 5))
    order: Sequence[int] = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    assert max(order.index(key) for key in suspects(order)) < FOLDED_AT_MOST


def test_suspects_are_those_whose_beginnings_share_most_words_and_no_others() -> None:
    bodies = [f"{' '.join(f'word{n}' for n in range(start, start + 20))}" for start in (0, 2, 4, 10, 100)]
    index_write_many(entry(f"n{number}", "", body) for number, body in enumerate(bodies))
    order = list(Document.objects.order_by("pk").values_list("pk", flat=True))
    sets = [set(body.split()) for body in bodies]
    alike = {
        order[late]: before
        for late in range(len(sets))
        if (before := [order[e] for e in range(late) if len(sets[e] & sets[late]) >= 0.6 * len(sets[e] | sets[late])])
    }
    assert len(alike) == 2 and suspects(order) == alike


def test_long_texts_with_one_beginning_are_told_apart_by_their_ends() -> None:
    beginning = "The staging database runs PostgreSQL 16 since the load test. " * 40
    assert fold(f"{beginning} It stands in Berlin.", f"{beginning} It stands in Munich.") == [[0], [1]]

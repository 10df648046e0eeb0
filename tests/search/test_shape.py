"""How a text is built: its length in Latin letters, the share of questions in it."""

import pytest

from apps.search.index import IndexEntry, index_write
from apps.search.models import Document
from apps.search.shape import CHARACTERS, shape_of
from tests.search.made import entry


@pytest.mark.parametrize(
    ("text", "length", "asks"),
    [
        ("", 0, 0),
        ("   ", 0, 0),
        ("The cache is cold.", 18, 0),
        ("Is the cache cold?", 18, 100),
        ("Wow! What did you see there?", 28, 86),
        ("缓存是冷的吗？", 16, 100),
        ("缓存是冷的。", 14, 0),
        ("see a?b=c for it", 16, 0),
        ("x" * (CHARACTERS + 50), CHARACTERS, 0),
    ],
)
def test_length_counts_han_for_more_and_asks_is_the_share_of_questions(text: str, length: int, asks: int) -> None:
    shape = shape_of(text)
    assert shape.length == pytest.approx(length, abs=1)
    assert shape.asks == pytest.approx(asks, abs=3)


@pytest.mark.django_db
def test_the_index_knows_thread_length_and_questions_of_a_document() -> None:
    plain: IndexEntry = entry("one", "Title", "Is it cold?")
    index_write(plain)
    row = Document.objects.get(stable_id="one")
    assert (row.thread, row.length, row.asks) == ("", 11, 100)

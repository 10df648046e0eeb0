"""Failures that users of other memory servers reported, as far as the text index answers for them."""

import unicodedata

import pytest

from apps.search.errors import EmptyQuery
from apps.search.excerpts import excerpt
from apps.search.filters import SearchFilters
from apps.search.index import index_write
from apps.search.query import search_text
from tests.search.made import entry

pytestmark = pytest.mark.django_db


def found(query: str) -> list[str]:
    return [hit.stable_id for hit in search_text(query, SearchFilters(["project/one"])).hits]


def test_row_1_chinese_words_in_the_middle_of_a_run():
    body = "即适者生存，生存等于正确的道理。做好财务护城河。"
    index_write(entry("a", "笔记", body))
    for word in ("适者生存", "护城河", "生存", "正确", "河"):
        assert found(word) == ["a"]
        shown = excerpt(body, word)
        assert word in [shown.text[start:end] for start, end in shown.marks]
    assert found("止损") == []


HELD = {
    "multi-agent": "a multi-agent system",
    "don't use": "Please don't use the old door",
    "GB/s": "it reads 3 GB/s",
    "src/main.py": "the bug is in src/main.py",
    "C++": "written in C++",
    "BENCH-100821": "see BENCH-100821",
    '"unclosed': "an unclosed bracket",
    "a AND": "a logical and",
}


@pytest.mark.parametrize("query", HELD)
def test_row_3_ordinary_punctuation_finds_its_memory_first(query):
    for name, body in HELD.items():
        index_write(entry(name, "Note", body))
    index_write(entry("decoy", "Note", "multi multi agent use GB s main py c C bench main"))
    assert found(query)[0] == query


@pytest.mark.parametrize("query", ["*", ""])
def test_row_3_nothing_to_search_for_gives_a_clear_answer_and_not_the_whole_store(query):
    index_write(entry("a", "Note", "walnut"))
    with pytest.raises(EmptyQuery):
        found(query)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_row_15_every_unicode_form_is_the_same_text(form):
    title = "01_ナレッジベース Übung"
    index_write(entry("a", unicodedata.normalize("NFC", title), "がぎぐ 각하"))
    index_write(entry("a", unicodedata.normalize("NFD", title), "がぎぐ 각하", revision=2))
    for query in (title, "ナレッジベース", "Übung", "がぎ", "각하"):
        assert found(unicodedata.normalize(form, query)) == ["a"]

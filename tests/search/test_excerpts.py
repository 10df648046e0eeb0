import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.search.excerpts import ELLIPSIS, excerpt

FILLER = "Nothing of note was said on that day. "
LEERE = "这里没有什么特别的内容。"


def marked(text: str, query: str, width: int = 240) -> list[str]:
    shown = excerpt(text, query, width)
    return [shown.text[start:end] for start, end in shown.marks]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("The policies were cached.", "policy caching", ["policies", "cached"]),
        ("系统存在内存泄漏的问题", "内存泄漏", ["内存泄漏"]),
        ("系统存在内存泄漏的问题", "内存", ["内存"]),
        ("生存的生", "生", ["生", "生"]),
        ("修复BUG123问题", "bug123", ["BUG123"]),
        ("see src/main.py there", "src/main.py", ["src/main.py"]),
        ("plan E is about E4604", "E4604", ["E4604"]),
        ("plan E is about vitamin E", "vitamin E", ["E", "vitamin", "E"]),
        ("of x-y and y", "x-y", ["x-y"]),
        ("got ERR_CONN_RESET again", "conn reset", ["CONN_RESET"]),
        ("call getUserName twice", "user name", ["UserName"]),
        ("eine Übung machen", "ubung", ["Übung"]),
        ("eine U\u0308bung machen", "Übung", ["U\u0308bung"]),
        ("ＢＵＧ is wide", "bug", ["ＢＵＧ"]),
        ("many people came", "person", ["people"]),
        ("what is the plan", "what is the plan", ["plan"]),
        ("nothing here", "absent", []),
        ("", "absent", []),
    ],
)
def test_the_match_is_marked_in_the_original_text(text, query, marks):
    assert marked(text, query) == marks


@pytest.mark.parametrize(
    "filler, sentence, query", [(FILLER, "The walnut fell. ", "walnut"), (LEERE, "护城河很深。", "护城河")]
)
def test_the_place_of_the_match_is_shown_wherever_it_is(filler, sentence, query):
    for before in (0, 3, 400):
        shown = excerpt(filler * before + sentence + filler * 50, query)
        assert [shown.text[start:end] for start, end in shown.marks] == [query]
        assert len(shown.text) <= 240 + 2
        assert shown.text.startswith(ELLIPSIS) == (before > 3 or (before == 3 and shown.text[0] == ELLIPSIS))
        assert shown.text.endswith(ELLIPSIS)


def test_the_place_with_most_words_of_the_query_is_chosen():
    text = "A velvet coat. " + FILLER * 20 + "The velvet ladder handshake. " + FILLER * 20 + "A ladder."
    assert marked(text, "velvet ladder handshake") == ["velvet", "ladder", "handshake"]


def test_words_are_not_cut_at_the_edges():
    shown = excerpt("considerable " * 60 + "needle " + "remarkable " * 60, "needle", 100).text
    assert set(shown.strip(ELLIPSIS).split()) == {"considerable", "needle", "remarkable"}


def test_white_space_becomes_single_spaces_and_marks_still_fit():
    shown = excerpt("one\n\n\ttwo\r\n needle  three", "needle")
    assert (shown.text, shown.marks) == ("one two needle three", [(8, 14)])


def test_without_a_match_the_beginning_is_shown():
    shown = excerpt(FILLER * 50, "absent")
    assert shown.text.startswith("Nothing of note")
    assert shown.text.endswith(ELLIPSIS)


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=400), query=st.text(max_size=20), width=st.integers(20, 200))
def test_any_text_and_query_give_an_excerpt_with_marks_inside_it(text, query, width):
    shown = excerpt(text, query, width)
    end = 0
    for start, stop in shown.marks:
        assert end <= start < stop <= len(shown.text)
        end = stop


@settings(max_examples=100, deadline=None)
@given(number=st.integers(0, 200), width=st.integers(20, 100))
def test_a_family_of_signs_and_a_letter_with_marks_stay_whole(number, width):
    text = "👩‍👩‍👧e\u0301" * number + " needle " + "👩‍👩‍👧e\u0301" * number
    shown = excerpt(text, "needle", width).text.strip(ELLIPSIS)
    left = shown.replace("👩‍👩‍👧", "").replace("e\u0301", "").replace("needle", "").strip()
    assert left == ""


@pytest.mark.parametrize("end", [".", "!", ".)", '."', "。", "，", "？”", "…"])
def test_it_never_begins_with_what_closes_the_sentence_before(end: str) -> None:
    before, after = ("前" * 3, "后文说的是walnut") if not end[0].isascii() else ("Filler", " Then comes a walnut")
    for length in range(60, 130):
        text = before * 40 + end + after + " and more" * 40
        shown = excerpt(text, "walnut", width=length).text
        assert shown.removeprefix("…").lstrip()[:1] not in set('.!)"。，？”…'), shown


def test_it_may_begin_with_the_dot_of_a_name() -> None:
    assert excerpt("filler " * 40 + ".env holds the walnut " + "more " * 40, "walnut", width=70).text.count(".env") == 1

"""A unified difference as lines that a page can show."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from apps.console.differences import Line, lines_of
from apps.memories.differences import difference


def shown(old: str, new: str) -> list[Line]:
    return lines_of(difference(old, new, "old", "new").text)


def test_lines_carry_their_numbers_in_both_texts() -> None:
    assert shown("one\ntwo\nthree\n", "one\n2\nthree\n") == [
        Line("same", "one", 1, 1),
        Line("removed", "two", 2, None),
        Line("added", "2", None, 2),
        Line("same", "three", 3, 3),
    ]


def test_unchanged_lines_between_are_counted() -> None:
    old = "".join(f"{n}\n" for n in range(1, 41))
    new = old.replace("2\n", "two\n", 1).replace("38\n", "thirty-eight\n")
    skipped = [line for line in shown(old, new) if line.kind == "skipped"]
    assert [line.count for line in skipped] == [29]
    after = shown(old, new)[shown(old, new).index(skipped[0]) + 1]
    assert (after.text, after.old_number, after.new_number) == ("35", 35, 35)


def test_equal_texts_have_no_lines() -> None:
    assert shown("one\n", "one\n") == []


def test_a_text_out_of_nothing_is_all_new() -> None:
    assert shown("", "one\ntwo\n") == [Line("added", "one", None, 1), Line("added", "two", None, 2)]


def test_a_missing_line_end_is_no_line() -> None:
    assert {line.kind for line in shown("one", "one\n")} == {"added", "removed"}


def test_what_looks_like_a_header_is_text() -> None:
    lines = shown("a\n-- x\n", "a\n++ y\n")
    assert [(line.kind, line.text) for line in lines] == [("same", "a"), ("removed", "-- x"), ("added", "++ y")]


@given(
    st.lists(st.sampled_from(["a", "b", "c", "", "@@ -1 +1 @@", "--- x"])),
    st.lists(st.sampled_from(["a", "b", "d", "+"])),
)
def test_both_texts_can_be_read_off(old: list[str], new: list[str]) -> None:
    told = "\n".join(difflib.unified_diff(old, new, "old", "new", lineterm="", n=1000))
    lines = lines_of(told)
    if old != new:
        assert [line.text for line in lines if line.kind in ("same", "removed")] == old
        assert [line.text for line in lines if line.kind in ("same", "added")] == new

"""Edits change what they name and nothing else (D-09, D-38, D-39, case row 9)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.edits import (
    SectionAmbiguous,
    SectionNotFound,
    TargetAmbiguous,
    TargetEmpty,
    TargetNotFound,
    append,
    apply_replacements,
    replace_body,
    replace_section,
)

BODY = b"# Plan\n\nIntro\n\n## Open items\n\n- one\n- two\n\n### Later\n\n- three\n\n## Closing\n\nBye\n"


def test_a_whole_body_is_taken_as_it_is() -> None:
    assert replace_body(BODY, "neu\r\n 生存") == "neu\r\n 生存".encode()


# Replacements.


def test_replacements_happen_one_after_the_other() -> None:
    assert apply_replacements(b"a b c", [("a", "x y"), ("x", "z"), (" b", "")]) == b"z y c"
    assert apply_replacements("护城河 财务".encode(), [("财务", "")]) == "护城河 ".encode()


def test_a_target_that_is_missing_or_doubled_is_an_error_with_its_count() -> None:
    with pytest.raises(TargetNotFound) as missing:
        apply_replacements(b"a b", [("a", "x"), ("a", "y")])
    assert missing.value.facts == {"number": 2, "count": 0}
    with pytest.raises(TargetAmbiguous) as doubled:
        apply_replacements(b"one two one", [("one", "x")])
    assert doubled.value.facts == {"number": 1, "count": 2}
    with pytest.raises(TargetAmbiguous):
        apply_replacements(b"aaa", [("aa", "b")])
    with pytest.raises(TargetEmpty):
        apply_replacements(b"a", [("", "b")])


def test_line_ends_of_the_body_are_found_and_kept() -> None:
    assert apply_replacements(b"a\r\nb\r\nc\r\n", [("a\nb", "x\ny\nz")]) == b"x\r\ny\r\nz\r\nc\r\n"
    assert apply_replacements(b"a\nb\n", [("a\r\nb", "x\r\ny")]) == b"x\ny\n"


def test_counting_a_hostile_target_ends() -> None:
    with pytest.raises(TargetAmbiguous) as doubled:
        apply_replacements(b"a" * 300_000, [("a" * 1000, "b")])
    assert doubled.value.facts["count"] == "100+"


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=20), st.text("ab\n", min_size=1, max_size=4), st.text(max_size=5), st.binary(max_size=20))
def test_bytes_around_a_replacement_stay(before: bytes, old: str, new: str, after: bytes) -> None:
    body = before + old.encode() + after
    try:
        changed = apply_replacements(body, [(old, new)])
    except TargetAmbiguous:
        assert body.find(old.encode(), body.find(old.encode()) + 1) >= 0
        return
    assert changed.startswith(before) and changed.endswith(after)


# Sections.


@pytest.mark.parametrize("heading", ["## Open items", "Open items", "  ## Open items ##\t"])
def test_a_section_is_replaced_with_its_children_and_the_rest_stays(heading: str) -> None:
    assert replace_section(BODY, heading, "- new\n") == (
        b"# Plan\n\nIntro\n\n## Open items\n\n- new\n\n## Closing\n\nBye\n"
    )


def test_a_heading_that_only_begins_alike_is_not_meant() -> None:
    body = b"## Open items #urgent #work\n\n- one\n- two\n\n## Closing\n"
    with pytest.raises(SectionNotFound) as missing:
        replace_section(body, "## Open items", "- new")
    assert missing.value.facts == {"heading": "## Open items", "near": ["## Open items #urgent #work"]}
    assert replace_section(body, "## Open items #urgent #work", "x") == (
        b"## Open items #urgent #work\n\nx\n\n## Closing\n"
    )


@pytest.mark.parametrize(("heading", "near"), [("Opne items", ["## Open items"]), ("open ITEMS", ["## Open items"])])
def test_an_error_names_the_headings_that_may_be_meant(heading: str, near: list[str]) -> None:
    with pytest.raises(SectionNotFound) as missing:
        replace_section(BODY, heading, "x")
    assert missing.value.facts["near"] == near


def test_the_level_counts_where_it_is_given() -> None:
    with pytest.raises(SectionNotFound) as missing:
        replace_section(BODY, "### Open items", "x")
    assert missing.value.facts["near"] == ["## Open items"]
    with pytest.raises(SectionNotFound) as unlike:
        replace_section(BODY, "Zzz", "x")
    assert unlike.value.facts["near"] == ["# Plan", "## Open items", "### Later", "## Closing"]


def test_two_equal_headings_are_ambiguous_unless_the_level_tells_them_apart() -> None:
    body = b"# A\none\n## A\ntwo\n"
    with pytest.raises(SectionAmbiguous) as doubled:
        replace_section(body, "A", "x")
    assert doubled.value.facts["near"] == ["# A", "## A"]
    assert replace_section(body, "## A", "x") == b"# A\none\n## A\nx\n"
    with pytest.raises(SectionAmbiguous):
        replace_section(b"## A\n\n## A\n", "## A", "x")


@pytest.mark.parametrize(
    "cover",
    [
        b"```\n## Open items\n```\n",
        b"~~~~ md\n```\n## Open items\n~~~\n~~~~~\n",
        b"<!--\n## Open items\n-->\n",
        b"    ## Open items\n",
        b"> ## Open items\n",
        b"##Open items\n",
        b"\\## Open items\n",
    ],
)
def test_what_only_looks_like_a_heading_is_none(cover: bytes) -> None:
    with pytest.raises(SectionNotFound):
        replace_section(cover, "## Open items", "x")
    assert replace_section(cover + BODY, "## Open items", "- new") == cover + replace_section(
        BODY, "Open items", "- new"
    )


def test_fences_inside_the_section_do_not_end_it() -> None:
    body = b"## A\n```sh\n# comment\n```\ntail\n## B\n"
    assert replace_section(body, "A", "x") == b"## A\nx\n## B\n"


@pytest.mark.parametrize(
    ("body", "new", "expected"),
    [
        (b"## A", "x", b"## A\nx"),
        (b"## A\n", "x\n\n", b"## A\nx\n"),
        (b"## A\nold", "x\n", b"## A\nx"),
        (b"## A\n## B\n", "x", b"## A\nx\n## B\n"),
        (b"## A\n\n## B\n", "x", b"## A\nx\n\n## B\n"),
        (b"## A\n\nold\n\n\n## B\n", "\n\nx\n", b"## A\n\nx\n\n\n## B\n"),
        (b"## A\n\nold\n\n## B\n", "", b"## A\n\n\n## B\n"),
        (b"## A\n\n## B\n", "", b"## A\n\n## B\n"),
        (b"## A\r\n\r\nold\r\n\r\n## B\r\n", "x\ny", b"## A\r\n\r\nx\r\ny\r\n\r\n## B\r\n"),
        (b"## A\nold\n", "## A\nnew", b"## A\nnew\n"),
        (b"## A\nold\n", "\n## A ##\n\nnew\n### C\n", b"## A\nnew\n### C\n"),
        (b"## A\nold\n", "### A\nnew", b"## A\n### A\nnew\n"),
        (b"A\n===\n\n## A\n\nbad \xff\n", "x", b"A\n===\n\n## A\n\nx\n"),
        (b"\xff\n## A\nold\n\xfe# tail", "x", b"\xff\n## A\nx"),
        (b"## A\n  old\n    code\n# T\n", "    code", b"## A\n    code\n# T\n"),
    ],
)
def test_empty_lines_and_line_ends_around_a_section_stay(body: bytes, new: str, expected: bytes) -> None:
    assert replace_section(body, "## A", new) == expected


def test_composed_and_decomposed_headings_are_the_same() -> None:
    assert replace_section("## U\u0308bung\nold\n".encode(), "## Übung", "x") == "## U\u0308bung\nx\n".encode()


_BEFORE = st.sampled_from(
    [b"text\n", b"\n", b"# T\n", b"## B\n", b"### C\n", b"```\n## x\n```\n", b"    x\n", b"\xff\n", b"a\r\n"]
)
_INSIDE = st.sampled_from([b"text\n", b"\n", b"### C\n", b"```\n# x\n```\n", b"    ## x\n", b"\xff\n"])
_AFTER = st.sampled_from([b"", b"## B\n", b"# T\n\xfe\n", b"## Target two\n```\nunclosed"])
_NEW = st.sampled_from(["new", "", "a\nb\n", "### D\n"])


@settings(max_examples=200, deadline=None)
@given(st.lists(_BEFORE, max_size=6), st.lists(_INSIDE, max_size=6), _AFTER, _NEW)
def test_bytes_before_and_after_a_section_stay(
    before: list[bytes], inside: list[bytes], after: bytes, new: str
) -> None:
    start = b"".join(before) + b"## Target\n"
    changed = replace_section(start + b"".join(inside) + after, "## Target", new)
    assert changed.startswith(start) and changed.endswith(after)
    between = changed[len(start) : len(changed) - len(after)]
    assert between.replace(b"\r\n", b"\n").strip() == new.strip().encode()
    if new:
        assert replace_section(changed, "## Target", new) == changed


def test_sections_of_hostile_bodies_are_found_in_linear_time() -> None:
    started = time.process_time()
    for line in (
        "#" * 100_000,
        "# a\n" * 20_000,
        "`" * 100_000 + "\n",
        "```\n" * 20_000,
        "<!--\n" * 20_000,
        "# " + " " * 100_000,
        " \n" * 50_000,
        "\n \t" * 50_000 + "x",
    ):
        with pytest.raises(SectionNotFound):
            replace_section(line.encode(), "x y z", "new")
        append(line.encode(), " " * 50_000 + "x" + "\n" * 50_000)
    assert time.process_time() - started < 3


# Appending.


@pytest.mark.parametrize(
    ("body", "text", "expected"),
    [
        (b"", "x", b"x"),
        (b"", "x\n", b"x\n"),
        (b"a", "x", b"a\n\nx"),
        (b"a\n", "x", b"a\n\nx\n"),
        (b"a", "x\n", b"a\n\nx\n"),
        (b"a\n\n \n\n", "\n\n  x\ny\n\n", b"a\n\n  x\ny\n"),
        (b"a  \n", "x", b"a  \n\nx\n"),
        (b"a\r\nb\r\n", "x\ny\n", b"a\r\nb\r\n\r\nx\r\ny\r\n"),
        (b"a", "x\r\ny", b"a\r\n\r\nx\r\ny"),
        (b"\n\n", "x", b"x\n"),
        (b"a\n", " \n", b"a\n"),
        (b"\xff\n", "x", b"\xff\n\nx\n"),
    ],
)
def test_a_text_is_added_after_one_empty_line(body: bytes, text: str, expected: bytes) -> None:
    assert append(body, text) == expected


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=30), st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_what_was_there_is_never_lost_by_appending(body: bytes, text: str) -> None:
    changed = append(body, text)
    assert changed.startswith(body.rstrip(b"\r\n \t"))


def test_halves_of_surrogate_pairs_match_no_bytes_and_reach_none() -> None:
    with pytest.raises(TargetNotFound):
        apply_replacements(b"a\xffb", [("\udcff", "x")])
    assert (
        apply_replacements(b"a", [("a", "\udcff")])
        == replace_body(b"a", "\udcff")
        == append(b"", "\ud800")
        == b"\xef\xbf\xbd"
    )

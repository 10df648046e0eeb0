"""Links are found where Markdown shows them (D-07)."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.links import Link, links


def targets(text: str) -> list[str]:
    return [link.target for link in links(text)]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[daily-2026]]", Link("daily-2026", "", "", 0)),
        ("see [[护城河|the moat]].", Link("护城河", "the moat", "", 4)),
        ("[[plan#Open items]]", Link("plan", "", "Open items", 0)),
        ("[[ plan # a # b | c | d ]]", Link("plan", "c | d", "a # b", 0)),
        ("| a | [[plan\\|shown]] |", Link("plan", "shown", "", 6)),
        ("![[picture note]]", Link("picture note", "", "", 1)),
        ("- relates_to [[Some Title]] (why)", Link("Some Title", "", "", 13)),
        ("[[[nested]]]", Link("nested", "", "", 1)),
        ("[[notes/x.md]]", Link("notes/x.md", "", "", 0)),
        ("[[plan#^block-1]]", Link("plan", "", "^block-1", 0)),
        ("\r\n😀 [[a]]", Link("a", "", "", 4)),
    ],
)
def test_a_link_has_target_alias_heading_and_place(text: str, link: Link) -> None:
    assert list(links(text)) == [link]
    assert text[link.position :].startswith("[[")


def test_links_come_in_reading_order_repeated_ones_too() -> None:
    assert targets("[[a]] [[b]]\n[[a]][[c]]") == ["a", "b", "a", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n[[a]]\n```",
        "~~~\n[[a]]",
        "`[[a]]`",
        "`` [[a]] ` ``",
        "`code\n[[a]]\nmore`",
        "<!-- [[a]] -->",
        "\\[[a]]",
        "[[a\nb]]",
        "[[a]",
        "[a]]",
        "[[]]",
        "[[ ]]",
        "[[#heading]]",
        "[[|alias]]",
        "[[" + "a" * 1001 + "]]",
    ],
)
def test_what_is_no_link_is_left_out(text: str) -> None:
    assert targets(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("` [[a]]", ["a"]),
        ("`` [[a]] `", ["a"]),
        ("\\` [[a]] `", ["a"]),
        ("`x` [[a]] `y`", ["a"]),
        ("`open\n\n[[a]]`", ["a"]),
        ("```\ncode\n```\n[[a]]", ["a"]),
        ("`\n```\n[[no]]\n```\n` [[a]]", ["a"]),
        ("[[b [[a]]", ["a"]),
        ("`\\` [[a]] `", ["a"]),
    ],
)
def test_code_that_does_not_reach_the_link_hides_none(text: str, found: list[str]) -> None:
    assert targets(text) == found


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["[[", "]]", "[", "]", "a", "|", "#", "`", "``", "\\", "\n", "\n\n", "```\n", " ", "生"]),
        max_size=30,
    ).map("".join)
)
def test_every_link_stands_where_it_says(text: str) -> None:
    last = -1
    for link in links(text):
        assert link.position > last and link.target == link.target.strip() != ""
        assert text.startswith("[[", link.position)
        assert link.target in text[link.position :].split("]]")[0]
        last = link.position


def test_hostile_texts_are_read_in_linear_time() -> None:
    size = 100_000
    varied = "".join("`" * (number % 400 + 1) + " " for number in range(1000))
    started = time.process_time()
    for text in (
        "[[" * size,
        "[[a" * size,
        "`" * size + "[[a]]",
        "` " * size + "[[a]]",
        "[[a|" * size,
        "\\" * size + "[[",
        varied + "[[a]]",
        "```\n[[a]]\n" * size,
        "\n" * size + "[[a",
        "[[" + "a" * size,
        ("[[" + "a" * 999) * 200,
    ):
        list(links(text))
    assert time.process_time() - started < 4

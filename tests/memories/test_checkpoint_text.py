"""Checkpoints survive their Markdown (MEM-019, D-37, L-17)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.checkpoint_text import FIELDS, HEADINGS, normalised, parse, render

EMPTY = dict.fromkeys(FIELDS, "")
TEXT = render({"completed": "Parser", "next_steps": "- tests\n- docs"})


def test_a_checkpoint_is_plain_markdown_under_fixed_headings() -> None:
    assert TEXT == "## Completed\n\nParser\n\n## Next steps\n\n- tests\n- docs\n"
    assert parse(TEXT).fields == {**EMPTY, "completed": "Parser", "next_steps": "- tests\n- docs"}
    assert not parse(TEXT).broken


def test_all_fields_stand_in_their_fixed_order_whatever_order_they_come_in() -> None:
    text = render({field: f"{field} text" for field in reversed(FIELDS)})
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(HEADINGS.values())


def test_nothing_said_is_an_empty_body_and_not_a_broken_one() -> None:
    assert render({}) == render({"reason": " \n\r\n"}) == ""
    assert parse("").fields == parse("\r\n \n").fields == EMPTY and not parse("").broken


@pytest.mark.parametrize(
    "text",
    [
        "## Completed\n\nnot really",
        "a\n## Reason\nb\n\\## Reason\n\\\\## Next steps",
        "```\n## Problems\n```",
        "``` unclosed\n## x",
        "##",
        "##\ttabbed",
        "### deeper stays\n# title stays\n##no heading",
        "    ## indented",
        "first\r\nsecond\rthird",
        "\\",
        "---\nrule\n---",
        "a\x0b## Completed\x0c## Reason\u2028## Problems\x85## Solutions",
    ],
)
def test_headings_inside_a_field_stay_inside(text: str) -> None:
    fields = {**EMPTY, "completed": text, "problems": text}
    expected = {field: normalised(value) for field, value in fields.items()}
    assert parse(render(fields)).fields == expected
    assert parse(render(fields).replace("\n", "\r\n")).fields == expected


_LINES = st.sampled_from(
    ["## Completed", "\\## Reason", "##", "###", "```", "", " ", "\r", "# a", "\\", "text", "\x85", "\t## Problems"]
)
_TEXTS = st.lists(_LINES | st.text(max_size=8), max_size=6).map("\n".join) | st.text(max_size=40)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), _TEXTS))
def test_whatever_the_fields_hold_they_come_back(fields: dict[str, str]) -> None:
    parsed = parse(render(fields))
    assert parsed.fields == {field: normalised(fields.get(field, "")) for field in FIELDS}
    assert not parsed.broken
    assert render(parsed.fields) == render(fields)


@settings(max_examples=100, deadline=None)
@given(_TEXTS)
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@pytest.mark.parametrize(
    "text",
    [
        "A word before\n\n" + TEXT,
        TEXT.replace("## Completed", "## Done"),
        TEXT.replace("## Next steps", "## Notes"),
        TEXT + "\n## Completed\n\nagain\n",
        TEXT + "\n## My own section\n",
        TEXT + "\n##\n",
        "No headings at all.",
        "# Completed\n\nParser\n",
    ],
)
def test_a_foreign_edit_that_breaks_the_headings_empties_the_fields(text: str) -> None:
    parsed = parse(text)
    assert parsed.broken and parsed.fields == EMPTY


def test_a_foreign_edit_that_keeps_the_headings_is_read() -> None:
    text = "\r\n## next steps  \r\n- x\r\n\r\n## Completed\r\nDone\r\n### Detail\r\n"
    assert parse(text).fields == {**EMPTY, "completed": "Done\n### Detail", "next_steps": "- x"}

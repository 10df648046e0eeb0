"""The block keeps within its budget and whole, whatever it holds."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from apps.recall.block import CLOSING, OPENING, Entry, Link, render

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TEXTS = st.one_of(st.text(max_size=60), st.text('<>/ \n"&amry-eclod护城河', max_size=3_000))


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    return [
        Entry(
            f"mem_{n:026}",
            draw(TEXTS),
            "note",
            "global/bob",
            AT,
            draw(TEXTS),
            draw(TEXTS),
            clues=draw(st.text(max_size=30)),
        )
        for n in range(draw(st.integers(0, 4)))
    ]


@given(entries(), st.lists(st.builds(Link, st.just("mem_x"), TEXTS, TEXTS), max_size=3), st.integers(0, 3_000))
def test_a_block_is_whole_and_never_longer_than_allowed(told: list[Entry], links: list[Link], characters: int) -> None:
    block = render(told, links, characters=characters)
    assert len(block.text) <= max(0, characters)
    assert bool(block.text) == bool(block.shown)
    if block.text:
        assert block.text.startswith(OPENING) and block.text.endswith(CLOSING)
        inside = block.text[len(OPENING) : -len(CLOSING)]
        assert "recalled-memory>" not in inside.replace("&lt;recalled-memory>", "").replace("&lt;/recalled-memory>", "")
        assert inside.count("<") == 2 * len(block.shown)
        for one in told:
            if block.shown.get(one.memory_id):
                assert one.memory_id in block.text


def test_a_long_text_does_not_crowd_the_others_out() -> None:
    long = Entry("mem_1", "Long", "note", "library", AT, "", "word " * 1_000, clues="word")
    short = [Entry(f"mem_{n}", "Short", "note", "library", AT, "", "short text") for n in (2, 3)]
    block = render([long, *short], [], characters=2_000)
    assert list(block.shown) == ["mem_1", "mem_2", "mem_3"] and not block.shown["mem_1"]

"""Differences say what changed, quickly and within bounds (memory_diff)."""

import random
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.differences import NO_NEWLINE, Difference, Kind, difference


def compared(old: str, new: str, context: int = 3) -> Difference:
    return difference(old, new, "revision 1", "revision 2", context)


def test_equal_texts_have_no_difference() -> None:
    assert compared("a\nb", "a\nb") == Difference("", 0, 0, [], truncated=False)


def test_a_difference_is_unified_and_its_lines_are_numbered() -> None:
    shown = compared("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n", context=1)
    assert shown.text == "--- revision 1\n+++ revision 2\n@@ -1,4 +1,5 @@\n a\n-b\n+B\n c\n d\n+e\n"
    assert (shown.added, shown.removed, shown.truncated) == (2, 1, False)
    assert shown.lines[1:4] == [(Kind.SAME, 1, 1, "a"), (Kind.REMOVED, 2, None, "b"), (Kind.ADDED, None, 2, "B")]
    assert shown.lines[-1] == (Kind.ADDED, None, 5, "e")


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    old = [f"line {number}\n" for number in range(100)]
    new = [*old[:10], "changed\n", *old[11:80], *old[81:]]
    shown = compared("".join(old), "".join(new), context=2)
    assert [line.text for line in shown.lines if line.kind is Kind.HUNK] == ["@@ -9,5 +9,5 @@", "@@ -79,5 +79,4 @@"]
    assert (shown.added, shown.removed) == (1, 2)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("", "a", f"@@ -0,0 +1 @@\n+a\n{NO_NEWLINE}\n"),
        ("a", "a\n", f"@@ -1 +1 @@\n-a\n{NO_NEWLINE}\n+a\n"),
        ("a\nb", "c\nb", f"@@ -1,2 +1,2 @@\n-a\n+c\n b\n{NO_NEWLINE}\n"),
        ("a\r\n", "a\n", "@@ -1 +1 @@\n-a\n+a\n"),
        ("a\u2028b\n", "a\u2028c\n", "@@ -1 +1 @@\n-a\u2028b\n+a\u2028c\n"),
    ],
)
def test_ends_of_files_are_told(old: str, new: str, text: str) -> None:
    assert compared(old, new).text == "--- revision 1\n+++ revision 2\n" + text


def test_a_label_stays_on_its_line() -> None:
    assert difference("a", "b", "x\n+++ y", "z", 3).text.startswith("--- x +++ y\n+++ z\n@@")


def rebuilt(old: str, shown: Difference) -> str:
    """The new text, from the old one and a difference without gaps."""
    lines: list[str] = []
    previous = Kind.HUNK
    for line in shown.lines:
        if line.kind in (Kind.SAME, Kind.ADDED):
            lines.append(line.text + "\n")
        elif line.kind is Kind.NOTE and previous in (Kind.SAME, Kind.ADDED):
            lines[-1] = lines[-1][:-1]
        previous = line.kind
    return "".join(lines)


_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d", "e", "unique one", "unique two"]), max_size=14).map(
    "\n".join
)


@settings(max_examples=300, deadline=None)
@given(_TEXTS, _TEXTS)
def test_a_difference_with_all_lines_leads_from_the_old_text_to_the_new(old: str, new: str) -> None:
    shown = compared(old, new, context=1000)
    assert old == new or rebuilt(old, shown) == new
    back = compared(new, old, context=1000)
    assert (shown.added - shown.removed) == -(back.added - back.removed)
    assert [line.text for line in shown.lines if line.kind is Kind.REMOVED] == [
        old.split("\n")[line.old_number - 1] for line in shown.lines if line.kind is Kind.REMOVED and line.old_number
    ]


def test_patch_understands_what_is_shown(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(5):
        old = [chance.choice("abcdefghij") * chance.randint(1, 2) for _ in range(60)]
        new = [line for line in old if chance.random() > 0.1]
        new.insert(chance.randrange(len(new)), "neu 生存")
        (tmp_path / "old").write_text("\n".join(old))
        wanted = "\n".join(new) + chance.choice(["", "\n"])
        told = difference("\n".join(old), wanted, "a/old", "b/old")
        subprocess.run(
            ["git", "apply", "-"],
            input=told.text.encode(),
            cwd=tmp_path,
            check=True,
            env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PATH": "/usr/bin:/bin:/usr/local/bin"},
        )
        assert (tmp_path / "old").read_text() == wanted


def test_a_moved_paragraph_does_not_tear_its_neighbours_apart() -> None:
    parts = [f"## Heading {number}\n\ntext {number}\n\n" for number in range(6)]
    moved = [parts[0], *parts[2:5], parts[1], parts[5]]
    shown = compared("".join(parts), "".join(moved))
    assert (shown.added, shown.removed) == (4, 4)


def test_more_lines_than_wanted_are_counted_and_not_shown() -> None:
    new = "".join(f"{number}\n" for number in range(5000))
    shown = difference("", new, "a", "b", most_lines=100)
    assert shown.truncated and len(shown.lines) == 101 and shown.added == 5000
    assert shown.lines[-1] == (Kind.NOTE, None, None, "@@ 4901 more lines are not shown @@")
    wide = difference("x" * 500_000, "y" * 500_000, "a", "b")
    assert wide.truncated and len(wide.text) < 500_000 and (wide.added, wide.removed) == (1, 1)


def test_no_pair_of_texts_takes_long() -> None:
    chance = random.Random(1)
    size = 20_000
    same = [f"line {number}\n" for number in range(size)]
    shuffled = chance.sample(same, size)
    few = [chance.choice("abcdefgh") + "\n" for _ in range(size)]
    other = [chance.choice("abcdefgh") + "\n" for _ in range(size)]
    pairs = [
        (same, [*same[:-1], "x\n"]),
        (same, shuffled),
        (few, other),
        (few, [*few[: size // 2], *few[size // 2 + 1 :]]),
        (["a\n"] * size, ["a\n", "b\n"] * size),
        (["a\n", "b\n"] * size, ["b\n", "a\n"] * size),
    ]
    started = time.process_time()
    for old, new in pairs:
        compared("".join(old), "".join(new))
    assert time.process_time() - started < 6

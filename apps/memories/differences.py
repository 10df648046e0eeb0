"""What changed between two texts, as a unified difference for agents and as numbered lines for pages.

Equal beginnings and ends cost next to nothing, lines that occur once in both texts tie the rest together (so that a
moved paragraph doesn't tear its neighbours apart), and the search in between has a budget: beyond it a stretch is shown as
replaced whole, which is correct and only longer. So no pair of texts takes more than a moment.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

MOST_LINES = 2_000
MOST_CHARACTERS = 400_000
_STEPS = 400_000  # Of the search in all; about a fifth of a second.

NO_NEWLINE = "\\ No newline at end of file"


class Kind(StrEnum):
    HUNK = "hunk"  # Where the next lines stand: ``@@ -1,4 +1,5 @@``.
    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    NOTE = "note"  # The line before has no line end; or how many lines are not shown.


class Line(NamedTuple):
    kind: Kind
    old_number: int | None
    new_number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Difference:
    text: str  # Empty if the texts are equal.
    added: int  # Lines in all, shown or not.
    removed: int
    lines: list[Line]
    truncated: bool


_SIGNS = {Kind.SAME: " ", Kind.REMOVED: "-", Kind.ADDED: "+", Kind.HUNK: "", Kind.NOTE: ""}


class _Block(NamedTuple):
    """A stretch of the old text that became a stretch of the new one; both may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def difference(
    old: str,
    new: str,
    old_label: str,
    new_label: str,
    context: int = 3,
    *,
    most_lines: int = MOST_LINES,
    most_characters: int = MOST_CHARACTERS,
) -> Difference:
    """Compare line by line, line ends included; at most so many lines and characters come back."""
    if old == new:
        return Difference("", 0, 0, [], truncated=False)
    old_lines, new_lines = _split(old), _split(new)
    blocks = _changed_blocks(old_lines, new_lines)
    added = sum(block.new_end - block.new_start for block in blocks)
    removed = sum(block.old_end - block.old_start for block in blocks)
    shown: list[Line] = []
    characters = hidden = 0
    for line in _lines_of(blocks, old_lines, new_lines, context):
        characters += len(line.text)
        if hidden or len(shown) >= most_lines or characters > most_characters:
            hidden += 1
        else:
            shown.append(line)
    if hidden:
        shown.append(Line(Kind.NOTE, None, None, f"@@ {hidden} more lines are not shown @@"))
    head = [f"--- {_label(old_label)}", f"+++ {_label(new_label)}"]
    text = "\n".join([*head, *(_SIGNS[line.kind] + line.text for line in shown)]) + "\n"
    return Difference(text, added, removed, shown, truncated=bool(hidden))


def _split(text: str) -> list[str]:
    """Lines with their endings. Only LF ends one here: other separators are characters of a line."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _label(text: str) -> str:
    return " ".join(text.split())


# Which lines changed.


def _changed_blocks(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    budget = [_STEPS]
    blocks: list[_Block] = []
    place = (0, 0)
    for anchor in [*_anchors(old, new), (len(old), len(new))]:
        for block in _compared(old, new, _Block(place[0], anchor[0], place[1], anchor[1]), budget):
            if blocks and (blocks[-1].old_end, blocks[-1].new_end) == (block.old_start, block.new_start):
                before = blocks.pop()
                block = _Block(before.old_start, block.old_end, before.new_start, block.new_end)
            blocks.append(block)
        place = anchor
    return blocks


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that occur once in each text and keep their order (patience)."""
    first, old_last, new_last = _trimmed(old, new, _Block(0, len(old), 0, len(new)))
    old_counts, new_counts = Counter(old[first:old_last]), Counter(new[first:new_last])
    places = {line: place for place, line in enumerate(new[first:new_last], first) if new_counts[line] == 1}
    pairs = [
        (n, places[line])
        for n, line in enumerate(old[first:old_last], first)
        if old_counts[line] == 1 and line in places
    ]
    # The longest run of pairs that goes forward in both texts.
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        previous.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[length], ends[length] = place, index
    chain: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _trimmed(old: Sequence[str], new: Sequence[str], block: _Block) -> tuple[int, int, int]:
    """How many lines both stretches start with alike, and where in each text the end they share begins."""
    start, most = 0, min(block.old_end - block.old_start, block.new_end - block.new_start)
    while start < most and old[block.old_start + start] == new[block.new_start + start]:
        start += 1
    end = 0
    while end < most - start and old[block.old_end - 1 - end] == new[block.new_end - 1 - end]:
        end += 1
    return start, block.old_end - end, block.new_end - end


def _compared(old: Sequence[str], new: Sequence[str], block: _Block, budget: list[int]) -> Iterator[_Block]:
    start, old_end, new_end = _trimmed(old, new, block)
    old_start, new_start = block.old_start + start, block.new_start + start
    if old_start == old_end and new_start == new_end:
        return
    if old_start == old_end or new_start == new_end:
        yield _Block(old_start, old_end, new_start, new_end)
        return
    script = _shortest_script(old[old_start:old_end], new[new_start:new_end], budget)
    if script is None:
        yield _Block(old_start, old_end, new_start, new_end)
        return
    for piece in script:
        yield _Block(
            old_start + piece.old_start,
            old_start + piece.old_end,
            new_start + piece.new_start,
            new_start + piece.new_end,
        )


def _shortest_script(old: Sequence[str], new: Sequence[str], budget: list[int]) -> list[_Block] | None:
    """Myers' greedy search; ``None`` when the budget is spent."""
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(line, len(numbers)) for line in old]
    b = [numbers.setdefault(line, len(numbers)) for line in new]
    reached = {1: 0}  # On each diagonal, how far into the old text.
    trail: list[dict[int, int]] = []
    for edits in range(len(a) + len(b) + 1):
        trail.append(reached.copy())
        budget[0] -= len(reached) + edits
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
            x = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            start = x
            while x < len(a) and x - diagonal < len(b) and a[x] == b[x - diagonal]:
                x += 1
            budget[0] -= x - start
            reached[diagonal] = x
            if x >= len(a) and x - diagonal >= len(b):
                return _walked_back(trail, len(a), len(b))
        if budget[0] < 0:
            return None
    return None


def _walked_back(trail: list[dict[int, int]], x: int, y: int) -> list[_Block]:
    pieces: list[_Block] = []
    for edits in range(len(trail) - 1, 0, -1):
        reached, diagonal = trail[edits], x - y
        down = diagonal == -edits or (diagonal != edits and reached[diagonal - 1] < reached[diagonal + 1])
        before_diagonal = diagonal + 1 if down else diagonal - 1
        before_x = reached[before_diagonal]
        before_y = before_x - before_diagonal
        pieces.append(_Block(before_x, before_x + (not down), before_y, before_y + down))
        x, y = before_x, before_y
    pieces.reverse()
    return pieces


# How it is shown.


def _lines_of(blocks: list[_Block], old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Line]:
    hunk: list[_Block] = []
    for block in blocks:
        if hunk and block.old_start - hunk[-1].old_end > 2 * context:
            yield from _hunk_lines(hunk, old, new, context)
            hunk = []
        hunk.append(block)
    if hunk:
        yield from _hunk_lines(hunk, old, new, context)


def _hunk_lines(blocks: list[_Block], old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Line]:
    lead = min(context, blocks[0].old_start, blocks[0].new_start)
    trail = min(context, len(old) - blocks[-1].old_end)
    old_start, new_start = blocks[0].old_start - lead, blocks[0].new_start - lead
    old_end, new_end = blocks[-1].old_end + trail, blocks[-1].new_end + trail
    yield Line(Kind.HUNK, None, None, f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@")
    place, shift = old_start, new_start - old_start
    for block in [*blocks, _Block(old_end, old_end, new_end, new_end)]:
        for number in range(place, block.old_start):
            yield from _with_note(Kind.SAME, number + 1, number + shift + 1, old[number])
        for number in range(block.old_start, block.old_end):
            yield from _with_note(Kind.REMOVED, number + 1, None, old[number])
        for number in range(block.new_start, block.new_end):
            yield from _with_note(Kind.ADDED, None, number + 1, new[number])
        place, shift = block.old_end, block.new_end - block.old_end


def _range(start: int, end: int) -> str:
    """Numbers as ``diff -u`` writes them: the line before for an empty stretch, no length for one line."""
    length = end - start
    return f"{start + 1}" if length == 1 else f"{start + 1 if length else start},{length}"


def _with_note(kind: Kind, old_number: int | None, new_number: int | None, line: str) -> Iterator[Line]:
    yield Line(kind, old_number, new_number, line.rstrip("\r\n") if line.endswith("\n") else line)
    if not line.endswith("\n"):
        yield Line(Kind.NOTE, None, None, NO_NEWLINE)

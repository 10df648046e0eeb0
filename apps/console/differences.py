"""A unified difference as the lines of a page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
KINDS = {" ": "same", "+": "added", "-": "removed"}


@dataclass(frozen=True)
class Line:
    """``skipped`` stands for ``count`` unchanged lines that are not shown."""

    kind: str
    text: str = ""
    old_number: int | None = None
    new_number: int | None = None
    count: int = 0


def lines_of(difference: str) -> list[Line]:
    """Every line with its numbers in both texts; the headers of the two files say nothing here."""
    return list(_lines(difference.removesuffix("\n").split("\n")))


def _lines(told: list[str]) -> Iterator[Line]:
    old = new = 1
    inside = False
    for line in told:
        if hunk := HUNK.match(line):
            inside = True
            # An empty side is counted from the line before it.
            starts_at = int(hunk[1]) + (hunk[2] == "0")
            if starts_at > old:
                yield Line("skipped", count=starts_at - old)
            old, new = starts_at, int(hunk[3]) + (hunk[4] == "0")
        elif inside and (kind := KINDS.get(line[:1] or " ")):
            yield Line(kind, line[1:], None if kind == "added" else old, None if kind == "removed" else new)
            old += kind != "added"
            new += kind != "removed"

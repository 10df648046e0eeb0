"""Links between memories as Markdown holds them: ``[[target]]``, ``[[target|alias]]``, ``[[target#heading]]``.

What stands in code, fenced or inline, or in a comment is no link. Time grows with the length of the text, whatever it holds.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from apps.base.text import nfc, same_slug_key, slug_for
from apps.memories.edits import prose_lines

LONGEST = 1000  # Characters between the brackets; more is no link.

_LINK = re.compile(rf"\[\[([^\[\]\r\n]{{1,{LONGEST}}})\]\]")
_TOKEN = re.compile(r"\\[^\r\n]|`+|\[\[")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Link:
    target: str
    alias: str
    heading: str  # Or ``^block``, as Obsidian writes it.
    position: int  # Of its first bracket, in characters.


def links(text: str) -> Iterator[Link]:
    """Every link in reading order, repeated ones too. A link inside its own text (``[[#heading]]``) leads nowhere else."""
    if "[[" not in text:
        return
    for start, paragraph in _paragraphs(text):
        if "[[" in paragraph:
            for position, content in _contents(paragraph):
                if link := _link_of(content, start + position):
                    yield link


def key_of(target: str) -> str:
    """What is the same for every way of writing one name: its last part as a slug, without folder, ending, case and form.

    Different names may share it; it finds the links that may mean a memory, and reading them tells which do.
    """
    name = nfc(target.strip()).rpartition("/")[2]
    return same_slug_key(slug_for(name.removesuffix(".md")))


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Runs of lines within which a piece of inline code may reach from one line into the next."""
    first, end = 0, 0
    for start, line in prose_lines(text):
        if start != end or not line.strip():
            if end > first:
                yield first, text[first:end]
            first = start
        end = start + len(line)
    if end > first:
        yield first, text[first:end]


def _contents(paragraph: str) -> Iterator[tuple[int, str]]:
    closings: dict[int, list[int]] = defaultdict(list)  # Where runs of so many backticks start.
    for run in _BACKTICKS.finditer(paragraph):
        closings[len(run[0])].append(run.start())
    place = 0
    while token := _TOKEN.search(paragraph, place):
        place = token.end()
        if token[0][0] == "`":
            length = len(token[0])
            runs = closings[length]
            following = bisect_left(runs, place)
            if following < len(runs):
                place = runs[following] + length
        elif token[0] == "[[":
            # The last two of three brackets open the link.
            place = token.start() + 1
            if link := _LINK.match(paragraph, token.start()):
                yield token.start(), link[1]
                place = link.end()


def _link_of(content: str, position: int) -> Link | None:
    # In a table Obsidian writes ``[[target\|alias]]``.
    place, _, alias = content.replace("\\|", "|").partition("|")
    target, _, heading = place.partition("#")
    target = target.strip()
    return Link(target, alias.strip(), heading.strip(), position) if target else None

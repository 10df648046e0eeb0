"""The body of a checkpoint: its fields under fixed headings, written and read back (MEM-019, D-37, L-17).

A field is plain Markdown. What it is after a round trip is what ``normalised`` says: LF line ends, no empty lines in
front, no white space behind. Lines of a field that start like a heading of level 2 get a backslash in the file (which
Markdown shows as the heading's own characters), so that no text can be taken for the start of another field.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

HEADINGS: Mapping[str, str] = {
    "completed": "Completed",
    "reason": "Reason",
    "key_changes": "Key changes",
    "verification": "Verification",
    "problems": "Problems",
    "solutions": "Solutions",
    "next_steps": "Next steps",
}
FIELDS = tuple(HEADINGS)

_FIELD_OF = {heading.casefold(): field for field, heading in HEADINGS.items()}
_HEADING = re.compile(r"^##(?:[ \t]+(.*))?$", re.MULTILINE)
_LIKE_A_HEADING = re.compile(r"^(\\*##)(?=[ \t]|$)", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*##)(?=[ \t]|$)", re.MULTILINE)
_EMPTY_LINES_IN_FRONT = re.compile(r"\A\s*\n")


@dataclass(frozen=True, slots=True)
class ParsedCheckpoint:
    fields: dict[str, str]  # All of ``FIELDS``; empty ones too.
    broken: bool  # The headings are not ours any more: the text stands, the fields are empty.


def normalised(text: str) -> str:
    """A field as it comes back: LF line ends, no empty lines in front, no white space behind."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _EMPTY_LINES_IN_FRONT.sub("", text.rstrip())


def render(fields: Mapping[str, str]) -> str:
    """The body for these fields, in their fixed order; empty ones are left out. ``parse`` gives them back."""
    sections = [(heading, normalised(fields.get(field, ""))) for field, heading in HEADINGS.items()]
    return "\n".join(_section(heading, text) for heading, text in sections if text)


def _section(heading: str, text: str) -> str:
    return f"## {heading}\n\n" + _LIKE_A_HEADING.sub(lambda match: "\\" + match[1], text) + "\n"


def parse(text: str) -> ParsedCheckpoint:
    """The fields of a body. Their order is free; a foreign, missing or doubled heading breaks all of them."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    broken = ParsedCheckpoint(dict.fromkeys(FIELDS, ""), broken=True)
    headings = list(_HEADING.finditer(text))
    if text[: headings[0].start() if headings else None].strip():
        return broken
    fields = dict.fromkeys(FIELDS, "")
    seen: set[str] = set()
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=False):
        field = _FIELD_OF.get((heading[1] or "").strip().casefold())
        if field is None or field in seen:
            return broken
        seen.add(field)
        fields[field] = _ESCAPED.sub(r"\1", normalised(text[heading.end() : end]))
    return ParsedCheckpoint(fields, broken=False)

"""The head of a document: its lines, which of them say what, and which of them cannot be read."""

import re
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from apps.memories.frontmatter.keys import Value, ValueType

NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_TRUE, _FALSE = frozenset(["true", "yes", "on"]), frozenset(["false", "no", "off"])
# Every character that YAML takes for the end of a line.
_YAML_LINE = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])|[^\r\n\x85\u2028\u2029]+\Z")


class ProblemKind(StrEnum):
    UNREADABLE = "unreadable"  # YAML cannot read this line; it stays as it is.
    DUPLICATE = "duplicate"  # The key stands here again; the last one counts.
    WRONG_TYPE = "wrong_type"  # Readable, but not what this key holds.


@dataclass(frozen=True, slots=True)
class Problem:
    line: int  # In the document, from 1.
    key: str  # Empty for a line that belongs to no key.
    kind: ProblemKind
    text: str  # What stands there, as its author wrote it.


class Style(Enum):
    PLAIN = "plain"  # Bare text, which YAML may take for a number or nothing at all.
    QUOTED = "quoted"
    LIST = "list"
    DEEP = "deep"  # A mapping, or a list of more than texts.
    BROKEN = "broken"


@dataclass(slots=True)
class Entry:
    key: str
    start: int  # Its lines: head.lines[start:end].
    end: int
    style: Style
    value: str | list[str | None]
    comment: str = ""  # Stays behind a value that is replaced.

    @property
    def is_null(self) -> bool:
        return self.style is Style.PLAIN and self.value in NULLS

    def read_as(self, kind: ValueType) -> Value | None:
        """The value as this type; ``None`` if there is none or it does not fit."""
        value, style = self.value, self.style
        if isinstance(value, list):
            return [item for item in value if item is not None] if kind is ValueType.LIST else None
        if style is not Style.QUOTED and (style is not Style.PLAIN or value in NULLS):
            return None
        match kind:
            case ValueType.TEXT:
                return value
            case ValueType.NUMBER:
                return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
            case ValueType.FLAG:
                return True if value.lower() in _TRUE else False if value.lower() in _FALSE else None
            case ValueType.LIST:
                # Obsidian lets people write ``tags: one, two``.
                return [item for part in value.split(",") if (item := part.strip())]


@dataclass(slots=True)
class Head:
    lines: list[str]  # With their endings.
    entries: list[Entry]
    problems: list[Problem] = field(default_factory=list)
    indent: str = ""  # Of the keys: some people indent the whole block.
    end: int = -1  # Where new lines go.

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.lines)

    def problem(self, entry: Entry, kind: ProblemKind) -> Problem:
        text = "".join(self.lines[entry.start : entry.end]).strip()
        return Problem(entry.start + 2, entry.key, kind, text)

    def without_gap(self, start: int, following: int, *, indented: bool) -> int:
        """Where an entry ends: empty lines and comments before the next key belong to nobody.

        ``indented`` keeps lines that look like indented comments: in a block of text they are text.
        """
        end = following
        while end > start + 1:
            line = self.lines[end - 1]
            inside = indented and line.startswith((self.indent + " ", "\t"))
            if line.strip() and (inside or not line.lstrip().startswith("#")):
                break
            end -= 1
        return end


def yaml_lines(text: str) -> list[str]:
    """The lines as PyYAML counts them, with their endings."""
    return _YAML_LINE.findall(text)

"""Reading a document: where its head ends, and what its keys say."""

import re

import yaml

from apps.memories.frontmatter import by_hand, by_key, by_yaml
from apps.memories.frontmatter.head import Head, Problem, ProblemKind, Style
from apps.memories.frontmatter.keys import KNOWN_KEYS, Value
from apps.memories.frontmatter.parts import BOM, HEAD_LIMIT, Parts, check_utf8, newline_of

_OPENING = re.compile(rb"(\xef\xbb\xbf)?(---[ \t]*\r?\n)")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class Metadata(dict[str, Value]):
    """The known keys of a document with their types; a key without a readable value is absent."""

    def __init__(self) -> None:
        super().__init__()
        self.other: dict[str, str | list[str]] = {}  # Foreign keys that hold text or a list of texts.
        self.problems: list[Problem] = []

    def text(self, key: str) -> str:
        value = self.get(key)
        return value if isinstance(value, str) else ""

    def texts(self, key: str) -> list[str]:
        value = self.get(key)
        return list(value) if isinstance(value, list) else []

    def number(self, key: str) -> int | None:
        value = self.get(key)
        return value if isinstance(value, int) else None

    def flag(self, key: str) -> bool:
        return self.get(key) is True


def split(document: bytes) -> Parts:
    """Take a document apart. A rule on line 1 that opens no block of keys belongs to the body."""
    return open_document(document)[0]


def read(document: bytes) -> Metadata:
    """What the frontmatter says; what it fails to say is told in ``problems``."""
    return parse(document)[1]


def parse(document: bytes) -> tuple[Parts, Metadata]:
    """``split`` and ``read`` at the price of one."""
    parts, head = open_document(document)
    metadata = Metadata()
    if head is None:
        return parts, metadata
    metadata.problems = [*head.problems]
    seen: set[str] = set()
    for entry in head.entries:
        key = entry.key
        if key in seen:
            metadata.problems.append(head.problem(entry, ProblemKind.DUPLICATE))
        seen.add(key)
        kind = KNOWN_KEYS.get(key)
        if entry.style is Style.BROKEN:
            continue  # The head has reported it.
        if kind is None:
            metadata.other.pop(key, None)
            if isinstance(entry.value, str) and entry.style is not Style.DEEP and not entry.is_null:
                metadata.other[key] = entry.value
            elif isinstance(entry.value, list):
                metadata.other[key] = [item for item in entry.value if item is not None]
            continue
        metadata.pop(key, None)
        value = entry.read_as(kind)
        if value is not None:
            metadata[key] = value
        elif not entry.is_null:
            metadata.problems.append(head.problem(entry, ProblemKind.WRONG_TYPE))
    return parts, metadata


def open_document(document: bytes) -> tuple[Parts, Head | None]:
    """The pieces of a document, and its head as lines that can be read and edited one by one."""
    check_utf8(document)
    opening = _OPENING.match(document)
    closing = opening and _CLOSING.search(document, opening.end())
    if opening and closing and closing.start() - opening.end() <= HEAD_LIMIT:
        head_bytes = document[opening.end() : closing.start()]
        newline = b"\r\n" if opening[2].endswith(b"\r\n") else b"\n"
        head = _read_head(head_bytes.decode(), newline.decode())
        if head is not None:
            lines = tuple(head_bytes.splitlines(keepends=True))
            body = document[closing.end() :]
            return Parts(opening[1] is not None, opening[2], lines, closing[0], body, newline), head
    bom = document.startswith(BOM)
    body = document[len(BOM) :] if bom else document
    return Parts(bom, b"", None, b"", body, newline_of(body)), None


def _read_head(text: str, newline: str) -> Head | None:
    """The head, or ``None`` if this is no block of keys."""
    if (plain := by_hand.read(text)) is not None:
        return plain
    try:
        found = by_yaml.read(text)
        if isinstance(found, list):  # Its lines cannot be addressed, so it is read as the plain lines it will become.
            return _read_head("".join(f"{key}: {value}{newline}" for key, value in found), newline)
        return found
    except (yaml.YAMLError, RecursionError, ValueError):
        return by_key.read(text)

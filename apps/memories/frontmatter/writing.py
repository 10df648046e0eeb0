"""Writing: the keys an edit names, and a new document; every other byte stays as its author left it."""

from collections.abc import Mapping

from apps.memories.frontmatter.errors import HeadTooLarge
from apps.memories.frontmatter.head import Entry, Head
from apps.memories.frontmatter.keys import KNOWN_KEYS, Value, ValueType, in_order, type_of
from apps.memories.frontmatter.parts import BOM, HEAD_LIMIT, check_utf8, newline_of
from apps.memories.frontmatter.reading import open_document, split
from apps.memories.frontmatter.values import render


def write(document: bytes, changes: Mapping[str, Value | None]) -> bytes:
    """Set these keys (``None`` removes one) and leave every other byte alone.

    A value that reads the same already keeps its line. Keys that are new come after all others, in the canonical order.
    """
    parts, head = open_document(document)
    if head is None:
        head = Head([], [], [])
    edits: list[tuple[int, int, list[str]]] = []
    added: dict[str, Value] = {}
    standing: dict[str, list[Entry]] = {}
    for entry in head.entries:
        standing.setdefault(entry.key, []).append(entry)
    for key, value in changes.items():
        found = standing.get(key, [])
        if value is None:
            edits += [(entry.start, entry.end, []) for entry in found]
        elif not found:
            added[key] = value
        elif not _says(found[-1], value):
            edits += [(entry.start, entry.end, []) for entry in found[:-1]]
            edits.append((found[-1].start, found[-1].end, render(key, value, head.indent, found[-1].comment)))
    if added:
        order = in_order(added)
        edits.append((head.end, head.end, [line for key in order for line in render(key, added[key], head.indent)]))
    if not edits:
        return document
    newline = parts.newline.decode()
    lines = head.lines[:]
    for start, end, rendered in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[start:end] = [line + newline for line in rendered]
    fence = b"---" + parts.newline
    bom = BOM if parts.bom else b""
    return bom + (parts.opening or fence) + _head_bytes(lines) + (parts.closing or fence) + parts.body


def with_body(document: bytes, body: bytes) -> bytes:
    """The same head over another body."""
    parts = split(document)
    head = document[: len(document) - len(parts.body)]
    if body and parts.head_lines is not None and not parts.closing.endswith(b"\n"):
        head += parts.newline  # The file ended with the rule itself.
    return head + body


def compose(metadata: Mapping[str, Value | None], body: bytes) -> bytes:
    """A new document: these keys in the canonical order, then exactly ``body``, whose kind of line ending it takes.

    A byte-order mark in front of the body stays there: whoever saved it gets it back.
    """
    check_utf8(body)
    newline = newline_of(body)
    lines: list[str] = []
    for key in in_order(metadata):
        if (value := metadata[key]) is not None:
            lines += render(key, value, "")
    fence = b"---" + newline
    ending = newline.decode()
    return fence + _head_bytes([line + ending for line in lines]) + fence + body


def _head_bytes(lines: list[str]) -> bytes:
    head = "".join(lines).encode()
    if len(head) > HEAD_LIMIT:
        raise HeadTooLarge(limit=HEAD_LIMIT)
    return head


def _says(entry: Entry, value: Value) -> bool:
    """Whether an entry reads as this value already, so that its line may stay as its author wrote it."""
    if isinstance(value, str | int):
        return entry.read_as(type_of(value)) == value
    listed = isinstance(entry.value, list) or KNOWN_KEYS.get(entry.key) is ValueType.LIST
    return listed and entry.read_as(ValueType.LIST) == list(value)

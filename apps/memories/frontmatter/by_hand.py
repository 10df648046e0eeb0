"""First way to read a head: by hand, for the plain forms, which take a tenth of the time."""

import json
import re

from apps.memories.frontmatter.head import NULLS, Entry, Head, Style
from apps.memories.frontmatter.values import starts_plain

# Characters that YAML refuses, takes for a line end or treats in a way of its own; a CR only as part of CRLF.
_ODD = re.compile(r"\r(?!\n)|[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_LF_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
# Nine lines in ten: one match tells all.
_USUAL_LINE = re.compile(r'([A-Za-z_][A-Za-z0-9_-]*): (?:"([^"\\\n]*)"|([A-Za-z0-9_/(.$+~][^:#\r\n]*))\r?\n')
_PLAIN_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?: +(.*))?")
_ITEM = re.compile(r"( *)- +(.*)")
_FLOW_LIST = re.compile(r"\[ *(?:[\w/][\w /.@+-]*(?:, *[\w/][\w /.@+-]*)*)?\]")
_WITHOUT_ESCAPES = re.compile(r'"[^"\\]*"')
_SINGLE_QUOTED = re.compile(r"'(?:[^']|'')*'")


def read(text: str) -> Head | None:
    """The head, or ``None`` where it needs a real parser."""
    if _ODD.search(text):
        return None
    lines = text.splitlines(keepends=True) if text.isascii() else _LF_LINE.findall(text)
    entries = _read_lines(lines)
    return Head(lines, entries or []) if entries or not text.strip() else None


def _read_lines(lines: list[str]) -> list[Entry] | None:
    """All entries, or ``None`` as soon as a line needs a real parser."""
    entries: list[Entry] = []
    items: list[str | None] | None = None  # Of the list being read.
    depth = ""
    for number, line in enumerate(lines):
        if usual := _USUAL_LINE.fullmatch(line):
            items = None
            style, value = (Style.PLAIN, usual[3].rstrip(" ")) if usual[2] is None else (Style.QUOTED, usual[2])
            entries.append(Entry(usual[1], number, number + 1, style, value))
            continue
        text = line.rstrip("\r\n ")
        if not text or text[0] == "#":
            continue
        if text[0] in " -":
            item = _ITEM.fullmatch(text)
            scalar = item and _simple(item[2])
            if not entries or not item or not scalar:
                return None
            entry = entries[-1]
            if items is None:
                if not entry.is_null or entry.value:
                    return None
                items, depth = [], item[1]
                entry.style, entry.value = Style.LIST, items
            elif item[1] != depth:
                return None
            entry.end = number + 1
            items.append(None if scalar[0] is Style.PLAIN and scalar[1] in NULLS else scalar[1])
            continue
        match = _PLAIN_KEY.fullmatch(text)
        if match is None:
            return None
        items = None
        value = match[2]
        if not value:
            entries.append(Entry(match[1], number, number + 1, Style.PLAIN, ""))
        elif value[0] == "[":
            if not _FLOW_LIST.fullmatch(value):
                return None
            parts = [part.strip(" ") for part in value[1:-1].split(",")]
            listed = [None if part in NULLS else part for part in parts] if parts != [""] else []
            entries.append(Entry(match[1], number, number + 1, Style.LIST, listed))
        elif scalar := _simple(value):
            entries.append(Entry(match[1], number, number + 1, *scalar))
        else:
            return None
    return entries


def _simple(text: str) -> tuple[Style, str] | None:
    """A scalar that stands on one line and means what it looks like."""
    first = text[0]
    if first == '"':
        if _WITHOUT_ESCAPES.fullmatch(text):
            return Style.QUOTED, text[1:-1]
        return _json_string(text)
    if first == "'":
        return (Style.QUOTED, text[1:-1].replace("''", "'")) if _SINGLE_QUOTED.fullmatch(text) else None
    if starts_plain(first) and ": " not in text and " #" not in text and text[-1] != ":":
        return Style.PLAIN, text
    return None


def _json_string(text: str) -> tuple[Style, str] | None:
    # The escapes of JSON are YAML's too, but for pairs of surrogates.
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, str) or "\\ud" in text.lower():
        return None
    return Style.QUOTED, value

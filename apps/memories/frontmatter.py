"""The YAML block at the top of a Markdown file, read and edited line by line.

A file belongs to its author: whatever an edit does not name (unknown keys, order, quotes, comments, line endings, the
byte-order mark, every byte of the body) stays as it was. Heads in the plain form that this module writes are read by
hand, which takes a tenth of the time; everything else goes through PyYAML, and a head that YAML cannot read is taken
key by key, so that one broken line costs one value and never the file.

Two heads are rewritten as plain lines when they are first changed, because lines cannot be addressed in them: one
flow mapping (``{"id": 1}``, JSON too) and one with explicit keys (``? key``).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any

import yaml
from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError

Value = str | int | bool | Sequence[str]

BOM = b"\xef\xbb\xbf"
HEAD_LIMIT = 512 * 1024  # A rule further down than this closes no head.
BROKEN_LIMIT = 64 * 1024  # What is larger and no YAML is not taken apart: that is not frontmatter.


class _Type(Enum):
    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    LIST = "list"


# Every key with a meaning, in the order in which a new file carries them.
KNOWN_KEYS: Mapping[str, _Type] = {
    "stable_id": _Type.TEXT,
    "title": _Type.TEXT,
    "type": _Type.TEXT,
    "permalink": _Type.TEXT,
    "slug": _Type.TEXT,
    "kind": _Type.TEXT,
    "note_type": _Type.TEXT,
    "summary": _Type.TEXT,
    "tags": _Type.LIST,
    "status": _Type.TEXT,
    "important": _Type.FLAG,
    "thread": _Type.TEXT,
    "scope": _Type.TEXT,
    "project_id": _Type.TEXT,
    "workspace_type": _Type.TEXT,
    "usage_profile_id": _Type.TEXT,
    "preference_context": _Type.TEXT,
    "document_type": _Type.TEXT,
    "revision": _Type.NUMBER,
    "source_memory_ids": _Type.LIST,
    "source_checkpoint_ids": _Type.LIST,
    "source_file_ids": _Type.LIST,
    "source_git_commit": _Type.TEXT,
    "model_connection": _Type.TEXT,
    "model_name": _Type.TEXT,
    "prompt_version": _Type.TEXT,
    "curation_job_id": _Type.TEXT,
    "created_at": _Type.TEXT,
    "updated_at": _Type.TEXT,
}
_PLACE = {key: place for place, key in enumerate(KNOWN_KEYS)}


class NotUtf8(MemRelayError):
    code = "NOT_UTF8"
    status = 422
    sentence = _("The document is not UTF-8 text (byte {position}).")
    hint = _("Save the file as UTF-8 and try again.")


class Unwritable(MemRelayError):
    code = "FRONTMATTER_VALUE"
    status = 422
    sentence = _("The value of {key} cannot be written into a Markdown file.")
    hint = _("Leave out NUL characters and halves of surrogate pairs.")


class HeadTooLarge(MemRelayError):
    code = "FRONTMATTER_TOO_LARGE"
    status = 422
    sentence = _("The metadata of one document may not exceed {limit} bytes.")
    hint = _("Put long text into the body.")


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


@dataclass(frozen=True, slots=True)
class Parts:
    """A document taken apart; joined in this order, the pieces are the document."""

    bom: bool
    opening: bytes
    head_lines: tuple[bytes, ...] | None  # None: there is no frontmatter, all of it is body.
    closing: bytes
    body: bytes
    newline: bytes  # What ends new lines.

    def joined(self) -> bytes:
        return b"".join([BOM if self.bom else b"", self.opening, *(self.head_lines or ()), self.closing, self.body])


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
    return _open(document)[0]


def read(document: bytes) -> Metadata:
    """What the frontmatter says; what it fails to say is told in ``problems``."""
    return parse(document)[1]


def parse(document: bytes) -> tuple[Parts, Metadata]:
    """``split`` and ``read`` at the price of one."""
    parts, head = _open(document)
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
        if entry.style is _Style.BROKEN:
            continue  # The head has reported it.
        if kind is None:
            metadata.other.pop(key, None)
            if isinstance(entry.value, str) and entry.style is not _Style.DEEP and not entry.is_null:
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


def write(document: bytes, changes: Mapping[str, Value | None]) -> bytes:
    """Set these keys (``None`` removes one) and leave every other byte alone.

    A value that reads the same already keeps its line. Keys that are new come after all others, in the canonical order.
    """
    parts, head = _open(document)
    if head is None:
        head = _Head([], [], [])
    edits: list[tuple[int, int, list[str]]] = []
    added: dict[str, Value] = {}
    standing: dict[str, list[_Entry]] = {}
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
            edits.append((found[-1].start, found[-1].end, _render(key, value, head.indent, found[-1].comment)))
    if added:
        order = sorted(added, key=lambda key: _PLACE.get(key, len(_PLACE)))
        edits.append((head.end, head.end, [line for key in order for line in _render(key, added[key], head.indent)]))
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
    _check_utf8(body)
    newline = _newline_of(body)
    lines: list[str] = []
    for key in sorted(metadata, key=lambda key: _PLACE.get(key, len(_PLACE))):
        if (value := metadata[key]) is not None:
            lines += _render(key, value, "")
    fence = b"---" + newline
    ending = newline.decode()
    return fence + _head_bytes([line + ending for line in lines]) + fence + body


def _head_bytes(lines: list[str]) -> bytes:
    head = "".join(lines).encode()
    if len(head) > HEAD_LIMIT:
        raise HeadTooLarge(limit=HEAD_LIMIT)
    return head


# The head and its entries.


class _Style(Enum):
    PLAIN = "plain"  # Bare text, which YAML may take for a number or nothing at all.
    QUOTED = "quoted"
    LIST = "list"
    DEEP = "deep"  # A mapping, or a list of more than texts.
    BROKEN = "broken"


_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_TRUE, _FALSE = frozenset(["true", "yes", "on"]), frozenset(["false", "no", "off"])


@dataclass(slots=True)
class _Entry:
    key: str
    start: int  # Its lines: head.lines[start:end].
    end: int
    style: _Style
    value: str | list[str | None]
    comment: str = ""  # Stays behind a value that is replaced.

    @property
    def is_null(self) -> bool:
        return self.style is _Style.PLAIN and self.value in _NULLS

    def read_as(self, kind: _Type) -> Value | None:
        """The value as this type; ``None`` if there is none or it does not fit."""
        value, style = self.value, self.style
        if isinstance(value, list):
            return [item for item in value if item is not None] if kind is _Type.LIST else None
        if style is not _Style.QUOTED and (style is not _Style.PLAIN or value in _NULLS):
            return None
        match kind:
            case _Type.TEXT:
                return value
            case _Type.NUMBER:
                return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
            case _Type.FLAG:
                return True if value.lower() in _TRUE else False if value.lower() in _FALSE else None
            case _Type.LIST:
                # Obsidian lets people write ``tags: one, two``.
                return [item for part in value.split(",") if (item := part.strip())]


@dataclass(slots=True)
class _Head:
    lines: list[str]  # With their endings.
    entries: list[_Entry]
    problems: list[Problem] = field(default_factory=list)
    indent: str = ""  # Of the keys: some people indent the whole block.
    end: int = -1  # Where new lines go.

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.lines)

    def problem(self, entry: _Entry, kind: ProblemKind) -> Problem:
        text = "".join(self.lines[entry.start : entry.end]).strip()
        return Problem(entry.start + 2, entry.key, kind, text)


_OPENING = re.compile(rb"(\xef\xbb\xbf)?(---[ \t]*\r?\n)")
_CLOSING = re.compile(rb"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def _open(document: bytes) -> tuple[Parts, _Head | None]:
    _check_utf8(document)
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
    return Parts(bom, b"", None, b"", body, _newline_of(body)), None


def _check_utf8(document: bytes) -> None:
    try:
        document.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8(position=error.start) from error


def _newline_of(body: bytes) -> bytes:
    end = body.find(b"\n")
    return b"\r\n" if end > 0 and body[end - 1 : end] == b"\r" else b"\n"


# Characters that YAML refuses, takes for a line end or treats in a way of its own; a CR only as part of CRLF.
_ODD = re.compile(r"\r(?!\n)|[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_YAML_LINE = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029])|[^\r\n\x85\u2028\u2029]+\Z")


def _read_head(text: str, newline: str) -> _Head | None:
    """The head, or ``None`` if this is no block of keys."""
    if not _ODD.search(text):
        lines = text.splitlines(keepends=True) if text.isascii() else _LF_LINE.findall(text)
        entries = _read_plain(lines)
        if entries or not text.strip():
            return _Head(lines, entries or [])
    try:
        return _read_yaml(text, newline)
    except (yaml.YAMLError, RecursionError, ValueError):
        return _read_broken(text) if len(text) <= BROKEN_LIMIT else None


# First way: by hand, for the forms that need no YAML.

_LF_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
# Nine lines in ten: one match tells all.
_USUAL_LINE = re.compile(r'([A-Za-z_][A-Za-z0-9_-]*): (?:"([^"\\\n]*)"|([A-Za-z0-9_/(.$+~][^:#\r\n]*))\r?\n')
_PLAIN_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?: +(.*))?")
_ITEM = re.compile(r"( *)- +(.*)")
_FLOW_LIST = re.compile(r"\[ *(?:[\w/][\w /.@+-]*(?:, *[\w/][\w /.@+-]*)*)?\]")
_WITHOUT_ESCAPES = re.compile(r'"[^"\\]*"')
_SINGLE_QUOTED = re.compile(r"'(?:[^']|'')*'")


def _read_plain(lines: list[str]) -> list[_Entry] | None:
    """All entries, or ``None`` as soon as a line needs a real parser."""
    entries: list[_Entry] = []
    items: list[str | None] | None = None  # Of the list being read.
    depth = ""
    for number, line in enumerate(lines):
        if usual := _USUAL_LINE.fullmatch(line):
            items = None
            style, value = (_Style.PLAIN, usual[3].rstrip(" ")) if usual[2] is None else (_Style.QUOTED, usual[2])
            entries.append(_Entry(usual[1], number, number + 1, style, value))
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
                entry.style, entry.value = _Style.LIST, items
            elif item[1] != depth:
                return None
            entry.end = number + 1
            items.append(None if scalar[0] is _Style.PLAIN and scalar[1] in _NULLS else scalar[1])
            continue
        match = _PLAIN_KEY.fullmatch(text)
        if match is None:
            return None
        items = None
        value = match[2]
        if not value:
            entries.append(_Entry(match[1], number, number + 1, _Style.PLAIN, ""))
        elif value[0] == "[":
            if not _FLOW_LIST.fullmatch(value):
                return None
            parts = [part.strip(" ") for part in value[1:-1].split(",")]
            listed = [None if part in _NULLS else part for part in parts] if parts != [""] else []
            entries.append(_Entry(match[1], number, number + 1, _Style.LIST, listed))
        elif scalar := _simple(value):
            entries.append(_Entry(match[1], number, number + 1, *scalar))
        else:
            return None
    return entries


def _simple(text: str) -> tuple[_Style, str] | None:
    """A scalar that stands on one line and means what it looks like."""
    first = text[0]
    if first == '"':
        if _WITHOUT_ESCAPES.fullmatch(text):
            return _Style.QUOTED, text[1:-1]
        return _json_string(text)
    if first == "'":
        return (_Style.QUOTED, text[1:-1].replace("''", "'")) if _SINGLE_QUOTED.fullmatch(text) else None
    if _starts_plain(first) and ": " not in text and " #" not in text and text[-1] != ":":
        return _Style.PLAIN, text
    return None


def _json_string(text: str) -> tuple[_Style, str] | None:
    # The escapes of JSON are YAML's too, but for pairs of surrogates.
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, str) or "\\ud" in text.lower():
        return None
    return _Style.QUOTED, value


def _starts_plain(first: str) -> bool:
    return first > "\x7f" or first.isalnum() or first in "_/(.$+~"


# Second way: PyYAML says where each key and value stands. Nothing is constructed: no dates, no octal numbers.

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_EXPLICIT_KEY = re.compile(r"^[ \t]*\?(?:[ \t\r\n]|$)", re.MULTILINE)


def _read_yaml(text: str, newline: str) -> _Head | None:
    """The head as PyYAML sees it; ``None`` if it is no mapping. Raises what PyYAML raises."""
    if text.lstrip().startswith("{") and (pairs := _json_pairs(text)):
        return _rewritten(pairs, newline)
    root = yaml.compose(text, Loader=_Loader)
    if not isinstance(root, yaml.MappingNode):
        return None
    if not root.value:
        return _Head([], [])
    if root.flow_style or _EXPLICIT_KEY.search(text):
        return _rewritten([(_inline(key) or "~", _inline(value)) for key, value in root.value], newline)
    lines = _YAML_LINE.findall(text)
    starts = [key.start_mark.line for key, _ in root.value]
    end = next((number for number, line in enumerate(lines) if line.rstrip() == "..."), len(lines))
    indent = " " * root.value[0][0].start_mark.column
    head = _Head(lines, [], indent=indent, end=end)
    for (key, value), start, following in zip(root.value, starts, [*starts[1:], end], strict=True):
        head.entries.append(_entry_of(head, key, value, start, following))
    return head


def _entry_of(head: _Head, key: yaml.Node, value: yaml.Node, start: int, following: int) -> _Entry:
    name = key.value if isinstance(key, yaml.ScalarNode) else ""
    style, content = _content_of(value)
    first, last = value.start_mark.line, value.end_mark.line
    tail = ""
    if (first, value.start_mark.column) < (start, key.end_mark.column):
        end = start + 1  # An alias: its node stands elsewhere.
    elif isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
        end = _without_gap(head, start, following, indented=True)
        tail = head.lines[first][value.start_mark.column :].lstrip("|>+-0123456789")
    elif isinstance(value, yaml.CollectionNode) and not value.flow_style:
        end = _without_gap(head, start, following, indented=False)
        tail = head.lines[start][key.end_mark.column :].lstrip().removeprefix(":")
    else:
        end = last + 1
        tail = head.lines[last][value.end_mark.column :] if last < len(head.lines) else ""
    return _Entry(name, start, end, style, content, _comment_in(tail))


def _content_of(node: yaml.Node) -> tuple[_Style, str | list[str | None]]:
    if isinstance(node, yaml.ScalarNode):
        plain = node.style in (None, "")
        # ``!!str null`` is bare, and yet text.
        if plain and node.value in _NULLS and not node.tag.endswith(":null"):
            plain = False
        return (_Style.PLAIN if plain else _Style.QUOTED), node.value
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in node.value):
        return _Style.LIST, [None if item.tag.endswith(":null") else item.value for item in node.value]
    return _Style.DEEP, ""


def _without_gap(head: _Head, start: int, following: int, *, indented: bool) -> int:
    """Where an entry ends: empty lines and comments before the next key belong to nobody.

    ``indented`` keeps lines that look like indented comments: in a block of text they are text.
    """
    end = following
    while end > start + 1:
        line = head.lines[end - 1]
        inside = indented and line.startswith((head.indent + " ", "\t"))
        if line.strip() and (inside or not line.lstrip().startswith("#")):
            break
        end -= 1
    return end


def _comment_in(tail: str) -> str:
    tail = tail.rstrip()
    return tail if tail[:1] in (" ", "\t") and tail.lstrip().startswith("#") else ""


def _json_pairs(text: str) -> list[tuple[str, str]] | None:
    try:
        mapping = json.loads(text)
    except ValueError:
        return None
    return [(_scalar(key), _json_line(value)) for key, value in mapping.items()]


def _json_line(value: Any) -> str:
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def _inline(node: yaml.Node) -> str:
    """A node as one line of YAML."""
    _flatten(node, set())
    line: str = yaml.serialize(node, Dumper=_Dumper, width=1 << 30, allow_unicode=True)
    return line.strip().removesuffix("...").strip()


def _flatten(node: Any, seen: set[int]) -> None:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("|", ">") or "\n" in node.value:
            node.style = '"'
        return
    node.flow_style = True
    for item in node.value:
        for part in item if isinstance(item, tuple) else (item,):
            _flatten(part, seen)


def _rewritten(pairs: Iterable[tuple[str, str]], newline: str) -> _Head | None:
    text = "".join(f"{key}: {value}{newline}" for key, value in pairs)
    return _read_head(text, newline)


# Third way: key by key, for a head that YAML cannot read as a whole.


def _read_broken(text: str) -> _Head | None:
    lines = _YAML_LINE.findall(text)
    head = _Head(lines, [])
    starts = [(number, key) for number, line in enumerate(lines) if (key := _key_in(line))]
    if not starts or any(line.strip() and line[0] != "#" for line in lines[: starts[0][0]]):
        return None
    strays = 0
    for (start, key), (following, _next) in zip(starts, [*starts[1:], (len(lines), "")], strict=True):
        entry, loose = _broken_entry(head, key, start, _without_gap(head, start, following, indented=True))
        head.entries.append(entry)
        if entry.style is _Style.BROKEN:
            head.problems.append(head.problem(entry, ProblemKind.UNREADABLE))
        for number in loose:
            head.problems.append(Problem(number + 2, "", ProblemKind.UNREADABLE, lines[number].strip()))
        strays += len(loose)
    # Prose between two rules may hold a line with a colon as well; a block of keys is mostly keys.
    return head if strays < len(starts) else None


def _key_in(line: str) -> str:
    """The key a line starts with, if it starts with one."""
    text = line.rstrip()
    if not text or text[0] in " \t#-?:,[]{}&*!|>%@`":
        return ""
    end = text.find(": ")
    if end < 0:
        end = len(text) - 1 if text[-1] == ":" else text.find(":\t")
    key = text[: max(end, 0)].rstrip()
    if len(key) > 1 and key[0] in "\"'" and key[-1] == key[0]:
        key = key[1:-1]
    return "" if len(key) > 200 or " #" in key or '"' in key else key


def _broken_entry(head: _Head, key: str, start: int, end: int) -> tuple[_Entry, list[int]]:
    """One entry and the numbers of lines behind it that belong to no key."""
    content = _content_alone(head.lines[start:end])
    if content is not None:
        return _Entry(key, start, end, *content), []
    behind = (number for number in range(start + 1, end) if head.lines[number].strip())
    loose_from = next((number for number in behind if head.lines[number][0] not in " \t-#"), end)
    if loose_from < end:
        content = _content_alone(head.lines[start:loose_from])
    loose = [number for number in range(loose_from, end) if head.lines[number].strip()]
    if content is not None:
        return _Entry(key, start, loose_from, *content), loose
    return _Entry(key, start, loose_from, _Style.BROKEN, ""), loose


def _content_alone(lines: list[str]) -> tuple[_Style, str | list[str | None]] | None:
    try:
        root = yaml.compose("".join(lines), Loader=_Loader)
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return None
    return _content_of(root.value[0][1])


# Writing values.

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(r'["\\]|' + _UNPRINTABLE.pattern)
_NOT_PLAIN = re.compile(r": | #|[:\s]\Z|\A\s|" + _UNPRINTABLE.pattern)
_REFUSED = re.compile(r"[\x00\ud800-\udfff]")
# YAML 1.2 and hand-made parsers take these for numbers and booleans, PyYAML has its own list.
_TAKEN_ELSEWHERE = re.compile(r"[-+]?[0-9][0-9_.]*(?:[eE][-+]?[0-9]+)?|0[oO][0-7]+|[yYnN]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _type_of(value: Value) -> _Type:
    match value:
        case bool():
            return _Type.FLAG
        case int():
            return _Type.NUMBER
        case str():
            return _Type.TEXT
        case _:
            return _Type.LIST


def _says(entry: _Entry, value: Value) -> bool:
    """Whether an entry reads as this value already, so that its line may stay as its author wrote it."""
    if isinstance(value, str | int):
        return entry.read_as(_type_of(value)) == value
    listed = isinstance(entry.value, list) or KNOWN_KEYS.get(entry.key) is _Type.LIST
    return listed and entry.read_as(_Type.LIST) == list(value)


def _render(key: str, value: Value, indent: str, comment: str = "") -> list[str]:
    """The lines of one entry, without their endings."""
    if not _KEY.fullmatch(key):
        raise Unwritable(key=key)
    try:
        match value:
            case bool():
                return [f"{indent}{key}: {'true' if value else 'false'}{comment}"]
            case int():
                return [f"{indent}{key}: {value}{comment}"]
            case str():
                return [f"{indent}{key}: {_scalar(value)}{comment}"]
            case _ if not value:
                return [f"{indent}{key}: []{comment}"]
            case _:
                return [f"{indent}{key}:{comment}", *(f"{indent}  - {_scalar(item)}" for item in value)]
    except UnicodeError as error:
        raise Unwritable(key=key) from error


def _scalar(text: str) -> str:
    """Text as YAML reads it back: bare where that is certain, otherwise in double quotes on one line."""
    if _REFUSED.search(text):
        raise UnicodeError
    if text and _starts_plain(text[0]) and not _NOT_PLAIN.search(text) and not _means_something(text):
        return text
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _means_something(text: str) -> bool:
    if _TAKEN_ELSEWHERE.fullmatch(text):
        return True
    return any(pattern.match(text) for _, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], ()))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04x}"

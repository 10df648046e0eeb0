"""One foreign Markdown file understood: what it is called, what it is tagged with, which names lead to it.

Obsidian, Basic Memory, a folder that ``memory_export`` wrote and plain Markdown all come in here. Nothing in the text is
changed; what is read here goes into the rows and into the keys that the ledger owns.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from django.conf import settings

from apps.base import clock
from apps.base.text import UNTITLED, clean_line, nfc, same_slug_key, slug_for
from apps.memories import documents, frontmatter
from apps.memories.documents import Facts
from apps.memories.edits import prose_lines
from apps.memories.frontmatter import Metadata, ProblemKind
from apps.memories.ledger.names import ARCHIVE
from apps.memories.models import Resource, Status
from apps.memories.store import digest
from apps.memories.transfer.places import place_for
from apps.secrets.detection import describe, find_secrets
from apps.secrets.rules import Confidence

TAG_CHARACTERS = 100
NAMES = 20
NAME_CHARACTERS = 120

_OWN_ID = re.compile(r"(?:mem|chk|doc)_[0-9a-hjkmnp-tv-z]{26}")
_FIRST_HEADING = re.compile(r"\s*#[ \t]+(\S[^\r\n]*)")
_TAG = re.compile(r"(?<![^\s(,;])#([\w/-]+)")
_CODE = re.compile(r"`[^`\r\n]*`")


class Unfit(Exception):
    """A file that cannot come in, with the code of the reason and what is to be told of it."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


@dataclass(frozen=True, slots=True)
class Note:
    path: str  # In its folder, NFC.
    raw_hash: str
    document: bytes
    facts: Facts
    names: tuple[str, ...]  # Further slug keys that links use for it.
    place: str | None  # In the scope; None: where new memories go.
    problems: str = ""  # Lines of its frontmatter that could not be read.
    stable_id: str = ""  # Of a document that MemRelay once wrote.
    slug: str = ""
    resource: Resource = Resource.MEMORY
    status: Status = Status.ACTIVE


def read_note(path: str, document: bytes, modified: float) -> Note:
    """Understand one file. Raises ``Unfit`` where it must stay outside."""
    text = _text_of(document)
    certain = [one for one in find_secrets(text) if one.confidence is Confidence.HIGH]
    if certain:
        raise Unfit("secret", ", ".join(f"line {one['line']}: {one['rule']}" for one in describe(certain)[:5]))
    path = nfc(path)
    stem = PurePosixPath(path).stem
    metadata = frontmatter.read(document)
    facts = documents.read_facts(document, fallback_title=stem)
    facts = replace(
        facts,
        title=_title(metadata, facts.body, stem),
        tags=_with_inline_tags(facts.tags, facts.body),
        created_at=clock.to_milliseconds(facts.created_at or moment_of(modified)),
    )
    note = Note(
        path=path,
        raw_hash=digest(document),
        document=document,
        facts=facts,
        names=other_names(metadata, stem),
        place=place_for(path),
        problems=", ".join(facts.problems[:5]),
    )
    return _of_ours(note, metadata) if _OWN_ID.fullmatch(facts.stable_id) else note


def other_names(metadata: Metadata, stem: str) -> tuple[str, ...]:
    """The slug keys by which links may call a note besides its slug: file name, Obsidian's aliases, a foreign permalink."""
    names: list[str] = [stem]
    for key in ("aliases", "alias"):
        told = metadata.other.get(key, [])
        names += told.split(",") if isinstance(told, str) else told
    names.append(metadata.text("permalink").rpartition("/")[2])
    return tuple(dict.fromkeys(_keys_of(names)))[:NAMES]


def _keys_of(names: Iterable[str]) -> Iterable[str]:
    for name in map(clean_line, names):
        if name:
            yield from (key for key in (same_slug_key(name), slug_for(name)) if len(key) <= NAME_CHARACTERS)


def _text_of(document: bytes) -> str:
    try:
        text = document.decode()
    except UnicodeDecodeError as error:
        raise Unfit("not_utf8", str(error.start)) from error
    if "\0" in text:
        raise Unfit("not_text")
    return text


def _title(metadata: Metadata, body: str, stem: str) -> str:
    """The frontmatter's title, else the heading the text begins with, else the file's name.

    Headings further down name parts of a note, as in Obsidian, where the file name is the title.
    """
    title = clean_line(metadata.text("title")) or _broken_title(metadata)
    if not title and (heading := _FIRST_HEADING.match(body)):
        title = clean_line(heading[1].rstrip("# \t"))
    return (title or clean_line(stem) or UNTITLED)[: settings.TITLE_CHARACTERS]


def _broken_title(metadata: Metadata) -> str:
    """The words of a title that YAML cannot read, such as one with quotes inside its quotes."""
    for problem in metadata.problems:
        if problem.key == "title" and problem.kind is ProblemKind.UNREADABLE:
            first_line = problem.text.partition("\n")[0].partition(":")[2].strip()
            quoted = len(first_line) > 1 and first_line[0] == first_line[-1] and first_line[0] in "\"'"
            return clean_line(first_line[1:-1] if quoted else first_line)
    return ""


def _with_inline_tags(tags: Sequence[str], body: str) -> tuple[str, ...]:
    """Tags of the frontmatter, then the ``#tags`` of the text; what stands in code is none, nor is a mere number."""
    found = list(tags)
    if "#" in body and _TAG.search(body):
        for _start, line in prose_lines(body):
            if "#" in line:
                words = (word.rstrip("/-") for word in _TAG.findall(_CODE.sub("", line)))
                found += [word for word in words if word.strip("0123456789/_-") and len(word) <= TAG_CHARACTERS]
    return documents.clean_tags(found)[: max(settings.TAGS, len(tags))]


def _of_ours(note: Note, metadata: Metadata) -> Note:
    """A document that a MemRelay wrote keeps its id, its slug and what it was."""
    top = note.path.partition("/")[0]
    if metadata.text("type") == "checkpoint":
        return replace(
            note, stable_id=note.facts.stable_id, slug=metadata.text("slug"), resource=Resource.CHECKPOINT, place=None
        )
    is_archived = top == ARCHIVE or metadata.text("status") == Status.ARCHIVED
    return replace(
        note,
        stable_id=note.facts.stable_id,
        slug=metadata.text("slug"),
        status=Status.ARCHIVED if is_archived else Status.ACTIVE,
        place=None if is_archived else note.place,
    )


def moment_of(seconds: float) -> datetime:
    """When a file was last written."""
    try:
        return clock.to_milliseconds(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)

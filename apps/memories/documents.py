"""A memory's Markdown document: composed, stamped with its identity, and read back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b

from apps.base import clock
from apps.base.text import clean_line, lf, nfc
from apps.memories import frontmatter
from apps.memories.frontmatter import Value
from apps.memories.models import Kind, Memory, NoteType, Resource
from apps.memories.scopes import folder_name, scope_key_of_folder
from apps.memories.store import digest
from apps.secrets.detection import find_secrets

TYPES = {Resource.MEMORY: "note", Resource.CHECKPOINT: "checkpoint", Resource.CURATED: "curated"}
IDENTITY_KEYS = ("stable_id", "permalink", "type")  # Without one of these, basic-memory would rewrite the file (L-06).
IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,40}")
THREAD_CHARACTERS = 200  # What a conversation or thread is called in the program it comes from.
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a document says of itself, in the forms the rows keep."""

    title: str
    body: str
    kind: str = Kind.NOTE.value
    note_type: str = ""
    summary: str = ""
    tags: Sequence[str] = ()
    stable_id: str = ""
    important: bool = False
    thread: str = ""
    created_at: datetime | None = None
    has_identity: bool = False
    problems: Sequence[str] = ()

    def dated(self, created_at: datetime) -> "Facts":
        return replace(self, created_at=created_at)


def identity(memory: Memory, number: int) -> dict[str, Value | None]:
    """The keys the ledger owns: what every document it writes carries, in their current values."""
    return {
        "stable_id": memory.stable_id,
        "title": memory.title,
        "type": TYPES[Resource(memory.resource)],
        "permalink": f"{folder_name(memory.scope_id)}/{memory.slug}",
        "slug": memory.slug,
        "kind": memory.kind,
        "note_type": memory.note_type or None,
        "summary": memory.summary or None,
        "tags": list(memory.tags) or None,
        "status": memory.status,
        "project_id": memory.project_id,
        "usage_profile_id": memory.profile_id,
        "revision": number,
        "created_at": clock.as_stamp(memory.created_at),
        "updated_at": clock.as_stamp(memory.updated_at),
    }


def composed(memory: Memory, body: bytes, extra: Mapping[str, Value | None]) -> bytes:
    """A new document of our own."""
    keys = identity(memory, memory.revision)
    keys.update((key, value) for key, value in extra.items() if key not in keys)
    return frontmatter.compose(keys, body)


def stamped(document: bytes, memory: Memory, number: int) -> bytes:
    """An existing document with the ledger's keys brought up to date; every other byte stays.

    A ``type`` of the author's own stays, and so does a ``permalink`` that another program gave this very document. A line that
    cannot be read holds its author's words: only a value of ours takes its place, never nothing.
    """
    keys, own = identity(memory, number), frontmatter.read(document)
    for problem in own.problems:
        if keys.get(problem.key, "") is None:
            del keys[problem.key]
    if own.text("type"):
        del keys["type"]
    if _is_anothers(own.text("permalink")) and own.text("stable_id") in ("", memory.stable_id):
        del keys[
            "permalink"
        ]  # In a copy, which tells of another id, it would stand twice: basic-memory rewrites such files.
    return frontmatter.write(document, keys)


def _is_anothers(permalink: str) -> bool:
    """Whether somebody else gave it. Ours follow scope and slug; one of before may be another memory's today."""
    return bool(permalink) and scope_key_of_folder(permalink.rpartition("/")[0]) is None


def with_body(document: bytes, body: bytes) -> bytes:
    """The same head over another body."""
    return frontmatter.with_body(document, body)


def body_of(document: bytes) -> bytes:
    return frontmatter.split(document).body


def body_start(document: bytes) -> int:
    """Where the body begins; 0 for bytes that are no UTF-8, which are all body."""
    try:
        return len(document) - len(body_of(document))
    except frontmatter.NotUtf8:
        return 0


def body_start_of(document: bytes, body: str) -> int:
    """The same where the body is known already, without taking the document apart."""
    known = body.encode()
    return len(document) - len(known) if document.endswith(known) else body_start(document)


def body_text(document: bytes) -> str:
    """The body as text; bytes that are no UTF-8 (an outside edit) show as replacement characters."""
    try:
        return body_of(document).decode()
    except (frontmatter.NotUtf8, UnicodeDecodeError):
        return document.decode("utf-8", "replace")


def content_digest(document: bytes) -> str:
    """The hash of the text whatever its line ends (L-03)."""
    return digest(lf(document))


def text_key(body: str) -> int:
    """The same number for texts that differ in nothing but spaces, case and Unicode form; 0 for none."""
    words = nfc(body).casefold().split()
    if not words:
        return 0
    return int.from_bytes(blake2b(" ".join(words).encode(), digest_size=8).digest(), "big") >> 1 or 1


def read_facts(document: bytes, *, fallback_title: str) -> Facts:
    """What a document says; a missing title is its first heading, else ``fallback_title``. Never fails."""
    try:
        parts, metadata = frontmatter.parse(document)
    except frontmatter.NotUtf8:
        return Facts(title=fallback_title, body=document.decode("utf-8", "replace"), problems=("not_utf8",))
    body = parts.body.decode()
    stable_id = _identifier(metadata.text("stable_id"))
    return Facts(
        title=clean_line(metadata.text("title")) or _heading(body) or fallback_title,
        body=body,
        kind=_one_of(Kind.values, metadata.text("kind"), Kind.NOTE.value),
        note_type=_one_of(NoteType.values, metadata.text("note_type"), ""),
        summary=metadata.text("summary"),
        tags=clean_tags(metadata.texts("tags")),
        stable_id=stable_id,
        important=metadata.flag("important"),
        thread=clean_line(metadata.text("thread"))[:THREAD_CHARACTERS],
        created_at=_moment(metadata.text("created_at") or str(metadata.other.get("created", ""))),
        has_identity=bool(stable_id) and all(metadata.text(key) for key in IDENTITY_KEYS),
        problems=tuple(f"line {problem.line}: {problem.kind.value}" for problem in metadata.problems),
    )


def thread_of(document: bytes) -> str:
    """The conversation that a document says it belongs to; few do, and the others cost nothing."""
    return read_facts(document, fallback_title="").thread if b"thread" in document else ""


def is_clean(document: bytes) -> bool:
    """Whether the text holds no secret that would keep it from model, index and Git (D-14)."""
    return not find_secrets(document.decode("utf-8", "replace"))


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags without a leading ``#``, empty ones and repeats, in their order."""
    cleaned = (clean_line(tag.removeprefix("#")) for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _heading(body: str) -> str:
    found = HEADING.search(body[:4000])
    return clean_line(found[1])[:200] if found else ""


def _identifier(text: str) -> str:
    """An id that may name a file. What a foreign file calls its id can be anything, a path out of the scope too."""
    return text if IDENTIFIER.fullmatch(text) else ""


def _one_of(values: Sequence[str], value: str, otherwise: str) -> str:
    return value if value in values else otherwise


def _moment(stamp: str) -> datetime | None:
    try:
        return clock.from_stamp(stamp) if stamp else None
    except (ValueError, OverflowError):
        return None

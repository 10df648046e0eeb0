"""The current text of a memory: the file is the authority, and nobody waits for it (L-05)."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import connection

from apps.base.days import local
from apps.base.rows import fetched
from apps.leases.errors import ScopeBusy
from apps.memories import documents
from apps.memories.errors import FileUnsettled
from apps.memories.ledger.outside import Look, State, adopt, look
from apps.memories.models import Memory
from apps.memories.schemas import MemoryItem, MemoryOut
from apps.operations.caller import Caller

FILE_MISSING, FILE_TOO_LARGE, FILE_UNREADABLE = "file_missing", "file_too_large", "file_unreadable"
SECRET_WITHHELD = "secret_withheld"  # noqa: S105 - a warning, no secret
_TOLD = {
    State.MISSING: FILE_MISSING,
    State.TOO_LARGE: FILE_TOO_LARGE,
    State.UNREADABLE: FILE_UNREADABLE,
}


@dataclass(frozen=True, slots=True)
class Current:
    memory: Memory
    document: bytes
    unsettled: bool
    warnings: list[str]


def current(memory: Memory) -> Current:
    """The newest text, an outside edit included that has settled: it is adopted first, acting as the system."""
    seen = look(memory)
    if seen.state is State.FOREIGN:
        try:
            memory = adopt(memory)
            seen = Look(State.SAME)
        except (FileUnsettled, ScopeBusy):
            seen = Look(
                State.UNSETTLED
            )  # A restore has the scope, or somebody writes again and again: reading goes on.
    warnings = [SECRET_WITHHELD] if memory.withheld else []
    if told := _TOLD.get(seen.state):
        warnings.append(told)
    document = seen.document if seen.state is State.SAME and seen.document else newest_document(memory)
    return Current(memory, document, seen.state is State.UNSETTLED, warnings)


_NEWEST = "SELECT document FROM memories_memoryrevision WHERE memory_id = %s AND number = %s"


def newest_document(memory: Memory) -> bytes:
    """The bytes of the newest revision."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, [memory.pk, memory.revision])
        return bytes(cursor.fetchone()[0])


def newest_bodies(memories: Sequence[Memory]) -> dict[int, str]:
    """The newest bodies by row key, without their heads."""
    wanted = " UNION ALL ".join(["SELECT %s AS memory, %s AS number"] * len(memories))
    values = [value for memory in memories for value in (memory.pk, memory.revision)]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.memory_id, substr(r.document, r.body_at + 1) FROM ("  # noqa: S608 - marks only
            + wanted
            + ") w JOIN memories_memoryrevision r ON r.memory_id = w.memory AND r.number = w.number",
            values,
        )
        return {key: bytes(body).decode("utf-8", "replace") for key, body in cursor.fetchall()}


class Text(NamedTuple):
    """What a memory says, and what is told beside it: a row and its newest revision at one moment."""

    stable_id: str
    title: str
    resource: str
    kind: str
    status: str
    scope_key: str
    path: str
    revision: int
    updated_at: datetime
    tags: list[str]
    body: str


# The ids as one value: SQLite prepares one statement, however many they are.
_TEXTS = """
    SELECT m.stable_id, m.title, m.resource, m.kind, m.status, m.scope_id, m.path, m.revision, m.updated_at, m.tags,
        substr(r.document, r.body_at + 1)
    FROM json_each(%s) AS k CROSS JOIN memories_memory m ON m.stable_id = k.value
    JOIN memories_memoryrevision r ON r.memory_id = m.id AND r.number = m.revision
"""


def newest_texts(stable_ids: Sequence[str], scope_keys: Collection[str]) -> dict[str, Text]:
    """By id the newest texts of those memories that lie in these scopes; cheaper than rows, for what every search shows."""
    found = fetched(_TEXTS, [json.dumps(list(stable_ids))])
    return {row[0]: _text(row) for row in found if row[5] in scope_keys}


def _text(row: tuple[Any, ...]) -> Text:
    told, (updated_at, tags, body) = row[:8], row[8:]  # SQLite stores times without a zone, in UTC.
    return Text._make((*told, updated_at.replace(tzinfo=UTC), json.loads(tags), body.decode("utf-8", "replace")))


def item_of(memory: Memory, caller: Caller) -> MemoryItem:
    return MemoryItem.model_construct(**_item(memory, caller))


def shown(read: Current, caller: Caller) -> MemoryOut:
    return MemoryOut.model_construct(
        **_item(read.memory, caller),
        body=documents.body_text(read.document),
        thread=documents.thread_of(read.document),
        unsettled=read.unsettled,
        warnings=read.warnings,
    )


def _item(memory: Memory, caller: Caller) -> dict[str, Any]:
    return {
        "memory_id": memory.stable_id,
        "title": memory.title,
        "resource": memory.resource,
        "kind": memory.kind,
        "note_type": memory.note_type,
        "summary": memory.summary,
        "tags": memory.tags,
        "status": memory.status,
        "scope": memory.scope_id,
        "project_id": memory.project_id,
        "slug": memory.slug,
        "path": memory.path,
        "revision": memory.revision,
        "created_at": local(memory.created_at, caller.zone),
        "updated_at": local(memory.updated_at, caller.zone),
    }

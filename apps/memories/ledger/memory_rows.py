"""The row of a memory: what it takes over from its newest text, and how that is stored."""

from collections.abc import Mapping

from apps.base.text import fold
from apps.memories import documents
from apps.memories.documents import Facts
from apps.memories.errors import RevisionConflict
from apps.memories.models import Memory
from apps.memories.store import Signature, digest

_UPDATED = (
    *("title", "title_key", "kind", "note_type", "summary", "tags", "text_key"),
    *("status", "deleted_at", "revision", "updated_at", "withheld", "profile_id"),
    *("raw_hash", "content_hash", "file_size", "file_mtime", "file_inode"),
    *("path", "path_key", "slug", "slug_key", "home"),
)


def columns_of(facts: Facts) -> Mapping[str, object]:
    """What a text says of itself, as columns."""
    title = facts.title[:400]
    return {
        "title": title,
        "title_key": fold(title)[:600],
        "kind": facts.kind,
        "note_type": facts.note_type,
        "summary": facts.summary,
        "tags": list(facts.tags),
        "text_key": documents.text_key(facts.body),
    }


def take_document(memory: Memory, document: bytes, signature: Signature | None) -> None:
    """The hashes of the newest bytes, and the signature of the file, where it holds them already."""
    memory.raw_hash, memory.content_hash = digest(document), documents.content_digest(document)
    memory.file_size = signature.size if signature else None
    memory.file_mtime = signature.mtime if signature else None
    memory.file_inode = signature.inode if signature else None


def update(memory: Memory, *, before: int) -> None:
    """Store the row over its revision ``before``. Raises ``RevisionConflict`` where it is at another."""
    changed = Memory.objects.filter(pk=memory.pk, revision=before).update(
        **{name: getattr(memory, name) for name in _UPDATED}, scope=memory.scope
    )
    if changed != 1:
        raise RevisionConflict(memory_id=memory.stable_id, current="?", given=before)

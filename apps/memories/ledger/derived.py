"""Everything derived from the current texts: the text index, tags, links, and the fields of checkpoints."""

from django.db import connection

from apps.base.text import fold
from apps.memories import checkpoint_text
from apps.memories.documents import Facts
from apps.memories.links import key_of, links
from apps.memories.models import Checkpoint, Memory, MemoryLink, MemoryTag, Resource, Status
from apps.search.index import IndexEntry, index_remove, index_write_many

_TAGS = "INSERT INTO memories_memorytag (memory_id, tag_key) VALUES (%s, %s)"
_LINKS = "INSERT INTO memories_memorylink (memory_id, position, target, target_key) VALUES (%s, %s, %s, %s)"


class Derived:
    """What one commit changes of it: gathered memory by memory, stored once."""

    def __init__(self) -> None:
        self._indexed: dict[str, IndexEntry | None] = {}
        self._texts: dict[int, tuple[Memory, str]] = {}

    def follow(self, memory: Memory, facts: Facts) -> None:
        """The memory has a new text: from now on what is derived comes from this one."""
        shown = memory.status != Status.DELETED and not memory.withheld
        self._indexed[memory.stable_id] = _entry(memory, facts) if shown else None
        self._texts[memory.pk] = (memory, facts.body if memory.status != Status.DELETED else "")
        if memory.resource == Resource.CHECKPOINT:
            _store_checkpoint(memory, facts)

    def store(self) -> None:
        self._store_tags_and_links()
        index_write_many([entry for entry in self._indexed.values() if entry is not None])
        if removed := [stable_id for stable_id, entry in self._indexed.items() if entry is None]:
            index_remove(removed)

    def _store_tags_and_links(self) -> None:
        is_old = [pk for pk, (memory, _body) in self._texts.items() if memory.revision > 1]
        if is_old:
            MemoryLink.objects.filter(memory_id__in=is_old).delete()
            MemoryTag.objects.filter(memory_id__in=is_old).delete()
        tags = [(memory.pk, fold(tag)[:200]) for memory, _body in self._texts.values() for tag in memory.tags]
        found = [
            (memory.pk, place, link.target[:400], key_of(link.target))
            for memory, body in self._texts.values()
            if "[[" in body
            for place, link in enumerate(links(body))
        ]
        with connection.cursor() as cursor:  # Several to a memory, so not even one object for each.
            if tags:
                cursor.executemany(_TAGS, tags)
            if found:
                cursor.executemany(_LINKS, found)


def _entry(memory: Memory, facts: Facts) -> IndexEntry:
    return IndexEntry(
        stable_id=memory.stable_id,
        resource=memory.resource,
        scope_key=memory.scope_id,
        revision=memory.revision,
        title=memory.title,
        tags=list(memory.tags),
        summary=memory.summary,
        body=facts.body,
        kind=memory.kind,
        note_type=memory.note_type,
        thread=facts.thread,
        status=memory.status,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def _store_checkpoint(memory: Memory, facts: Facts) -> None:
    parsed = checkpoint_text.parse(facts.body)
    Checkpoint.objects.update_or_create(
        memory=memory, defaults={**parsed.fields, "broken": parsed.broken, "important": facts.important}
    )

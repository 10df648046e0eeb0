"""How a foreign note enters the ledger: a new memory, or the next revision of the one it became last time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection

from apps.base.ids import new_id
from apps.base.text import fold, slug_for
from apps.memories import documents
from apps.memories.errors import PathTaken
from apps.memories.ledger import Outcome, Recording, names
from apps.memories.models import Memory, Resource, Status
from apps.memories.transfer.notes import Note
from apps.memories.transfer.places import rolled

ACTION = "import"
CHANGED_ON_BOTH_SIDES = "changed_on_both_sides"
ID_TAKEN = "id_taken"
NEAR = 20
_KEEP_NAME = """
    INSERT OR IGNORE INTO memories_alias (scope_id, slug_key, memory_id)
    SELECT %s, %s, %s WHERE NOT EXISTS (SELECT 1 FROM memories_memory WHERE scope_id = %s AND slug_key = %s)
"""


@dataclass(frozen=True, kw_only=True)
class BringIn:
    """One note. ``memory_id`` and ``revision`` say what it became last time; what was touched here since stays as it is."""

    note: Note
    memory_id: str = ""
    revision: int = 0

    def apply(self, recording: Recording) -> Outcome:
        if not self.memory_id:
            return self._create(recording)
        memory = Memory.objects.filter(stable_id=self.memory_id, scope=recording.scope).first()
        if memory is None or memory.status != Status.ACTIVE or memory.revision != self.revision:
            outcome = self._create(recording)
            outcome.warnings.append(CHANGED_ON_BOTH_SIDES)
            return outcome
        memory.scope = recording.scope
        recording.revise(memory, self.note.document, action=ACTION, facts=self.note.facts, withheld=False)
        return Outcome(memory)

    def _create(self, recording: Recording) -> Outcome:
        note = self.note
        id_taken = bool(note.stable_id) and Memory.objects.filter(stable_id=note.stable_id).exists()
        memory = self._new(recording, "" if id_taken else note.stable_id)
        memory.status = note.status
        document = documents.stamped(note.document, memory, memory.revision)
        recording.add(memory, document, note.facts, action=ACTION)
        return Outcome(memory, warnings=[ID_TAKEN] if id_taken else [])

    def _new(self, recording: Recording, stable_id: str) -> Memory:
        note = self.note
        slug = recording.names.free_slug(slug_for(note.slug)) if note.slug else None
        place = self._place(recording)
        try:
            return recording.new_memory(note.resource, note.facts, slug=slug, path=place, stable_id=stable_id)
        except PathTaken:
            place = free_place(recording, place or "")
            return recording.new_memory(note.resource, note.facts, slug=slug, path=place, stable_id=stable_id)

    def _place(self, recording: Recording) -> str | None:
        note = self.note
        if note.status is Status.ARCHIVED:
            slug = slug_for(note.slug or note.facts.title)
            return recording.names.path_in(names.ARCHIVE, slug, note.facts.created_at or recording.now)
        if note.place is None or note.resource is not Resource.MEMORY:
            return None
        folder = note.place.rpartition("/")[0]
        number = names.folder_number(recording.scope.key, folder, settings.FOLDER_FILES)
        return rolled(note.place, number)


def free_place(recording: Recording, place: str) -> str:
    """The place itself, or where another row has it, the same one with a suffix."""
    stem, number = place.removesuffix(".md"), 1
    while names.path_taken(recording.scope.key, fold(place)):
        number += 1
        place = f"{stem}-{number if number <= NEAR else new_id('x')[-6:]}.md"
    return place


def keep_names(scope_key: str, names_of: Mapping[int, Sequence[str]]) -> None:
    """Let further names lead to memories (by primary key), except those that lead somewhere already."""
    rows = [(scope_key, key, memory, scope_key, key) for memory, keys in names_of.items() for key in keys]
    with connection.cursor() as cursor:
        cursor.executemany(_KEEP_NAME, rows)

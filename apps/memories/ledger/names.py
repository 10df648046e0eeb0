"""What documents are called and where they lie: decided inside the transaction (L-12).

The questions every write asks are plain SQL: they run on each save.
"""

from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings

from apps.base.ids import new_id
from apps.base.rows import fetched
from apps.base.text import fold, same_slug_key, with_suffix
from apps.memories.errors import PathTaken, RevisionConflict
from apps.memories.models import Alias, FileIntent, Memory, Resource, Status
from apps.memories.slugs import RESERVED_SLUGS

ARCHIVE = "archive"
AREAS = {Resource.MEMORY: "memories", Resource.CHECKPOINT: "checkpoints", Resource.CURATED: "curated"}
NEAR_SLUGS = 50
# The plus signs keep SQLite from another index, in which it would walk through all active memories of the scope.
_TITLE = """
    SELECT stable_id FROM memories_memory
    WHERE scope_id = %s AND title_key = %s AND +resource = 'memory' AND +status = 'active' AND id <> %s LIMIT 1
"""
_SLUG = """
    SELECT EXISTS (SELECT 1 FROM memories_memory WHERE scope_id = %s AND slug_key = %s)
        OR EXISTS (SELECT 1 FROM memories_alias WHERE scope_id = %s AND slug_key = %s AND memory_id <> %s)
"""
_PATH = "SELECT EXISTS (SELECT 1 FROM memories_memory WHERE scope_id = %s AND path_key = %s AND id <> %s)"
_FOLDER = """
    INSERT INTO memories_folder (scope_id, base, number, files) VALUES (%s, %s, 1, 1)
    ON CONFLICT (scope_id, base) DO UPDATE SET
        number = CASE WHEN files >= %s THEN number + 1 ELSE number END,
        files = CASE WHEN files >= %s THEN 1 ELSE files + 1 END
    RETURNING number
"""


class Names:
    """The slugs and paths of one scope, as the transaction sees them."""

    def __init__(self, scope_key: str) -> None:
        self.scope_key = scope_key

    def free_slug(self, wanted: str, *, own: Memory | None = None, curated: bool = False) -> str:
        """``wanted``, or with a growing suffix where the scope has it already (deleted rows and aliases count, L-18).

        What a workspace's curated documents are called is kept for them (L-16).
        """
        is_reserved = not curated and wanted in RESERVED_SLUGS and self.scope_key.startswith("project/")
        if not is_reserved and not slug_taken(self.scope_key, same_slug_key(wanted), but=own.pk if own else 0):
            return wanted
        near = {same_slug_key(slug): slug for number in range(2, NEAR_SLUGS) if (slug := with_suffix(wanted, number))}
        taken = set(Memory.objects.filter(scope=self.scope_key, slug_key__in=near).values_list("slug_key", flat=True))
        taken |= set(Alias.objects.filter(scope=self.scope_key, slug_key__in=near).values_list("slug_key", flat=True))
        for key, slug in near.items():
            if key not in taken:
                return slug
        return with_suffix(wanted, int(new_id("x")[-6:], 36))

    def leave_alias(self, memory: Memory) -> None:
        """Let the old slug lead to a memory that leaves this scope (L-14)."""
        Alias.objects.update_or_create(scope_id=self.scope_key, slug_key=memory.slug_key, defaults={"memory": memory})

    def forget_alias(self, memory: Memory) -> None:
        """A memory that is back has its old slug itself."""
        Alias.objects.filter(scope=self.scope_key, memory=memory, slug_key=memory.slug_key).delete()

    def path_in(self, area: str, slug: str, at: datetime) -> str:
        """A place in ``<area>/<yyyy>/<mm>``; a full folder gets a numbered successor (D-26)."""
        base = f"{area}/{at:%Y/%m}"
        number = folder_number(self.scope_key, base, settings.FOLDER_FILES)
        return f"{base}{'' if number == 1 else f'-{number}'}/{slug}.md"

    def path_of_new(self, resource: Resource, slug: str, at: datetime) -> str:
        """Where a new document goes that has no place of its own."""
        if resource is Resource.CURATED:
            return self.free_path(f"curated/{slug}.md")
        path = self.path_in(AREAS[resource], slug, at)
        if path_taken(self.scope_key, fold(path)):
            path = str(PurePosixPath(path).with_name(f"{slug}-{new_id('x')[-6:]}.md"))
        return path

    def free_path(self, path: str, *, but: Memory | None = None) -> str:
        """The path itself. Raises ``PathTaken`` where another row has it, deleted ones included."""
        if path_taken(self.scope_key, fold(path), but=but.pk if but else 0):
            raise PathTaken(path=path)
        return path

    def free_near(self, path: str, *, but: Memory | None = None) -> str:
        """The path, or where another row has it, the same with a growing suffix."""
        stem, number = path.removesuffix(".md"), 1
        while path_taken(self.scope_key, fold(path), but=but.pk if but else 0):
            number += 1
            path = f"{stem}-{number}.md"
        return path

    def place_of_found(self, path: str, *, but: Memory | None = None) -> str:
        """The path of a file that lies there already. A deleted row that still has it gives way: nobody's file is renamed.

        Raises ``PathTaken`` where a living row has it, ``RevisionConflict`` while the ledger has to do there itself.
        """
        if FileIntent.objects.filter(scope=self.scope_key, path=path).exists():
            raise RevisionConflict(memory_id=path, current="?", given="?")
        holders = Memory.objects.filter(scope=self.scope_key, path_key=fold(path), status=Status.DELETED)
        if holder := holders.exclude(pk=but.pk if but else 0).first():
            place = self.free_near(holder.path)
            Memory.objects.filter(pk=holder.pk).update(path=place, path_key=fold(place))
        return self.free_path(path, but=but)


def title_taken(scope_key: str, title_key: str, *, but: int = 0) -> str:
    """The id of another active memory with this title; empty where there is none."""
    found = _one(_TITLE, scope_key, title_key, but)
    return str(found[0]) if found else ""


def slug_taken(scope_key: str, slug_key: str, *, but: int = 0) -> bool:
    """Whether another memory has this slug, or had it (``but`` may have its own again)."""
    return _is(_SLUG, scope_key, slug_key, scope_key, slug_key, but)


def path_taken(scope_key: str, path_key: str, *, but: int = 0) -> bool:
    return _is(_PATH, scope_key, path_key, but)


def folder_number(scope_key: str, base: str, limit: int) -> int:
    """Count one more file into an area's current folder; a full one gets a successor. Returns the folder's number."""
    found = _one(_FOLDER, scope_key, base, limit, limit)
    assert found is not None, "RETURNING gives a row."  # noqa: S101
    return int(found[0])


def _one(statement: str, *values: str | int) -> tuple[Any, ...] | None:
    found = fetched(statement, values)
    return found[0] if found else None


def _is(statement: str, *values: str | int) -> bool:
    found = _one(statement, *values)
    return bool(found and found[0])

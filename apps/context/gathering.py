"""Candidates for a context: every query is bounded by a limit and led by an index, however large the memory is."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Max, QuerySet

from apps.changes.models import Change
from apps.curation.selectors import place_in_template, stale_documents, success_cursors
from apps.memories.models import Kind, Memory, Resource, Status
from apps.memories.scopes import global_scope, project_scope
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.workspaces.models import Project

FIRM = (Kind.RULE, Kind.DECISION, Kind.FACT)  # What holds, before what was lived through or noted.
LOOSE = (Kind.EXPERIENCE, Kind.NOTE)
TOLD_OF = (Resource.MEMORY, Resource.CHECKPOINT)
MOST_CURATED = 40
MOST_CHANGES = 40
COUNTED_TO = 1_000


@dataclass(frozen=True)
class Places:
    """The scopes a context is made of, nearest first, each with the word that callers use for it."""

    words: dict[str, str]
    project: str | None

    @property
    def keys(self) -> list[str]:
        return list(self.words)

    @property
    def everywhere(self) -> list[str]:
        """What holds in any workspace: the caller's own space, then the team's."""
        return [key for key in self.words if key != self.project]

    @property
    def main(self) -> str:
        """Where the caller works."""
        return next(iter(self.words))


def places_of(caller: Caller, project: Project | None) -> Places:
    words = {project_scope(project.pk): "project"} if project else {}
    if caller.profile != SHARED_PROFILE:
        words[global_scope(caller.profile)] = "global"
    words[global_scope(SHARED_PROFILE)] = "shared"
    return Places(words, project_scope(project.pk) if project else None)


@dataclass(frozen=True)
class Curated:
    """The curated documents of the places, and up to which change each place's know everything."""

    documents: list[Memory]
    cursors: dict[str, int] = field(default_factory=dict)
    covers_until: datetime | None = None
    stale: Set[str] = frozenset()  # Ids of those that were made of something that is gone since.


def curated_in(places: Places) -> Curated:
    documents = [document for key in places.keys for document in _documents_in(key)]
    if not documents:
        return Curated([])
    # Before curation's own cursor (a rebuild from files has none) the last change of the documents themselves counts.
    ids = [document.stable_id for document in documents]
    last = Change.objects.filter(stable_id__in=ids).values("scope_key").annotate(last=Max("sequence"))
    cursors = {row["scope_key"]: row["last"] for row in last.order_by()}
    moved = success_cursors(cursors)
    cursors |= {key: cursor.sequence for key, cursor in moved.items()}
    until = max([*(document.updated_at for document in documents), *(cursor.moved_at for cursor in moved.values())])
    return Curated(documents, cursors, until, stale_documents(documents))


def _documents_in(key: str) -> list[Memory]:
    """In the order of the template, as somebody would read them."""
    return sorted(_active(key, Resource.CURATED).order_by("path")[:MOST_CURATED], key=place_in_template)


def changes_in(places: Places, cursors: dict[str, int]) -> list[Change]:
    """The newest change of each document that changed lately, after the curated documents where there are any."""
    newest: dict[str, Change] = {}
    for key in places.keys:
        rows = Change.objects.filter(scope_key=key, sequence__gt=cursors.get(key, 0)).order_by("-sequence")
        for change in rows[:MOST_CHANGES]:
            if change.resource in TOLD_OF:
                newest.setdefault(change.stable_id, change)
    return sorted(newest.values(), key=lambda change: -change.sequence)


def changes_after(places: Places, cursors: dict[str, int]) -> int:
    """How many changes the curated documents do not know of."""
    after = 0
    for key, cursor in cursors.items():
        if key in places.words:
            rows = Change.objects.filter(scope_key=key, sequence__gt=cursor, resource__in=TOLD_OF)
            after += rows[:COUNTED_TO].count()
    return min(after, COUNTED_TO)


@dataclass(frozen=True)
class Group:
    """Memories of one rank. ``share`` is the part of the budget they may take in the first round."""

    memories: list[Memory]
    share: float = 1.0


def groups(places: Places, curated: Curated, changes: Sequence[Change], limit: int) -> Iterator[Group]:
    """Memories in the order in which they are worth their tokens.

    First what curated documents do not know of yet. Then what is firm before what is not, the workspace's own before
    the caller's and the team's. What holds everywhere takes at most half, so that a large team space never crowds out
    the workspace.
    """
    uncurated = [change.stable_id for change in changes if change.scope_key in curated.cursors]
    if uncurated:
        # A change stays in the log of the scope where it happened; what moved away since is no part of this one.
        here = Memory.objects.filter(scope__in=places.keys, resource=Resource.MEMORY, status=Status.ACTIVE)
        rows = here.filter(stable_id__in=uncurated[:limit])
        yield Group(sorted(rows.filter(withheld=False), key=_newest_first))
    for kinds, share in ((FIRM, 0.5), (LOOSE, 1.0)):
        if places.project:
            yield Group(_of_kinds(places.project, kinds, limit))
        else:
            share = 1.0
        yield Group([memory for key in places.everywhere for memory in _of_kinds(key, kinds, limit)], share)


def count_of(places: Places, resource: Resource) -> int:
    return sum(_active(key, resource)[:COUNTED_TO].count() for key in places.keys)


def titles_of(changes: Sequence[Change]) -> dict[str, Memory]:
    return {memory.stable_id: memory for memory in Memory.objects.filter(stable_id__in=[c.stable_id for c in changes])}


def _of_kinds(key: str, kinds: Sequence[Kind], limit: int) -> list[Memory]:
    """One query a kind: each reads no more rows of the index ``memory_kind`` than it answers."""
    found = [
        memory
        for kind in kinds
        for memory in _active(key, Resource.MEMORY)
        .filter(kind=kind, withheld=False)
        .order_by("-updated_at", "-pk")[:limit]
    ]
    return sorted(found, key=_newest_first)[:limit]


def _active(key: str, resource: Resource) -> QuerySet[Memory]:
    return Memory.objects.filter(scope=key, resource=resource, status=Status.ACTIVE)


def _newest_first(memory: Memory) -> tuple[float, int]:
    return -memory.updated_at.timestamp(), -memory.pk

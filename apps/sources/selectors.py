"""Which sources changed, straight from the change log: pages led by an index, however long the log is."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from apps.changes.models import Change
from apps.memories.models import Memory, Resource, Status

RESOURCES = (Resource.MEMORY, Resource.CHECKPOINT)  # Curated documents are results, not sources.
PAGE = 100


def newest_changes(scope_key: str, since: int, until: int) -> QuerySet[Change]:
    """The newest change of each source within ``(since, until]``, in their order."""
    later = Change.objects.filter(
        stable_id=OuterRef("stable_id"),
        scope_key=OuterRef("scope_key"),
        sequence__gt=OuterRef("sequence"),
        sequence__lte=until,
    )
    rows = Change.objects.filter(scope_key=scope_key, sequence__gt=since, sequence__lte=until, resource__in=RESOURCES)
    return rows.filter(~Exists(later)).order_by("sequence")


def changed_sources(scope_key: str, since: int, until: int) -> Iterator[tuple[Change, Memory | None]]:
    """Each source that changed with its row, where it still is one of the scope's living sources."""
    position = since
    while page := list(newest_changes(scope_key, position, until)[:PAGE]):
        rows = Memory.objects.filter(
            stable_id__in=[change.stable_id for change in page],
            scope=scope_key,
            resource__in=RESOURCES,
            status=Status.ACTIVE,
        )
        living = {memory.stable_id: memory for memory in rows}
        for change in page:
            yield change, living.get(change.stable_id)
        position = page[-1].sequence

"""Whether there is something to read, and what of it is still there. The reading itself is ``apps.sources``'."""

from collections.abc import Iterable

from apps.changes.models import Change
from apps.memories.models import Memory, Status
from apps.sources.selectors import RESOURCES


def changed_since(scope_key: str, since: int, until: int) -> bool:
    """Whether anything that curation reads changed there. One look at an index."""
    changes = Change.objects.filter(scope_key=scope_key, sequence__gt=since, sequence__lte=until)
    return changes.filter(resource__in=RESOURCES).exists()


def standing(scope_key: str, ids: Iterable[str]) -> dict[str, Memory]:
    """Those of these sources that may still be read and cited."""
    rows = Memory.objects.filter(stable_id__in=list(ids), scope=scope_key, status=Status.ACTIVE, withheld=False)
    return {row.stable_id: row for row in rows}

"""The memories that recalled ones link to, for their summaries alone."""

from collections.abc import Collection, Sequence

from apps.memories.models import Memory, MemoryLink
from apps.memories.selectors.links import Names
from apps.operations.caller import Caller
from apps.recall.block import Link
from apps.recall.choosing import is_shown

MOST_TARGETS, MOST_LINKS = 30, 8


def links_from(
    caller: Caller, memories: Sequence[Memory], scope_keys: Sequence[str], known: Collection[str]
) -> list[Link]:
    """In reading order, each once; none that the session has whole, none out of the caller's sight."""
    homes = {memory.pk: memory.scope_id for memory in memories}
    rows = MemoryLink.objects.filter(memory_id__in=list(homes)).order_by("memory_id", "position")
    targets = list(rows.values_list("memory_id", "target")[:MOST_TARGETS])
    if not targets:
        return []
    names = Names(caller, [target for _, target in targets], homes.values())
    ends = [names.of(target, homes[source]) for source, target in targets]
    shown = {end.stable_id: end for end in ends if end is not None and is_shown(end, scope_keys)}
    found = [Link(key, end.title, end.summary) for key, end in shown.items() if key not in known]
    return found[:MOST_LINKS]

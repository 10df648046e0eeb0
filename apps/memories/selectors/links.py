"""Where the links of a memory lead, and which memories link to it."""

from collections import defaultdict
from collections.abc import Iterable

from apps.base.text import fold, nfc, same_slug_key, slug_for
from apps.memories.doors import distance, memory_for, visible_scopes
from apps.memories.models import Alias, Memory, MemoryLink, Status
from apps.memories.schemas import Limit, LinkedMemory, LinksOut, LinkTo, MemoryRef
from apps.memories.scopes import folder_name, may_see, scope_key_of_folder
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation

CANDIDATES = 4  # Times the limit: links that may mean another memory of the same name are looked at and left out.


@operation(needs=Right.READ, answers=LinksOut)
def memory_links(caller: Caller, *, memory_id: MemoryRef, limit: Limit = 50) -> LinksOut:
    """Show where the [[links]] of a memory lead and which memories link to it; null where a link leads nowhere yet."""
    memory = memory_for(caller, memory_id)
    targets = list(dict.fromkeys(memory.links.order_by("position").values_list("target", flat=True)[: limit + 1]))
    sources = _candidates(caller, memory, limit * CANDIDATES)
    names = Names(caller, [*targets, *(target for _source, target in sources)])
    linking = {source.pk: source for source, target in sources if names.of(target, source.scope_id) == memory}
    ends = {target: names.of(target, memory.scope_id) for target in targets[:limit]}
    return LinksOut(
        memory_id=memory.stable_id,
        links_to=[LinkTo(target=target, memory=_told(end) if end else None) for target, end in ends.items()],
        linked_from=[_told(source) for source in list(linking.values())[:limit]],
        is_whole=len(targets) <= limit and len(linking) <= limit and len(sources) < limit * CANDIDATES,
    )


def _told(memory: Memory) -> LinkedMemory:
    return LinkedMemory(
        memory_id=memory.stable_id,
        title=memory.title,
        resource=memory.resource,
        kind=memory.kind,
        status=memory.status,
        scope=memory.scope_id,
    )


def _candidates(caller: Caller, memory: Memory, most: int) -> list[tuple[Memory, str]]:
    """Memories with a link that is written like one of this memory's names, the last changed first."""
    links = (
        MemoryLink.objects.filter(target_key__in=_names_of(memory), memory__scope__in=visible_scopes(caller))
        .exclude(memory=memory)
        .exclude(memory__status=Status.DELETED)
        .select_related("memory")
        .order_by("-memory__updated_at", "-memory_id", "position")
    )
    return [(link.memory, link.target) for link in links[:most]]


def _names_of(memory: Memory) -> set[str]:
    """Every way in which a link may name it: id, title, slugs of today and before, path, permalink."""
    path = memory.path.removesuffix(".md")
    slugs = [memory.slug, *memory.aliases.values_list("slug_key", flat=True)]
    names = [memory.stable_id, memory.title, *slugs, path, f"{folder_name(memory.scope_id)}/{memory.slug}"]
    return {fold(name)[:400] for name in names} | {fold(f"{name}.md")[:400] for name in (*slugs, path)}


class Names:
    """What links mean to a caller: id before path before slug before old slug, nearest to the linking memory first.

    However many links there are, they are looked up by four queries.
    """

    def __init__(self, caller: Caller, targets: Iterable[str]) -> None:
        self.caller = caller
        asked = set(targets)
        slugs = {key for target in asked for key in _slug_keys(target)}
        paths = {key for target in asked for key in _path_keys(target)}
        self.by_id = {row.stable_id: row for row in self._seen(stable_id__in=asked)}
        self.by_path = self._grouped("path_key", paths)
        self.by_slug = self._grouped("slug_key", slugs)
        self.by_alias: dict[str, list[Memory]] = defaultdict(list)
        for alias in Alias.objects.filter(slug_key__in=slugs).select_related("memory"):
            if may_see(caller, alias.memory.scope_id) and alias.memory.status != Status.DELETED:
                self.by_alias[alias.slug_key].append(alias.memory)

    def of(self, target: str, home: str) -> Memory | None:
        """The memory that a link in the scope ``home`` leads to, if there is one."""
        if target in self.by_id:
            return self.by_id[target]
        folder, _, _name = nfc(target).rpartition("/")
        within = scope_key_of_folder(folder) if folder else None
        tries = [
            *((self.by_path, key) for key in _path_keys(target)),
            *((self.by_slug, key) for key in _slug_keys(target)),
            *((self.by_alias, key) for key in _slug_keys(target)),
        ]
        for found, key in tries:
            fitting = [row for row in found.get(key, []) if within is None or row.scope_id == within]
            if fitting:
                return min(fitting, key=lambda row: (row.scope_id != home, distance(self.caller, row.scope_id)))
        return None

    def _seen(self, **condition: object) -> list[Memory]:
        rows = Memory.objects.filter(**condition).exclude(status=Status.DELETED)
        return [row for row in rows if may_see(self.caller, row.scope_id)]

    def _grouped(self, field: str, keys: set[str]) -> dict[str, list[Memory]]:
        found: dict[str, list[Memory]] = defaultdict(list)
        for row in self._seen(**{f"{field}__in": keys}):
            found[getattr(row, field)].append(row)
        return found


def _slug_keys(target: str) -> list[str]:
    """A slug as it stands, or a title; of a permalink what stands behind its folder."""
    folder, _, name = nfc(target).rpartition("/")
    if folder and scope_key_of_folder(folder) is None:
        return []
    name = name.removesuffix(".md")
    return list(dict.fromkeys([same_slug_key(name), same_slug_key(slug_for(name))]))


def _path_keys(target: str) -> list[str]:
    return [fold(nfc(target)), fold(nfc(f"{target}.md"))]

"""Where the links of a memory lead, and which memories link to it."""

from collections.abc import Iterable, Iterator

from django.db.models import Q, QuerySet

from apps.base.text import UNTITLED, fold, nfc, same_slug_key, slug_for
from apps.memories.doors import memory_for, scopes_around, visible_scopes
from apps.memories.links import key_of
from apps.memories.models import Alias, Memory, MemoryLink, Status
from apps.memories.schemas import Limit, LinkedMemory, LinksOut, LinkTo, MemoryRef
from apps.memories.scopes import may_see, scope_key_of_folder
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation

CANDIDATES = 4  # Times the limit: links that may mean another memory of the same name are looked at and left out.


@operation(needs=Right.READ, answers=LinksOut)
def memory_links(caller: Caller, *, memory_id: MemoryRef, limit: Limit = 50) -> LinksOut:
    """Show where the [[links]] of a memory lead and which memories link to it; null where a link leads nowhere yet."""
    memory = memory_for(caller, memory_id)
    targets = list(dict.fromkeys(memory.links.order_by("position").values_list("target", flat=True)[: limit + 1]))
    sources = _candidates(caller, memory, limit * CANDIDATES)
    homes = {memory.scope_id, *(source.scope_id for source, _target in sources)}
    names = Names(caller, [*targets, *(target for _source, target in sources)], homes)
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


# --- what links here ----------------------------------------------------------------------------------------


def _candidates(caller: Caller, memory: Memory, most: int) -> list[tuple[Memory, str]]:
    """Memories with a link that is written like one of this memory's names, the last changed first.

    From another workspace only an id or a whole address leads here, so that a name which many workspaces use does not
    hide the links of this one.
    """
    aliases = list(memory.aliases.values_list("slug_key", "scope_id"))
    keys = {key_of(name) for name in (memory.stable_id, memory.title, memory.slug, memory.path)}
    written = MemoryLink.objects.filter(target_key__in=keys | {key for key, _scope in aliases})
    written = written.exclude(memory=memory).exclude(memory__status=Status.DELETED)
    near = {memory.scope_id, *(scope for _key, scope in aliases)}
    far = written.filter(memory__scope__in=[key for key in visible_scopes(caller) if key not in near])
    if memory.scope_id.startswith("project/"):
        far = far.filter(Q(target__contains="/") | Q(target=memory.stable_id))
    here = written.filter(memory__scope__in=[key for key in near if may_see(caller, key)])
    found = [*_newest(here, most), *_newest(far, most)]
    return sorted(found, key=lambda pair: pair[0].updated_at, reverse=True)


def _newest(links: QuerySet[MemoryLink], most: int) -> list[tuple[Memory, str]]:
    rows = links.select_related("memory").order_by("-memory__updated_at", "-memory_id", "position")[:most]
    return [(link.memory, link.target) for link in rows]


# --- where links lead ---------------------------------------------------------------------------------------


class Names:
    """What links mean to a caller (D-07). However many there are, they are looked up by five queries.

    ``homes`` are the scopes in which the links stand.
    """

    def __init__(self, caller: Caller, targets: Iterable[str], homes: Iterable[str]) -> None:
        self.caller = caller
        asked = set(targets)
        slugs = {key for target in asked for key in _slug_keys(target)}
        named = (_scope_named_in(target) for target in asked)
        places = {place for home in homes for place in self._places(home)} | {place for place in named if place}
        places = {place for place in places if may_see(caller, place)}
        self.by_id = {row.stable_id: row for row in self._living(stable_id__in=asked)}
        self.by_slug = self._grouped("slug_key", slugs, places)
        self.by_title = self._grouped("title_key", {fold(nfc(target))[:600] for target in asked}, places)
        self.by_path = self._grouped("path_key", {key for target in asked for key in _path_keys(target)}, places)
        self.by_alias: dict[tuple[str, str], Memory] = {}
        for alias in Alias.objects.filter(scope__in=places, slug_key__in=slugs).select_related("memory"):
            if may_see(caller, alias.memory.scope_id) and alias.memory.status != Status.DELETED:
                self.by_alias[alias.scope_id, alias.slug_key] = alias.memory

    def of(self, target: str, home: str) -> Memory | None:
        """The memory that a link in the scope ``home`` leads to, if there is one."""
        return next(self._meant(target, home), None)

    def _meant(self, target: str, home: str) -> Iterator[Memory]:
        """Everything that bears the name, what is meant first: by slug, then by title and path, then by id."""
        within = _scope_named_in(target)
        places = [within] if within else self._places(home)
        slugs, paths = _slug_keys(target), _path_keys(target)
        for place in places:
            for key in slugs:
                for found in (self.by_slug, self.by_alias):
                    if (place, key) in found:
                        yield found[place, key]
        for place in places:
            if titled := self.by_title.get((place, fold(nfc(target))[:600])):
                yield titled
            yield from (self.by_path[place, key] for key in paths if (place, key) in self.by_path)
        if target in self.by_id:
            yield self.by_id[target]

    def _places(self, home: str) -> list[str]:
        """Where a name is looked for: around the link, in the library, in the caller's own space, in the team's."""
        return scopes_around(self.caller, home)

    def _living(self, **condition: object) -> list[Memory]:
        rows = Memory.objects.filter(**condition).exclude(status=Status.DELETED).order_by("updated_at", "pk")
        return [row for row in rows if may_see(self.caller, row.scope_id)]

    def _grouped(self, field: str, keys: set[str], places: set[str]) -> dict[tuple[str, str], Memory]:
        """By place and key; of several with one title the newest."""
        rows = self._living(**{f"{field}__in": keys, "scope__in": places})
        return {(row.scope_id, getattr(row, field)): row for row in rows}


def _scope_named_in(target: str) -> str | None:
    """The scope of a whole address: projects/<id>/<slug>."""
    folder = nfc(target).rpartition("/")[0]
    return scope_key_of_folder(folder) if folder else None


def _slug_keys(target: str) -> list[str]:
    """A slug as it stands, or a title as a slug; of a whole address what stands behind its folder."""
    name = nfc(target)
    if _scope_named_in(name):
        name = name.rpartition("/")[2]
    name = name.removesuffix(".md")
    slug = slug_for(name)
    keys = [same_slug_key(name)]
    if slug != UNTITLED:  # What has no letter has no slug: it is looked for as a title.
        keys.append(same_slug_key(slug))
    return list(dict.fromkeys(keys))


def _path_keys(target: str) -> list[str]:
    return [fold(nfc(target)), fold(nfc(f"{target}.md"))]

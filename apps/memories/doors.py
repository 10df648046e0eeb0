"""The only doors to scopes and rows: what a caller cannot see does not exist for them (D-08b)."""

from collections.abc import Collection, Sequence

from apps.base.rows import fetched, rows_where
from apps.base.text import fold, nfc, same_slug_key
from apps.memories.errors import MemoryUnknown, ScopeUnknown
from apps.memories.models import Alias, Memory, Status
from apps.memories.scopes import (
    LIBRARY,
    default_scope,
    global_scope,
    may_see,
    project_scope,
    scope_key_of_folder,
)
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.models import Profile
from apps.workspaces.selectors import project_for


def scope_for(caller: Caller, scope: str = "", project_id: str = "") -> str:
    """The key of the scope a call means. Raises ``ScopeUnknown`` or what ``project_for`` raises.

    ``global`` is the caller's own space, ``shared`` the team's, ``project`` the workspace named or bound; without any
    of it the default of D-08b.
    """
    if project_id or (not scope and caller.project_id):
        named = project_for(caller, project_id or caller.project_id or "").id
        if scope in ("", "project", project_scope(named)):
            return project_scope(named)
    match scope:
        case "":
            return default_scope(caller, None)
        case "global":
            return global_scope(caller.profile)
        case "shared":
            return global_scope(SHARED_PROFILE)
        case "project":
            if not caller.project_id:
                raise ScopeUnknown(scope=scope)
            return project_scope(caller.project_id)
    return _known(caller, scope)


def _known(caller: Caller, key: str) -> str:
    kind, _, name = key.partition("/")
    if kind == "project" and name:
        return project_scope(project_for(caller, name).id)
    exists = key == LIBRARY or (kind == "global" and Profile.objects.filter(pk=name).exists())
    if not exists or not may_see(caller, key):
        raise ScopeUnknown(scope=key)
    return key


def visible_scopes(caller: Caller) -> list[str]:
    """Every scope with something in it that this caller may see."""
    return [key for (key,) in fetched("SELECT key FROM memories_scope", []) if may_see(caller, key)]


def outside_pending(scope_keys: Sequence[str]) -> bool:
    """Whether the last look at one of these folders saw changes that are not taken in yet."""
    pending = fetched("SELECT key FROM memories_scope WHERE outside_pending", [])
    return any(key in scope_keys for (key,) in pending)


def searched_scopes(caller: Caller, scope: str, project_id: str) -> list[str]:
    """Where a search looks: the scope named; with a workspace, that and what holds everywhere; else all that is visible."""
    if scope:
        return [scope_for(caller, scope, project_id)]
    if project_id or caller.project_id:
        project = scope_for(caller, "project", project_id)
        return list(dict.fromkeys([project, LIBRARY, global_scope(caller.profile), global_scope(SHARED_PROFILE)]))
    return visible_scopes(caller)


def scopes_around(caller: Caller, scope_key: str) -> list[str]:
    """A scope, and what holds everywhere for this caller."""
    return list(dict.fromkeys([scope_key, LIBRARY, global_scope(caller.profile), global_scope(SHARED_PROFILE)]))


def memory_for(
    caller: Caller, reference: str, *, deleted: bool = False, resources: Collection[str] | None = None
) -> Memory:
    """The memory that an id, a path or a slug means (in this order, D-07). Raises ``MemoryUnknown``."""
    memory = _by_id(caller, reference) or _by_name(caller, reference)
    if memory is None or (memory.status == Status.DELETED and not deleted):
        raise MemoryUnknown(memory_id=reference)
    if resources is not None and memory.resource not in resources:
        raise MemoryUnknown(memory_id=reference)
    return memory


def _by_id(caller: Caller, reference: str) -> Memory | None:
    found = rows_where(Memory, "stable_id = %s", [reference])
    return found[0] if found and may_see(caller, found[0].scope_id) else None


def _by_name(caller: Caller, reference: str) -> Memory | None:
    """By path, then by slug, then by an old slug; nearest scope first."""
    name = nfc(reference.strip()).removeprefix("[[").removesuffix("]]")
    folder, _, slug = name.rpartition("/")
    within = scope_key_of_folder(folder) if folder else None  # A permalink: projects/<id>/<slug>.
    key = same_slug_key(slug.removesuffix(".md") if within or not folder else name)
    by_path = list(Memory.objects.filter(path_key=fold(name))[:50])
    by_slug = list(Memory.objects.filter(slug_key=key)[:50])
    by_alias = [alias.memory for alias in Alias.objects.filter(slug_key=key).select_related("memory")[:50]]
    for found in (by_path, by_slug, by_alias):
        seen = [m for m in found if may_see(caller, m.scope_id) and (within is None or m.scope_id == within)]
        if seen:
            return min(seen, key=lambda memory: (memory.status == Status.DELETED, distance(caller, memory.scope_id)))
    return None


def distance(caller: Caller, scope_key: str) -> int:
    """The order in which names resolve: workspace, library, own space, shared, then anything else that is visible."""
    near = [global_scope(caller.profile), global_scope(SHARED_PROFILE)]
    if caller.project_id and scope_key == project_scope(caller.project_id):
        return 0
    if scope_key == LIBRARY:
        return 1
    return 2 + near.index(scope_key) if scope_key in near else 10

"""Closed operations become commits: in closing order, one for each operation and repository, whatever is killed when (L-21).

A pass takes what waits for one root, stores all its objects, makes them durable together, moves the branch once and then
writes the rows. A crash between the branch and the rows is found by the operation ids in the trailers.
"""

from collections.abc import Sequence

from apps.base.bells import hurry
from apps.base.errors import MemRelayError
from apps.base.transactions import outside_transactions
from apps.leases.locks import scope_lock
from apps.memories.ledger.writeout import write_path
from apps.memories.models import FileIntent
from apps.memories.scopes import SCOPE_FILE
from apps.memory_git.committing.gathering import Deed, gather
from apps.memory_git.committing.making import Making
from apps.memory_git.committing.outbox import mark_begun, put_off, waiting
from apps.memory_git.errors import FilePending
from apps.memory_git.models import MemoryRepository
from apps.memory_git.repository import local
from apps.memory_git.repository.opening import sound
from apps.memory_git.repository.repositories import ensure, folder_of, identity, mark_sound
from apps.memory_git.switch import strategy_if_on

AT_ONCE = 100


@outside_transactions
def commit_root(root: str) -> int:
    """Commit what waits for one root, up to a number of operations; answers how many commits were made.

    What fails waits longer each time, and everything behind it waits with it: the order of commits is that of closing.
    """
    strategy = strategy_if_on()
    if not strategy:
        return 0
    rows = waiting().filter(root=root).select_related("operation").order_by("operation__closing_number")
    jobs = list(rows[:AT_ONCE])
    if not jobs:
        return 0
    try:
        deeds = gather(jobs, strategy, root)
        ready = _written_out(deeds)
        scope_key = next((deed.scopes[0] for deed in deeds if deed.scopes), "")
        repository = ensure(root, strategy, scope_key)
        mark_begun(ready)
        made = commit_deeds(repository, ready)
        if len(ready) < len(deeds):
            raise FilePending(scope=", ".join(deeds[len(ready)].scopes))
        mark_sound(repository)
        return made
    except (MemRelayError, OSError) as failure:
        put_off(root, jobs, failure)
        return 0


def commit_deeds(repository: MemoryRepository, deeds: Sequence[Deed]) -> int:
    """Make the commits of some operations and enter them. Raises ``RepositoryBroken``, ``RepositoryLocked``."""
    if not deeds:
        return 0
    with sound(repository), local.locked(folder_of(repository)), local.opened(folder_of(repository)) as repo:
        making = Making(repository, repo, identity())
        making.take_up(deeds)
        for deed in deeds:
            making.commit(deed)
        making.finish()
    if repository.remote_url and making.entered:
        hurry()
    return len(making.entered)


def _written_out(deeds: Sequence[Deed]) -> list[Deed]:
    """Write what the operations intended and no file shows yet, up to the first that cannot be (L-21)."""
    ids = list({end.memory for deed in deeds for end in deed.ends})
    scopes = {scope for deed in deeds for scope in deed.scopes}
    open_paths: dict[int | None, set[tuple[str, str]]] = {}
    for start in range(0, len(ids), 500):
        rows = FileIntent.objects.filter(memory__in=ids[start : start + 500])
        for memory, scope_key, path in rows.values_list("memory_id", "scope_id", "path"):
            open_paths.setdefault(memory, set()).add((scope_key, path))
    for scope_key in FileIntent.objects.filter(scope__in=scopes, path=SCOPE_FILE).values_list("scope_id", flat=True):
        open_paths.setdefault(None, set()).add((scope_key, SCOPE_FILE))
    seen: dict[tuple[str, str], bool] = {}
    ready: list[Deed] = []
    for deed in deeds:
        wanted = {place for end in deed.ends for place in open_paths.get(end.memory, ())}
        wanted |= {place for place in open_paths.get(None, ()) if place[0] in deed.scopes}
        if not all(_is_there(scope_key, path, seen) for scope_key, path in sorted(wanted)):
            break
        ready.append(deed)
    return ready


def _is_there(scope_key: str, path: str, seen: dict[tuple[str, str], bool]) -> bool:
    if (scope_key, path) not in seen:
        with scope_lock(scope_key):
            seen[scope_key, path] = write_path(scope_key, path)
    return seen[scope_key, path]

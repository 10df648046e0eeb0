"""What restoring a snapshot would do, before it is done: which documents come back, change, go away. Changes nothing.

Two trees are compared, so that only what differs is read: a preview of a large repository is quick too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.base.errors import MemRelayError
from apps.base.text import fold, lf
from apps.leases.errors import ScopeBusy
from apps.leases.selectors import exclusive_lease_on
from apps.memories import documents
from apps.memories.ledger.names import ARCHIVE
from apps.memories.models import Memory, Status
from apps.memory_git.committing.outbox import waiting
from apps.memory_git.deeds import UNFINISHED
from apps.memory_git.errors import DeedUnderWay
from apps.memory_git.leasing import all_scopes
from apps.memory_git.models import GitCommit, GitDeed, MemoryRepository
from apps.memory_git.repository.comparing import Changed, changed_paths
from apps.memory_git.repository.objects import Staging
from apps.memory_git.repository.opening import commit_object, reading
from apps.memory_git.restoring.snapshots import is_alive, refuse_to_lose, would_go
from apps.memory_git.schemas import SnapshotChange, SnapshotPreview
from apps.memory_git.selectors.commits import newest
from apps.memory_git.trees.documents import Document, place_of, validated_at

MOST_READ = 10_000  # Documents; about two seconds.
SHOWN = 100
CHUNK = 500
Change = Literal["changed", "created", "archived", "unarchived", "deleted"]


@dataclass(frozen=True, slots=True)
class Differing:
    """What differs between a commit and the newest one, by where it lies: then, and now."""

    then: list[Changed]
    now: list[Changed]


def preview_of(repository: MemoryRepository, row: GitCommit) -> SnapshotPreview:
    """Raises ``UnsafeTree`` where a document of ours could not come back as it was."""
    skipped: list[str] = []
    changes: list[SnapshotChange] = []
    with reading(repository) as (objects, repo):
        trees = [bytes(commit_object(repo, sha).tree) for sha in (row.sha, newest(repository).sha)]
        found = _differing(changed_paths(objects, *trees))
        is_exact = len(found.then) <= MOST_READ
        counts = _counted_by_file(found)
        if is_exact:
            places = [(change.path, change.old) for change in found.then if change.old]
            target = validated_at(objects.store, places, repository.scope_key)
            refuse_to_lose(repository, target.left_out)
            then = target.documents
            alive = {key: is_alive(key) for key in {document.scope_key for document in then}}
            skipped = sorted(key for key in alive if not alive[key])
            gone = _going(repository, found.now, {document.stable_id for document in then}, skipped)
            lying = {place_of(one.path, repository.scope_key): one.new for one in found.now if one.new}
            changes = [*_coming([one for one in then if alive[one.scope_key]], lying, objects), *gone]
            counts = Counter(change.change for change in changes)
    return SnapshotPreview(
        repository_id=repository.pk,
        commit=row.sha,
        subject=row.subject,
        at=row.at,
        exact=is_exact,
        **{name: counts[name] for name in ("changed", "created", "archived", "unarchived", "deleted")},
        documents=sorted(changes, key=_by_weight)[:SHOWN],
        skipped_scopes=skipped,
        waiting=waiting().filter(root=repository.root).count(),
        obstacles=[str(error) for error in _obstacles(repository)],
    )


def _differing(changes: Iterable[Changed]) -> Differing:
    documents = [change for change in changes if change.path.endswith(".md")]
    return Differing([one for one in documents if one.old], [one for one in documents if one.new])


def _counted_by_file(found: Differing) -> Counter[str]:
    """Of very many: a file that moved counts as one that comes and one that goes."""
    return Counter(
        changed=sum(1 for change in found.then if change.new),
        created=sum(1 for change in found.then if not change.new),
        deleted=sum(1 for change in found.now if not change.old),
    )


def _coming(
    then: Sequence[Document], lying: Mapping[tuple[str, str], bytes], objects: Staging
) -> Iterator[SnapshotChange]:
    """What the snapshot brings back, by what becomes of the document that is here now."""
    for start in range(0, len(then), CHUNK):
        part = then[start : start + CHUNK]
        rows = Memory.objects.filter(stable_id__in=[document.stable_id for document in part])
        here = {memory.stable_id: memory for memory in rows}
        for document in part:
            if change := _change(document, here.get(document.stable_id), lying, objects):
                yield SnapshotChange(
                    change=change,
                    resource_id=document.stable_id,
                    title=document.title,
                    scope=document.scope_key,
                    path=document.path,
                )


def _change(
    document: Document, memory: Memory | None, lying: Mapping[tuple[str, str], bytes], objects: Staging
) -> Change | None:
    """Nothing where it differs only in what the ledger itself writes, such as the number of its revision."""
    if memory is None or memory.status == Status.DELETED:
        return "created"
    place, to_archive = (document.scope_key, document.path), document.path.startswith(f"{ARCHIVE}/")
    if to_archive != (memory.status == Status.ARCHIVED):
        return "archived" if to_archive else "unarchived"
    if place == (memory.scope_id, memory.path) and place in lying:
        text = documents.stamped(objects.content(document.blob), memory, memory.revision)
        if lf(text) == objects.content(lying[place]):
            return None
    return "changed"


def _going(
    repository: MemoryRepository, now: Sequence[Changed], wanted: set[str], skipped: Sequence[str]
) -> Iterator[SnapshotChange]:
    """What lies here now and did not then."""
    rows = would_go(repository, skipped)
    places: dict[str, list[str]] = {}
    for change in now:
        scope_key, path = place_of(change.path, repository.scope_key)
        places.setdefault(scope_key, []).append(fold(path))
    for scope_key, keys in places.items():
        for start in range(0, len(keys), CHUNK):
            lying = rows.filter(scope=scope_key, path_key__in=keys[start : start + CHUNK])
            for memory in lying.only("stable_id", "title", "scope", "path"):
                if memory.stable_id not in wanted:
                    yield SnapshotChange(
                        change="deleted",
                        resource_id=memory.stable_id,
                        title=memory.title,
                        scope=memory.scope_id,
                        path=memory.path,
                    )


def _by_weight(change: SnapshotChange) -> tuple[int, str, str]:
    """What goes away stands first."""
    order = ("deleted", "archived", "changed", "unarchived", "created")
    return order.index(change.change), change.scope, change.title


def _obstacles(repository: MemoryRepository) -> Iterator[MemRelayError]:
    """Why it would be refused now."""
    scope_keys = [repository.scope_key] if repository.scope_key else all_scopes()
    busy = [key for key in sorted(scope_keys) if exclusive_lease_on(key)]
    if busy:
        yield ScopeBusy(scope=busy[0])
    under_way = GitDeed.objects.filter(kind="snapshot", repository=repository, state__in=UNFINISHED).first()
    if under_way is not None:
        yield DeedUnderWay(job_id=under_way.pk)

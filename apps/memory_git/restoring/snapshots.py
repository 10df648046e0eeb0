"""Everything of a repository as it was at a commit: new revisions under the lease of its whole range (GIT-062 to GIT-064).

The tree is looked at as a whole before anything changes. What the documents lead to, in rows and index, follows because they
come down the ledger's road; then one new commit says so. No history is rewritten.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from apps.leases.held import Held as Lease
from apps.memories.ledger import (
    Arrive,
    Baggage,
    Change,
    Committed,
    Deed,
    Delete,
    Depart,
    IfExists,
    Part,
    close_operation,
    commit_parts,
    open_operation,
)
from apps.memories.models import LogicalOperation, Memory, Resource, Scope, Status
from apps.memories.scopes import project_scope
from apps.memory_git.committing.gathering import held_by
from apps.memory_git.committing.outbox import waiting
from apps.memory_git.committing.passes import commit_root
from apps.memory_git.deeds import note
from apps.memory_git.errors import CommitUnknown, UnderOwnCommit
from apps.memory_git.leasing import all_scopes, whole
from apps.memory_git.models import DocumentVersion, GitCommit, GitDeed, MemoryRepository
from apps.memory_git.repository.objects import Staging
from apps.memory_git.repository.opening import commit_object, reading
from apps.memory_git.restoring.versions import RestoreVersion, by_git
from apps.memory_git.trees.documents import Document, LeftOut, Tree, validated
from apps.memory_git.trees.problems import unsafe
from apps.operations.caller import Caller
from apps.profiles.models import Profile
from apps.workspaces.models import Project

BATCH = 50
CHUNK = 500
NAME = "memory_snapshot_restore"


def run(deed: GitDeed) -> dict[str, Any]:
    """Bring a repository's documents back to a commit."""
    repository = deed.repository
    row = GitCommit.objects.filter(repository=repository, sha=deed.arguments["commit"]).first()
    if repository is None or row is None:
        raise CommitUnknown(commit=deed.arguments["commit"])
    scope_keys = [repository.scope_key] if repository.scope_key else all_scopes()
    with whole(scope_keys, work="snapshot restore") as held:
        catch_up(repository)
        with reading(repository) as (objects, repo):
            tree = bytes(commit_object(repo, row.sha).tree)
            target = validated(objects.store, tree, scope_key=repository.scope_key, strict=False)
            refuse_to_lose(repository, target.left_out)
            done = _restore(deed, repository, row, target, objects, held)
    commit_root(repository.root)
    repository.refresh_from_db(fields=["head"])
    return {**done, "commit": repository.head, "restored_from": row.sha}


def catch_up(repository: MemoryRepository) -> None:
    """Everything acknowledged has its commit first. Raises ``UnderOwnCommit`` where something holds that up."""
    while commit_root(repository.root):
        pass
    if count := waiting().filter(root=repository.root).count():
        raise UnderOwnCommit(count=count)


def refuse_to_lose(repository: MemoryRepository, left_out: Sequence[LeftOut]) -> None:
    """What lies there out of order is left alone; a document of ours among it would be deleted instead of restored.

    Raises ``UnsafeTree``, with the first of those.
    """
    for start in range(0, len(left_out), CHUNK):
        blobs = {one.blob.decode(): one for one in left_out[start : start + CHUNK]}
        versions = DocumentVersion.objects.filter(repository=repository, blob__in=list(blobs)).order_by("pk")
        ids = dict(versions.values_list("stable_id", "blob"))
        known = Memory.objects.filter(stable_id__in=list(ids)).values_list("stable_id", flat=True).first()
        if known is not None:
            lost = blobs[ids[known]]
            raise unsafe(lost.problem, lost.path)


@dataclass
class Counts:
    restored: int = 0
    deleted: int = 0
    unchanged: int = 0
    skipped: list[str] = field(default_factory=list)  # Scopes of workspaces and spaces that are no more.


def _restore(
    deed: GitDeed,
    repository: MemoryRepository,
    row: GitCommit,
    target: Tree,
    objects: Staging,
    held: Sequence[Lease],
) -> dict[str, Any]:
    counts = Counts()
    kept = _of_living_scopes(target.documents, counts)
    caller = by_git(Caller.for_job(deed))
    operation = _operation(deed, caller, row)
    gone = _to_delete(repository, {document.stable_id for document in target.documents}, counts.skipped)
    changed = list(_to_restore(repository, kept, counts))
    note(deed, done=0, total=len(gone) + len(changed), operation=operation.pk)
    reason = operation.reason

    terms = Deed(NAME, reason=reason, operation=operation, held=held, reviewed=True)

    def commit(parts: list[Part]) -> list[Committed]:
        return commit_parts(caller, parts, terms)

    for scope_key, ids in _in_batches((memory.scope_id, memory.stable_id) for memory in gone):
        commit([Part(scope_key, [Delete(memory_id=key, any_resource=True, reason=reason) for key in ids])])
        counts.deleted += len(ids)
        note(deed, done=deed.done + len(ids))
    for scope_key, documents in _in_batches((document.scope_key, document) for document in changed):
        here, elsewhere = _by_home(documents)
        for memory, document in elsewhere:
            commit(_moving(memory, document))
        changes: list[Change] = [
            _change(document, objects, reason) for document in [*here, *(d for _m, d in elsewhere)]
        ]
        moved = {document.stable_id for _memory, document in elsewhere}
        outcomes = commit([Part(scope_key, changes)])[0].outcomes
        restored = sum(outcome.changed or outcome.memory.stable_id in moved for outcome in outcomes)
        counts.restored += restored
        counts.unchanged += len(documents) - restored  # In what the ledger itself writes, such as the revision.
        note(deed, done=deed.done + len(documents))
    close_operation(operation)
    return {
        "restored": counts.restored,
        "deleted": counts.deleted,
        "unchanged": counts.unchanged,
        "skipped_scopes": counts.skipped,
    }


def _operation(deed: GitDeed, caller: Caller, row: GitCommit) -> LogicalOperation:
    """The one logical operation of it; an attempt that was killed left it open."""
    if found := LogicalOperation.objects.filter(pk=deed.journal.get("operation", ""), state="open").first():
        return found
    reason = f"Snapshot of commit {row.sha[:12]}. {deed.arguments.get('reason', '')}".strip()
    return open_operation(caller, NAME, reason, job_id=deed.pk)


def _of_living_scopes(documents: Iterable[Document], counts: Counts) -> list[Document]:
    """A deleted workspace does not come back by its documents."""
    alive: dict[str, bool] = {}
    kept = []
    for document in documents:
        if document.scope_key not in alive:
            alive[document.scope_key] = is_alive(document.scope_key)
            if not alive[document.scope_key]:
                counts.skipped.append(document.scope_key)
        if alive[document.scope_key]:
            kept.append(document)
    return kept


def is_alive(scope_key: str) -> bool:
    kind, _slash, name = scope_key.partition("/")
    if kind == "project":
        return Project.objects.filter(pk=name, deleted_at=None).exists()
    if kind == "global":
        return Profile.objects.filter(pk=name).exists()
    return Scope.objects.filter(pk=scope_key).exists()


def _to_delete(repository: MemoryRepository, wanted: set[str], skipped: Sequence[str]) -> list[Memory]:
    """What lies there now and did not then."""
    found = would_go(repository, skipped).order_by("scope", "pk").only("stable_id", "scope")
    return [memory for memory in found if memory.stable_id not in wanted]


def would_go(repository: MemoryRepository, skipped: Sequence[str]) -> QuerySet[Memory]:
    """What a snapshot that lacks it deletes. What Git was never given (a secret) stays out of this too."""
    rows = Memory.objects.exclude(status=Status.DELETED).filter(withheld=False).exclude(scope__in=skipped)
    if repository.scope_key:
        rows = rows.filter(scope=repository.scope_key)
    ended = [project_scope(pk) for pk in Project.objects.exclude(deleted_at=None).values_list("pk", flat=True)]
    return rows.exclude(scope__in=ended)


def _to_restore(repository: MemoryRepository, documents: Sequence[Document], counts: Counts) -> Iterable[Document]:
    """Documents that the newest commit holds otherwise, or not at all."""
    known = held_by(repository, [document.stable_id for document in documents])
    for document in documents:
        now = known.get(document.stable_id)
        lies = now and (now.scope_key, now.path, now.blob) == (
            document.scope_key,
            document.path,
            document.blob.decode(),
        )
        if lies:
            counts.unchanged += 1
        else:
            yield document


def _by_home(documents: Sequence[Document]) -> tuple[list[Document], list[tuple[Memory, Document]]]:
    """Those that live in their scope or nowhere, and those that live in another one today."""
    rows = Memory.objects.filter(stable_id__in=[document.stable_id for document in documents])
    homes = {memory.stable_id: memory for memory in rows}
    here = [d for d in documents if d.stable_id not in homes or homes[d.stable_id].scope_id == d.scope_key]
    elsewhere = [(homes[d.stable_id], d) for d in documents if d not in here]
    return here, elsewhere


def _moving(memory: Memory, document: Document) -> list[Part]:
    baggage = Baggage()
    leaving = Depart(memory_id=memory.stable_id, revision=None, baggage=baggage, as_part_of_all=True)
    return [
        Part(memory.scope_id, [leaving]),
        Part(document.scope_key, [Arrive(baggage=baggage, if_exists=IfExists.NEW)]),
    ]


def _change(document: Document, objects: Staging, reason: str) -> RestoreVersion:
    return RestoreVersion(
        memory_id=document.stable_id,
        document=objects.content(document.blob),
        path=document.path,
        resource=Resource(document.resource),
        reason=reason,
        as_snapshot=True,
    )


def _in_batches(items: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, list[Any]]]:
    """By scope, a bounded number at a time: a batch is a transaction."""
    scope_key, batch = "", list[Any]()
    for key, item in items:
        if batch and (key != scope_key or len(batch) >= BATCH):
            yield scope_key, batch
            batch = []
        scope_key = key
        batch.append(item)
    if batch:
        yield scope_key, batch

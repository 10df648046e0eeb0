"""Restoring one document and everything of a repository; making, packing and purging repositories."""

from apps.base.bells import hurry
from apps.base.transactions import outside_transactions
from apps.leases.services import slot
from apps.memories import ledger
from apps.memories.doors import memory_for, scope_for
from apps.memories.errors import MemoryUnknown
from apps.memories.ledger import Change, Create, Deed, IfExists, Within
from apps.memories.ledger.heads import refuse_if_put_away
from apps.memories.models import Resource
from apps.memories.schemas import AnyRevision, ProjectRef, Reason, RequestId, SavedOut, ScopeRef
from apps.memories.services.deeds import first_saved, once, saved
from apps.memory_git.deeds import SLOT, start
from apps.memory_git.errors import GitAtWork, NotArchived, RepositoryArchived
from apps.memory_git.models import MemoryRepository
from apps.memory_git.repository.repositories import ensure
from apps.memory_git.repository.roots import root_of
from apps.memory_git.restoring.previewing import preview_of
from apps.memory_git.restoring.versions import ACTION, RestoreVersion, by_git
from apps.memory_git.schemas import (
    CommitRef,
    GitDeedOut,
    NewRepositoryScope,
    RepositoryId,
    RepositoryOrAll,
    RepositoryOut,
    ResourceId,
    SnapshotPreview,
)
from apps.memory_git.selectors.commits import commit_for
from apps.memory_git.selectors.jobs import deed_out
from apps.memory_git.selectors.repositories import repository_for, repository_out
from apps.memory_git.selectors.versions import version_for
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature
from apps.operations.operation import Effect, operation


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES, feature=Feature.MEMORY_GIT)
def memory_version_restore(
    caller: Caller,
    *,
    resource_id: ResourceId,
    commit: CommitRef,
    repository_id: RepositoryOrAll = "",
    revision: AnyRevision = 0,
    to_scope: ScopeRef = "",
    to_project_id: ProjectRef = "",
    reason: Reason = "",
    request_id: RequestId = "",
) -> SavedOut:
    """Bring a document back as a commit holds it: a new revision with a commit of its own, history stays as it is.

    A deleted one lies there again. With to_scope or to_project_id it becomes a new memory there: for what a deleted
    workspace held.
    """
    version, row, document = version_for(caller, resource_id, commit, repository_id)
    told = f"From commit {row.sha[:12]}. {reason}".strip()
    change: Change
    if to_scope or to_project_id:
        scope_key = scope_for(caller, to_scope, to_project_id)
        change = Create(title=version.title, document=document, if_exists=IfExists.REFUSE, action=ACTION, reason=told)
    else:
        scope_key = _home(caller, version.stable_id, version.scope_key)
        change = RestoreVersion(
            memory_id=version.stable_id,
            document=document,
            path=version.path,
            resource=Resource(version.resource),
            revision=revision or None,
            reason=told,
        )
    refuse_if_put_away(scope_key)

    def do(within: Within | None) -> SavedOut:
        deed = Deed("memory_version_restore", reason=told, within=within)
        done = ledger.commit(by_git(caller), scope_key, [change], deed)
        return saved(done.outcomes[0])

    arguments = {"resource_id": version.stable_id, "commit": row.sha, "scope": scope_key, "revision": revision}
    return once(caller, "memory_version_restore", request_id, arguments, SavedOut, do, first_saved)


@operation(needs=Right.ADMINISTER, answers=SnapshotPreview)
def memory_snapshot_preview(caller: Caller, *, repository_id: RepositoryId, commit: CommitRef) -> SnapshotPreview:
    """Read what memory_snapshot_restore would do: which documents would be changed, brought back, archived or deleted."""
    repository = _usable(caller, repository_id)
    return preview_of(repository, commit_for(caller, commit, repository.pk))


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.CHANGES, feature=Feature.MEMORY_GIT)
def memory_snapshot_restore(
    caller: Caller, *, repository_id: RepositoryId, commit: CommitRef, reason: Reason = ""
) -> GitDeedOut:
    """Bring everything of a repository back as a commit holds it: new revisions and one new commit, no history is rewritten.

    While it lasts, writes to its range are answered SCOPE_BUSY. The tree is checked whole before anything changes.
    memory_snapshot_preview tells before what becomes of which document. The answer is a job: git_job_get tells how far it is.
    """
    repository = _usable(caller, repository_id)
    row = commit_for(caller, commit, repository.pk)
    return deed_out(start(caller, "snapshot", {"commit": row.sha, "reason": reason}, repository=repository))


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.DESTROYS)
def memory_repository_archive_purge(caller: Caller, *, repository_id: RepositoryId) -> GitDeedOut:
    """Remove the Git history of a deleted workspace for good. Nothing brings it back; the database's revisions stay."""
    repository = repository_for(caller, repository_id)
    if repository.archived_at is None:
        raise NotArchived(repository_id=repository_id)
    return deed_out(start(caller, "purge", {"name": repository.name}, repository=repository))


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.CHANGES, feature=Feature.MEMORY_GIT)
def memory_repository_maintain(caller: Caller, *, repository_id: RepositoryId) -> GitDeedOut:
    """Pack a repository now, which makes it small and quick. The server does so by itself from time to time."""
    return deed_out(start(caller, "maintenance", {}, repository=_usable(caller, repository_id)))


@operation(
    needs=Right.ADMINISTER, answers=RepositoryOut, effect=Effect.ADDS, repeatable=True, feature=Feature.MEMORY_GIT
)
@outside_transactions
def memory_repository_create(
    caller: Caller, *, scope: NewRepositoryScope = "", project_id: ProjectRef = ""
) -> RepositoryOut:
    """Make sure that a scope has its local repository, and commit what waits for it. Scopes get theirs by themselves too."""
    scope_key = scope_for(caller, scope, project_id)
    with slot(SLOT) as held:
        if held is None:
            raise GitAtWork()
        strategy = chosen().strategy  # Only the holder of the slot changes it.
        repository = ensure(root_of(strategy, scope_key), strategy, scope_key)
    hurry()
    return repository_out(repository)


def _usable(caller: Caller, repository_id: str) -> MemoryRepository:
    repository = repository_for(caller, repository_id)
    if repository.archived_at is not None:
        raise RepositoryArchived(repository_id=repository_id)
    return repository


def _home(caller: Caller, stable_id: str, scope_key: str) -> str:
    """The scope the document lives in today; where it lived then, if no row knows it."""
    try:
        return memory_for(caller, stable_id, deleted=True).scope_id
    except MemoryUnknown:
        return scope_key

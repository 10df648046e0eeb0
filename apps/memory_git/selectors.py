"""Memory Git as callers read it: settings, repositories, history, differences and versions. Reading goes on while it is off."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from dulwich.objects import Commit
from dulwich.repo import Repo

from apps.base.days import bound
from apps.base.paging import cursor_of, position_of
from apps.memories import documents
from apps.memories.doors import memory_for, scope_for, visible_scopes
from apps.memories.errors import MemoryUnknown
from apps.memories.models import Scope
from apps.memories.schemas import ProjectRef, ScopeRef
from apps.memories.scopes import may_see
from apps.memory_git import local
from apps.memory_git.committing import sound, waiting
from apps.memory_git.comparing import Shown, Wanted, described
from apps.memory_git.errors import CommitUnknown, DeedUnknown, RepositoryUnknown, VersionUnknown
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    GitCommit,
    GitDeed,
    MemoryRepository,
    RepositoryStatus,
)
from apps.memory_git.objects import Staging
from apps.memory_git.remotes.failures import known_failure
from apps.memory_git.repositories import folder_of
from apps.memory_git.roots import prefix_in, scope_of_path
from apps.memory_git.schemas import (
    CommitItem,
    CommitListOut,
    CommitOrNewest,
    CommitOut,
    CommitRef,
    DeedRef,
    FileDifference,
    GitDeedOut,
    GitSettingsOut,
    KindFilter,
    OperatorFilter,
    OriginFilter,
    RepositoryDiffOut,
    RepositoryId,
    RepositoryListOut,
    RepositoryOrAll,
    RepositoryOut,
    RepositoryStatusOut,
    ResourceId,
    ResourceOrAll,
    Since,
    Until,
    VersionOut,
)
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.operations.words import Cursor, PageLimit

UNFINISHED = (GitDeed.State.WAITING, GitDeed.State.RUNNING)
SHOWN_JOBS = 20
Worktree = Literal["clean", "uncommitted", "outside_changes", "none"]


@operation(needs=Right.READ, answers=GitSettingsOut)
def git_settings_get(caller: Caller) -> GitSettingsOut:
    """Read whether Memory Git is on, its strategy, and who its commits are by."""
    return settings_out()


@operation(needs=Right.READ, answers=RepositoryListOut)
def memory_repository_list(caller: Caller) -> RepositoryListOut:
    """List the local memory repositories, those of deleted workspaces too."""
    row = chosen()
    rows = MemoryRepository.objects.order_by("archived_at", "name", "pk")
    return RepositoryListOut(
        enabled=row.enabled,
        strategy=row.strategy,
        repositories=repositories_out([found for found in rows if sees(caller, found)]),
    )


@operation(needs=Right.READ, answers=RepositoryStatusOut)
def memory_repository_status(caller: Caller, *, repository_id: RepositoryOrAll = "") -> RepositoryStatusOut:
    """Say how Memory Git is: what waits to be committed or pushed, what is red, which jobs run.

    The state is disabled where it is not switched on; that is no fault.
    """
    row = chosen()
    rows = [repository_for(caller, repository_id)] if repository_id else list(MemoryRepository.objects.order_by("name"))
    shown = [found for found in rows if sees(caller, found) and (repository_id or found.archived_at is None)]
    jobs = waiting() if caller.administers else waiting().none()
    if repository_id:
        jobs = waiting().filter(root=shown[0].root)
    deeds = GitDeed.objects.order_by("-created_at") if caller.administers else GitDeed.objects.none()
    return RepositoryStatusOut(
        state=_state(row.enabled, shown),
        enabled=row.enabled,
        strategy=row.strategy,
        preparing=settings_out().preparing,
        waiting=jobs.count(),
        oldest_waiting_at=jobs.order_by("created_at").values_list("created_at", flat=True).first(),
        repositories=repositories_out(shown),
        jobs=[deed_out(deed) for deed in deeds[:SHOWN_JOBS]],
    )


@operation(needs=Right.READ, answers=GitDeedOut)
def git_job_get(caller: Caller, *, job_id: DeedRef) -> GitDeedOut:
    """Say how far a Git job is and what came of it."""
    deed = GitDeed.objects.filter(pk=job_id).first()
    if deed is None or not caller.administers:
        raise DeedUnknown(job_id=job_id)
    return deed_out(deed)


@operation(needs=Right.READ, answers=CommitListOut)
def memory_repository_history(
    caller: Caller,
    *,
    repository_id: RepositoryOrAll = "",
    scope: ScopeRef = "",
    project_id: ProjectRef = "",
    resource_id: ResourceOrAll = "",
    operator: OperatorFilter = "",
    origin: OriginFilter = "",
    kind: KindFilter = "",
    since: Since = "",
    until: Until = "",
    limit: PageLimit = 50,
    cursor: Cursor = "",
) -> CommitListOut:
    """List commits, the newest first: of everything, a workspace, one document, one person, one kind of operation, some time."""
    asked = _source(caller, repository_id, scope, project_id, resource_id)
    asked.narrow(actor=operator, origin=origin, name=kind, at__gte=bound(since, caller.zone, "since"))
    asked.narrow(at__lte=bound(until, caller.zone, "until", end=True))
    if cursor:
        asked.after(*position_of(cursor, str, int))
    found = asked.page(limit + 1)
    last = found[limit - 1][0] if len(found) > limit else None
    page = found[:limit]
    scopes = _scopes_of(caller, [row for row, _version in page])
    return CommitListOut(
        commits=[CommitItem(**_commit(row, scopes[row.pk], version)) for row, version in page],
        next_cursor=cursor_of(last.at.isoformat(), last.pk) if last else "",
    )


@operation(needs=Right.READ, answers=CommitOut)
def memory_repository_commit_get(
    caller: Caller, *, commit: CommitRef, resource_id: ResourceOrAll = "", repository_id: RepositoryOrAll = ""
) -> CommitOut:
    """Read one commit with what it changed; with resource_id only that document's difference."""
    row = commit_for(caller, commit, repository_id)
    repository = row.repository
    stable_id = _stable_id(caller, resource_id) if resource_id else ""
    with reading(repository) as (objects, repo):
        made = commit_object(repo, row.sha)
        parent = made.parents[0].decode() if made.parents else ""
        old = bytes(commit_object(repo, parent).tree) if parent else None
        places = _places(repository, stable_id, row.position) if stable_id else None
        files, more = described(objects, old, bytes(made.tree), _wanted(caller, repository), places)
    scopes = _scopes_of(caller, [row])[row.pk]
    sees_all = len(scopes) == CommitScope.objects.filter(commit=row).count()
    return CommitOut(
        **_commit(row, scopes, None),
        parent=parent,
        message=made.message.decode("utf-8", "replace") if sees_all else row.subject,
        files=[_file(found) for found in files],
        more_files=more,
    )


@operation(needs=Right.READ, answers=RepositoryDiffOut)
def memory_repository_diff(
    caller: Caller,
    *,
    repository_id: RepositoryId,
    from_commit: CommitRef,
    to_commit: CommitOrNewest = "",
    resource_id: ResourceOrAll = "",
) -> RepositoryDiffOut:
    """Show what changed between two commits of a repository, or from one up to now; with resource_id of one document only."""
    repository = repository_for(caller, repository_id)
    older = commit_for(caller, from_commit, repository.pk)
    newer = commit_for(caller, to_commit, repository.pk) if to_commit not in ("", "current") else newest(repository)
    stable_id = _stable_id(caller, resource_id) if resource_id else ""
    with reading(repository) as (objects, repo):
        trees = [bytes(commit_object(repo, row.sha).tree) for row in (older, newer)]
        places = _places(repository, stable_id, max(older.position, newer.position)) if stable_id else None
        files, more = described(objects, trees[0], trees[1], _wanted(caller, repository), places)
    return RepositoryDiffOut(
        repository_id=repository.pk,
        from_commit=older.sha,
        to_commit=newer.sha,
        files=[_file(found) for found in files],
        more_files=more,
    )


@operation(needs=Right.READ, answers=VersionOut)
def memory_version_get(
    caller: Caller, *, resource_id: ResourceId, commit: CommitRef, repository_id: RepositoryOrAll = ""
) -> VersionOut:
    """Read a memory, checkpoint or curated document as it was at a commit."""
    version, row, document = version_for(caller, resource_id, commit, repository_id)
    said = documents.read_facts(document, fallback_title=version.title)
    return VersionOut(
        resource_id=version.stable_id,
        commit=row.sha,
        repository_id=row.repository_id,
        resource=version.resource,
        scope=version.scope_key,
        path=version.path,
        revision=version.revision,
        title=said.title,
        kind=said.kind,
        note_type=said.note_type,
        summary=said.summary,
        tags=list(said.tags),
        body=documents.body_text(document),
        document=document.decode("utf-8", "replace"),
        at=version.at,
    )


# Doors.


def repository_for(caller: Caller, repository_id: str) -> MemoryRepository:
    """The only door to a repository. Raises ``RepositoryUnknown`` where the caller may not see its scope."""
    found = MemoryRepository.objects.filter(pk=repository_id).first()
    if found is None or not sees(caller, found):
        raise RepositoryUnknown(repository_id=repository_id)
    return found


def sees(caller: Caller, repository: MemoryRepository) -> bool:
    """The one that holds everything is everybody's; of what it holds, each sees their own scopes."""
    return not repository.scope_key or may_see(caller, repository.scope_key)


def commit_for(caller: Caller, commit: str, repository_id: str = "") -> GitCommit:
    """The only door to a commit, by the beginning of its id. Raises ``CommitUnknown``, also where several begin so."""
    # What begins so lies between it and the next that could: a range has an index, a pattern has none.
    found = _visible(caller).filter(sha__gte=commit, sha__lt=f"{commit}g").select_related("repository")
    if repository_id:
        found = found.filter(repository=repository_for(caller, repository_id))
    rows = list(found[:2])
    if len(rows) != 1:
        raise CommitUnknown(commit=commit)
    return rows[0]


def newest(repository: MemoryRepository) -> GitCommit:
    row = GitCommit.objects.filter(repository=repository, listed=True).order_by("-position").first()
    if row is None:
        raise CommitUnknown(commit="current")
    return row


def version_for(
    caller: Caller, resource_id: str, commit: str, repository_id: str = ""
) -> tuple[DocumentVersion, GitCommit, bytes]:
    """A document as a commit holds it: its row, the commit's, and the bytes. Raises ``VersionUnknown``."""
    row = commit_for(caller, commit, repository_id)
    stable_id = _stable_id(caller, resource_id)
    versions = DocumentVersion.objects.filter(repository=row.repository, stable_id=stable_id)
    versions = versions.filter(commit__position__lte=row.position, scope_key__in=visible_scopes(caller))
    found = versions.exclude(change=DocumentVersion.WITHHELD).order_by("-commit__position", "-pk").first()
    if found is None or not found.blob:
        raise VersionUnknown(resource_id=resource_id, commit=commit)
    with reading(row.repository) as (objects, _repo):
        return found, row, objects.content(found.blob.encode())


@contextmanager
def reading(repository: MemoryRepository) -> Iterator[tuple[Staging, Repo]]:
    with sound(repository), local.opened(folder_of(repository)) as repo:
        yield local.staging(repo), repo


def commit_object(repo: Repo, sha: str) -> Commit:
    found = repo[sha.encode()]
    assert isinstance(found, Commit)  # noqa: S101 - rows name commits
    return found


# History.


@dataclass
class Source:
    """Where commits are looked up: by themselves, by a scope or by a document; each has an index in the order asked for."""

    rows: QuerySet[Any]
    prefix: str

    def narrow(self, **wanted: object) -> None:
        asked = {name: value for name, value in wanted.items() if value}
        times = {name: value for name, value in asked.items() if name.startswith("at__")}
        others = {f"{self.prefix}{name}": value for name, value in asked.items() if name not in times}
        self.rows = self.rows.filter(**times, **others)

    def after(self, at: str, pk: int) -> None:
        moment = datetime.fromisoformat(at)
        self.rows = self.rows.filter(Q(at__lt=moment) | Q(at=moment, **{f"{self._key}__lt": pk}))

    def page(self, count: int) -> list[tuple[GitCommit, DocumentVersion | None]]:
        rows = self.rows.order_by("-at", f"-{self._key}")
        if not self.prefix:
            return [(row, None) for row in rows[:count]]
        return [
            (row.commit, row if isinstance(row, DocumentVersion) else None)
            for row in rows.select_related("commit")[:count]
        ]

    @property
    def _key(self) -> str:
        return "commit_id" if self.prefix else "id"


def _source(caller: Caller, repository_id: str, scope: str, project_id: str, resource_id: str) -> Source:
    scope_key = scope_for(caller, scope, project_id) if scope or project_id else ""
    if resource_id:
        rows = DocumentVersion.objects.filter(stable_id=_stable_id(caller, resource_id))
        scopes = [scope_key] if scope_key else visible_scopes(caller)
        source = Source(rows.filter(scope_key__in=scopes), "commit__")
    elif scope_key:
        source = Source(CommitScope.objects.filter(scope_key=scope_key), "commit__")
    else:
        source = Source(_visible(caller), "")
    source.rows = source.rows.filter(**{f"{source.prefix}listed": True})
    if repository_id:
        source.narrow(repository=repository_for(caller, repository_id))
    return source


def _visible(caller: Caller) -> QuerySet[GitCommit]:
    """Commits that touched a scope the caller may see; whoever sees everything sees those without a scope too."""
    rows = GitCommit.objects.filter(listed=True)
    if caller.administers and caller.project_id is None:
        return rows
    touched = CommitScope.objects.filter(commit=OuterRef("pk"), scope_key__in=visible_scopes(caller))
    return rows.filter(Exists(touched))


def _scopes_of(caller: Caller, commits: Sequence[GitCommit]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for commit_id, scope_key in (
        CommitScope.objects.filter(commit__in=[row.pk for row in commits])
        .order_by("scope_key")
        .values_list("commit_id", "scope_key")
    ):
        if may_see(caller, scope_key):
            found[commit_id].append(scope_key)
    return found


def _stable_id(caller: Caller, reference: str) -> str:
    """The id a reference means; also of a document that only history knows."""
    try:
        return memory_for(caller, reference, deleted=True).stable_id
    except MemoryUnknown:
        if DocumentVersion.objects.filter(stable_id=reference, scope_key__in=visible_scopes(caller)).exists():
            return reference
        raise


def _places(repository: MemoryRepository, stable_id: str, position: int) -> set[str]:
    """Every path the document had in the repository up to a commit."""
    rows = DocumentVersion.objects.filter(repository=repository, stable_id=stable_id)
    found = rows.filter(commit__position__lte=position).values_list("scope_key", "path").distinct()
    return {f"{prefix_in(repository.root, scope_key)}{path}" for scope_key, path in found}


def _wanted(caller: Caller, repository: MemoryRepository) -> Wanted:
    def wanted(path: str) -> bool:
        scope_key = repository.scope_key or scope_of_path(path)
        return not scope_key or may_see(caller, scope_key)

    return wanted


# Shapes.


def settings_out() -> GitSettingsOut:
    row = chosen()
    deed = GitDeed.objects.filter(kind="baseline").order_by("-created_at").first()
    failed = deed is not None and deed.state == GitDeed.State.FAILED
    return GitSettingsOut(
        enabled=row.enabled,
        strategy=row.strategy,
        branch=row.branch,
        author_name=row.author_name,
        author_email=row.author_email,
        preparing=bool(row.enabled and deed and deed.state in UNFINISHED),
        problem=deed.error if deed and row.enabled and (failed or deed.error) and deed.state != "completed" else "",
        enabled_at=row.enabled_at,
        updated_at=row.updated_at if row.revision else None,
        updated_by=row.updated_by,
    )


def told_error(row: MemoryRepository) -> str:
    """What is wrong, in the reader's language where it is about the remote."""
    failure = known_failure(row.error_code, {"url": row.remote_url})
    return str(failure) if failure is not None and "{" not in str(failure) else row.error


def repository_out(row: MemoryRepository) -> RepositoryOut:
    return repositories_out([row])[0]


def repositories_out(rows: Sequence[MemoryRepository]) -> list[RepositoryOut]:
    counted = waiting().order_by().values_list("root").annotate(count=Count("pk"))
    waits: dict[str, int] = dict(counted.filter(root__in=[row.root for row in rows])) if rows else {}
    edited = list(Scope.objects.filter(outside_pending=True).values_list("key", flat=True))
    return [_repository(row, waits.get(row.root, 0), edited) for row in rows]


def _repository(row: MemoryRepository, waits: int, edited: Collection[str]) -> RepositoryOut:
    waits = waits if row.archived_at is None else 0
    worktree: Worktree = "uncommitted" if waits else "clean"
    if any(row.scope_key in ("", scope_key) for scope_key in edited):
        worktree = "outside_changes"
    return RepositoryOut(
        repository_id=row.pk,
        name=row.name,
        mode=row.mode,
        scope=row.scope_key,
        root=row.root,
        branch=row.branch,
        status=row.status,
        error_code=row.error_code,
        error=told_error(row),
        commit=row.head,
        commits=row.position,
        waiting=waits,
        worktree=worktree if row.archived_at is None else "none",
        remote_url=row.remote_url,
        push_to_create=row.push_to_create,
        pushed_commit=row.pushed_commit,
        pushed_at=row.pushed_at,
        behind=row.behind,
        remote_reachable=row.remote_reachable,
        created_at=row.created_at,
        archived_at=row.archived_at,
    )


def deed_out(deed: GitDeed) -> GitDeedOut:
    return GitDeedOut(
        job_id=deed.pk,
        kind=deed.kind,
        state=deed.state,
        repository_id=deed.repository_id or "",
        done=deed.done,
        total=deed.total,
        result=deed.result,
        error_code=deed.error_code,
        error=deed.error,
        created_at=deed.created_at,
        finished_at=deed.finished_at,
    )


def _state(enabled: bool, repositories: Sequence[MemoryRepository]) -> str:
    if not enabled:
        return "disabled"
    red = [row.status for row in repositories if row.status != RepositoryStatus.READY]
    return red[0] if red else RepositoryStatus.READY.value


def _commit(row: GitCommit, scopes: Sequence[str], version: DocumentVersion | None) -> dict[str, Any]:
    return {
        "commit": row.sha,
        "repository_id": row.repository_id,
        "operation_id": row.operation_id,
        "kind": row.name,
        "subject": row.subject,
        "operator": row.actor,
        "origin": row.origin,
        "job_id": row.job_id,
        "scopes": list(scopes),
        "changes": row.changes,
        "change": version.change if version else "",
        "path": version.path if version else "",
        "revision": version.revision if version else 0,
        "at": row.at,
    }


def _file(shown: Shown) -> FileDifference:
    return FileDifference(
        path=shown.changed.path,
        resource_id=shown.stable_id,
        change=shown.changed.change,
        added=shown.added,
        removed=shown.removed,
        difference=shown.difference,
        truncated=shown.truncated,
    )

"""The rows of commits, written when the branch points to them. History is answered from here, never by walking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db.models import F
from dulwich.objects import Commit

from apps.base import clock
from apps.base.rows import insert_rows
from apps.base.text import clean_line
from apps.base.transactions import short_transaction
from apps.memory_git.committing.gathering import Deed
from apps.memory_git.committing.wording import operation_in
from apps.memory_git.models import CommitScope, DocumentVersion, GitCommit, GitSyncJob, JobState, MemoryRepository

CHUNK = 1000
FOREIGN = "outside_commit"


@dataclass
class Entered:
    """One commit on its way into rows."""

    sha: str
    operation_id: str
    name: str
    actor: str
    origin: str
    profile: str
    job_id: str
    subject: str
    at: datetime
    scopes: Sequence[str] = ()
    closing_number: int = 0
    sync_job: int | None = None
    versions: list[DocumentVersion] = field(default_factory=list)

    @classmethod
    def of(cls, deed: Deed, versions: list[DocumentVersion], subject: str, sha: str) -> "Entered":
        operation = deed.operation
        return cls(
            sha=sha,
            operation_id=operation.pk,
            name=operation.name,
            actor=operation.actor,
            origin=operation.origin,
            profile=operation.profile,
            job_id=operation.job_id,
            subject=subject,
            at=deed.at,
            scopes=sorted({*deed.scopes, *(version.scope_key for version in versions)}),
            closing_number=operation.closing_number or 0,
            sync_job=deed.job.pk if deed.job else None,
            versions=versions,
        )

    @classmethod
    def of_foreign(cls, commit: Commit) -> "Entered":
        """Somebody committed here with a Git of their own."""
        who = commit.author.decode("utf-8", "replace").partition(" <")[0]
        first = commit.message.decode("utf-8", "replace").partition("\n")[0]
        return cls(
            sha=commit.id.decode(),
            operation_id=operation_in(commit.message)[:40],
            name=FOREIGN,
            actor=clean_line(who)[:120],
            origin="external",
            profile="",
            job_id="",
            subject=clean_line(first)[:200],
            at=datetime.fromtimestamp(commit.commit_time, UTC),
        )


def enter(repository: MemoryRepository, entered: Sequence[Entered], objects: int, settled: Mapping[int, str]) -> None:
    """Everything in one short transaction."""
    with short_transaction():
        commits = _commits(repository, entered)
        _documents(commits, entered)
        _conclude(repository, entered, objects, settled)


def enter_large(
    repository: MemoryRepository, entered: Sequence[Entered], objects: int, settled: Mapping[int, str]
) -> None:
    """Many documents, some at a time, so that saves wait for none of it. The commits count when all of it is there."""
    GitCommit.objects.filter(repository=repository, listed=False).delete()  # Of a pass that was killed.
    with short_transaction():
        commits = _commits(repository, entered, listed=False)
    for commit, entry in zip(commits, entered, strict=True):
        for start in range(0, len(entry.versions), CHUNK):
            with short_transaction():
                _insert(commit, entry.versions[start : start + CHUNK])
    with short_transaction():
        GitCommit.objects.filter(repository=repository, listed=False).update(listed=True)
        _conclude(repository, entered, objects, settled)


def _commits(repository: MemoryRepository, entered: Sequence[Entered], *, listed: bool = True) -> list[GitCommit]:
    commits = [
        GitCommit(
            repository=repository,
            sha=entry.sha,
            position=repository.position + place,
            operation_id=entry.operation_id,
            name=entry.name,
            actor=entry.actor,
            origin=entry.origin,
            profile=entry.profile,
            job_id=entry.job_id,
            subject=entry.subject,
            changes=len(entry.versions),
            listed=listed,
            at=entry.at,
        )
        for place, entry in enumerate(entered, start=1)
    ]
    insert_rows(commits)
    scopes = [
        CommitScope(commit=commit, scope_key=scope_key, at=entry.at)
        for commit, entry in zip(commits, entered, strict=True)
        for scope_key in entry.scopes
    ]
    insert_rows(scopes, keys=False)
    return commits


def _documents(commits: Sequence[GitCommit], entered: Sequence[Entered]) -> None:
    for commit, entry in zip(commits, entered, strict=True):
        _insert(commit, entry.versions)


def _insert(commit: GitCommit, versions: Sequence[DocumentVersion]) -> None:
    for version in versions:
        version.commit, version.repository = commit, commit.repository
    insert_rows(versions, keys=False)


def _conclude(
    repository: MemoryRepository, entered: Sequence[Entered], objects: int, settled: Mapping[int, str]
) -> None:
    """The head moves with the rows, and the outbox says what became of its jobs."""
    if entered:
        repository.head = entered[-1].sha
        repository.position += len(entered)
        repository.closing_number = max(repository.closing_number, *(entry.closing_number for entry in entered))
        MemoryRepository.objects.filter(pk=repository.pk).update(
            head=repository.head,
            position=repository.position,
            closing_number=repository.closing_number,
            loose=F("loose") + objects,
        )
    jobs = {entry.sync_job: entry.sha for entry in entered if entry.sync_job is not None} | dict(settled)
    has_remote = bool(repository.remote_url)
    for job_id, sha in jobs.items():
        GitSyncJob.objects.filter(pk=job_id).update(
            repository=repository,
            state=JobState.PUSHING if has_remote else JobState.COMPLETED,
            commit=sha,
            error_code="",
            next_retry_at=None,
            finished_at=None if has_remote else clock.now(),
        )

"""What an operation changed in one repository: its documents as they ended, against what the repository holds of them.

Nothing is read from the work tree but scope files: revisions hold the very bytes of every document.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection

from apps.memories.models import LogicalOperation, Memory, MemoryRevision, ScopeCommit, Status
from apps.memory_git.models import DocumentVersion, GitSyncJob, MemoryRepository
from apps.memory_git.repository.roots import root_of

CHUNK = 300
GONE = (DocumentVersion.DELETED,)
# One look into the index for each document; a join would read every version that the repository has.
_NEWEST = """
    SELECT stable_id, revision, scope_key, path, change, blob FROM memory_git_documentversion
    WHERE id IN (
        SELECT (
            SELECT id FROM memory_git_documentversion
            WHERE repository_id = %s AND stable_id = asked.column1
            ORDER BY revision DESC, commit_id DESC LIMIT 1
        ) FROM (VALUES {marks}) AS asked
    )
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A document as the repository holds it: of which revision, where; no blob where it is gone or was kept out."""

    revision: int
    scope_key: str
    path: str
    blob: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """A document as an operation left it."""

    memory: int
    stable_id: str
    resource: str
    scope_key: str
    revision: int
    path: str
    status: str
    withheld: bool
    action: str
    title: str

    @property
    def is_gone(self) -> bool:
        return self.status == Status.DELETED


@dataclass
class Deed:
    """One operation and what it changed, in the order of the documents."""

    operation: LogicalOperation
    job: GitSyncJob | None
    scopes: list[str]
    ends: list[End] = field(default_factory=list)

    @property
    def at(self) -> datetime:
        return self.operation.closed_at or self.operation.opened_at


def gather(jobs: Sequence[GitSyncJob], strategy: str, root: str) -> list[Deed]:
    """The operations of some jobs of one root, in closing order."""
    ids = [job.operation_id for job in jobs]
    scopes: dict[str, list[str]] = defaultdict(list)
    rows = ScopeCommit.objects.filter(operation__in=ids).order_by("id").values_list("operation_id", "scope_id")
    for operation_id, scope_key in rows:
        if root_of(strategy, scope_key) == root and scope_key not in scopes[operation_id]:
            scopes[operation_id].append(scope_key)
    ends = _ends(ids)
    return [
        Deed(job.operation, job, scopes[job.operation_id] or _told(job), ends.get(job.operation_id, [])) for job in jobs
    ]


def _told(job: GitSyncJob) -> list[str]:
    """An operation without documents is about a scope itself."""
    return [job.subject_id] if "/" in job.subject_id or job.subject_id == "library" else []


def _ends(operation_ids: Sequence[str]) -> dict[str, list[End]]:
    found: dict[str, dict[int, End]] = defaultdict(dict)
    columns = (
        *("commit__operation_id", "memory_id", "memory__stable_id", "memory__resource", "commit__scope_id", "number"),
        *("path", "status", "withheld", "action", "title"),
    )
    rows = MemoryRevision.objects.filter(commit__operation__in=operation_ids).order_by("number").values_list(*columns)
    for operation_id, memory, *rest in rows.iterator(chunk_size=2000):
        found[operation_id][memory] = End(memory, *rest)
    return {operation_id: list(ends.values()) for operation_id, ends in found.items()}


def current(scope_keys: Iterable[str]) -> Iterable[End]:
    """Every document that lies in some scopes now."""
    rows = Memory.objects.filter(scope__in=list(scope_keys)).exclude(status=Status.DELETED).order_by("scope", "pk")
    columns = ("pk", "stable_id", "resource", "scope_id", "revision", "path", "status", "withheld", "title")
    for row in rows.values_list(*columns).iterator(chunk_size=2000):
        pk, stable_id, resource, scope_key, revision, path, status, withheld, title = row
        yield End(pk, stable_id, resource, scope_key, revision, path, status, withheld, "baseline", title)


def held_by(repository: MemoryRepository, stable_ids: Sequence[str]) -> dict[str, Held]:
    """The newest version of each document that the repository has, deleted ones included."""
    found: dict[str, Held] = {}
    for start in range(0, len(stable_ids), CHUNK):
        part = stable_ids[start : start + CHUNK]
        statement = _NEWEST.format(marks=", ".join(["(%s)"] * len(part)))
        with connection.cursor() as cursor:
            cursor.execute(statement, [repository.pk, *part])
            for stable_id, revision, scope_key, path, change, blob in cursor.fetchall():
                found[stable_id] = Held(revision, scope_key, path, "" if change in GONE else blob)
    return found


def documents_of(ends: Sequence[End]) -> Iterable[tuple[End, bytes]]:
    """Their bytes, a chunk at a time."""
    for start in range(0, len(ends), CHUNK):
        part = ends[start : start + CHUNK]
        marks = ", ".join(["(%s, %s)"] * len(part))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT memory_id, number, document FROM memories_memoryrevision"  # noqa: S608 - marks only
                f" WHERE (memory_id, number) IN (VALUES {marks})",
                [value for end in part for value in (end.memory, end.revision)],
            )
            found = {(memory, number): bytes(document) for memory, number, document in cursor.fetchall()}
        for end in part:
            if (document := found.get((end.memory, end.revision))) is not None:
                yield end, document

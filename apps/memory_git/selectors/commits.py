"""The door to commits, and what is told of one."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from apps.memories.doors import visible_scopes
from apps.memories.scopes import may_see
from apps.memory_git.errors import CommitUnknown
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    GitCommit,
    MemoryRepository,
)
from apps.memory_git.selectors.repositories import repository_for
from apps.operations.caller import Caller


def commit_for(caller: Caller, commit: str, repository_id: str = "") -> GitCommit:
    """The only door to a commit, by the beginning of its id. Raises ``CommitUnknown``, also where several begin so."""
    # What begins so lies between it and the next that could: a range has an index, a pattern has none.
    found = visible(caller).filter(sha__gte=commit, sha__lt=f"{commit}g").select_related("repository")
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


def visible(caller: Caller) -> QuerySet[GitCommit]:
    """Commits that touched a scope the caller may see; whoever sees everything sees those without a scope too."""
    rows = GitCommit.objects.filter(listed=True)
    if caller.administers and caller.project_id is None:
        return rows
    touched = CommitScope.objects.filter(commit=OuterRef("pk"), scope_key__in=visible_scopes(caller))
    return rows.filter(Exists(touched))


def scopes_of(caller: Caller, commits: Sequence[GitCommit]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for commit_id, scope_key in (
        CommitScope.objects.filter(commit__in=[row.pk for row in commits])
        .order_by("scope_key")
        .values_list("commit_id", "scope_key")
    ):
        if may_see(caller, scope_key):
            found[commit_id].append(scope_key)
    return found


def commit_facts(row: GitCommit, scopes: Sequence[str], version: DocumentVersion | None) -> dict[str, Any]:
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

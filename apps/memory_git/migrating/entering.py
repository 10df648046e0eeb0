"""The rows of histories that were made anew. They do not count before the moves are done."""

from collections.abc import Sequence

from apps.base.rows import insert_rows
from apps.base.transactions import short_transaction
from apps.memory_git.migrating.rewriting import Rewritten
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    GitCommit,
    MemoryRepository,
)

CHUNK = 300


def enter(row: MemoryRepository, made: Sequence[Rewritten]) -> None:
    for start in range(0, len(made), CHUNK):
        part = made[start : start + CHUNK]
        commits = [_copied(row, rewritten, start + place) for place, rewritten in enumerate(part, start=1)]
        with short_transaction():
            insert_rows(commits)
            scopes = [
                CommitScope(commit=commit, scope_key=scope_key, at=commit.at)
                for commit, rewritten in zip(commits, part, strict=True)
                for scope_key in rewritten.scopes
            ]
            insert_rows(scopes, keys=False)
        _enter_documents(row, commits, part)
    if made:
        row.head, row.position = made[-1].sha, len(made)
        row.save(update_fields=["head", "position"])


def _copied(row: MemoryRepository, rewritten: Rewritten, position: int) -> GitCommit:
    first = rewritten.sources[0]
    return GitCommit(
        repository=row,
        sha=rewritten.sha,
        position=position,
        operation_id=first.operation_id,
        name=first.name,
        actor=first.actor,
        origin=first.origin,
        profile=first.profile,
        job_id=first.job_id,
        subject=first.subject,
        changes=sum(source.changes for source in rewritten.sources),
        listed=False,
        at=first.at,
    )


def _enter_documents(row: MemoryRepository, commits: Sequence[GitCommit], part: Sequence[Rewritten]) -> None:
    to = {source.pk: commit for commit, one in zip(commits, part, strict=True) for source in one.sources}
    scopes = {commit.pk: set(one.scopes) for commit, one in zip(commits, part, strict=True)}
    versions: list[DocumentVersion] = []
    seen: set[tuple[int, str, str]] = set()
    for version in DocumentVersion.objects.filter(commit__in=list(to)).order_by("commit_id", "pk").iterator(2000):
        commit = to[version.commit_id]
        key = (commit.pk, version.scope_key, version.stable_id)
        if version.scope_key not in scopes[commit.pk] or key in seen:
            continue
        seen.add(key)
        version.pk, version.commit, version.repository = None, commit, row
        versions.append(version)
        if len(versions) >= 1000:
            with short_transaction():
                insert_rows(versions, keys=False)
            versions = []
    with short_transaction():
        insert_rows(versions, keys=False)

"""What a commit changed, and what changed between two of them."""

from apps.memories.scopes import may_see
from apps.memory_git.models import (
    CommitScope,
    DocumentVersion,
    MemoryRepository,
)
from apps.memory_git.repository.comparing import Shown, Wanted, described
from apps.memory_git.repository.opening import commit_object, reading
from apps.memory_git.repository.roots import prefix_in, scope_of_path
from apps.memory_git.schemas import (
    CommitOrNewest,
    CommitOut,
    CommitRef,
    FileDifference,
    RepositoryDiffOut,
    RepositoryId,
    RepositoryOrAll,
    ResourceOrAll,
)
from apps.memory_git.selectors.commits import commit_facts, commit_for, newest, scopes_of
from apps.memory_git.selectors.repositories import repository_for
from apps.memory_git.selectors.versions import stable_id_of
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=CommitOut)
def memory_repository_commit_get(
    caller: Caller, *, commit: CommitRef, resource_id: ResourceOrAll = "", repository_id: RepositoryOrAll = ""
) -> CommitOut:
    """Read one commit with what it changed; with resource_id only that document's difference."""
    row = commit_for(caller, commit, repository_id)
    repository = row.repository
    stable_id = stable_id_of(caller, resource_id) if resource_id else ""
    with reading(repository) as (objects, repo):
        made = commit_object(repo, row.sha)
        parent = made.parents[0].decode() if made.parents else ""
        old = bytes(commit_object(repo, parent).tree) if parent else None
        places = _places(repository, stable_id, row.position) if stable_id else None
        files, more = described(objects, old, bytes(made.tree), _wanted(caller, repository), places)
    scopes = scopes_of(caller, [row])[row.pk]
    sees_all = len(scopes) == CommitScope.objects.filter(commit=row).count()
    return CommitOut(
        **commit_facts(row, scopes, None),
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
    stable_id = stable_id_of(caller, resource_id) if resource_id else ""
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

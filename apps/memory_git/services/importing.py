"""Looking into a remote and taking chosen documents of it in; the worker does both."""

from typing import Annotated

from pydantic import Field

from apps.memories.doors import scope_for
from apps.memories.schemas import ProjectRef, Reason, ScopeRef
from apps.memory_git.deeds import start
from apps.memory_git.importing.inspecting import staging_folder
from apps.memory_git.mirror.errors import NotInspected
from apps.memory_git.schemas import GitDeedOut, RepositoryId
from apps.memory_git.selectors.jobs import deed_out
from apps.memory_git.selectors.repositories import repository_for
from apps.memory_git.services.mirror import bound_repository
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature
from apps.operations.operation import Effect, operation

InspectedCommit = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{40}$", description="The whole id of the remote's commit, as memory_remote_inspect told it."
    ),
]
Chosen = Annotated[
    list[Annotated[str, Field(max_length=40)]],
    Field(max_length=500, description="Ids of the documents to take; empty: all of the scope, or of the repository."),
]


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.ADDS, feature=Feature.MEMORY_GIT)
def memory_remote_inspect(caller: Caller, *, repository_id: RepositoryId) -> GitDeedOut:
    """Look at what a repository's remote holds, in a staging area: how it stands to local history, and what would change.

    Nothing live changes. The answer is a job; git_job_get tells its result: relation, documents, and what is wrong with them.
    """
    repository, _connection = bound_repository(caller, repository_id)
    return deed_out(start(caller, "remote_inspect", {}, repository=repository))


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.CHANGES, feature=Feature.MEMORY_GIT)
def memory_remote_import(
    caller: Caller,
    *,
    repository_id: RepositoryId,
    commit: InspectedCommit,
    resource_ids: Chosen = [],  # noqa: B006 - never changed
    scope: ScopeRef = "",
    project_id: ProjectRef = "",
    reason: Reason = "",
) -> GitDeedOut:
    """Take documents of an inspected remote commit in, as new revisions and one local commit: chosen ones, a scope, or all.

    Nothing is deleted, merged or rewritten, at neither side. A diverged remote stays as it is: bind an empty repository to
    go on pushing. The answer is a job; its result names what was imported and what was refused, with the code.
    """
    repository = repository_for(caller, repository_id)
    if not staging_folder(repository).exists():
        raise NotInspected(commit=commit)
    scope_key = scope_for(caller, scope, project_id) if scope or project_id else ""
    arguments = {"commit": commit, "resource_ids": list(resource_ids), "scope": scope_key, "reason": reason}
    return deed_out(start(caller, "remote_import", arguments, repository=repository))

"""A document as a commit holds it."""

from apps.memories import documents
from apps.memories.doors import memory_for, visible_scopes
from apps.memories.errors import MemoryUnknown
from apps.memory_git.errors import VersionUnknown
from apps.memory_git.models import (
    DocumentVersion,
    GitCommit,
)
from apps.memory_git.repository.opening import reading
from apps.memory_git.schemas import (
    CommitRef,
    RepositoryOrAll,
    ResourceId,
    VersionOut,
)
from apps.memory_git.selectors.commits import commit_for
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


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


def version_for(
    caller: Caller, resource_id: str, commit: str, repository_id: str = ""
) -> tuple[DocumentVersion, GitCommit, bytes]:
    """A document as a commit holds it: its row, the commit's, and the bytes. Raises ``VersionUnknown``."""
    row = commit_for(caller, commit, repository_id)
    stable_id = stable_id_of(caller, resource_id)
    versions = DocumentVersion.objects.filter(repository=row.repository, stable_id=stable_id)
    versions = versions.filter(commit__position__lte=row.position, scope_key__in=visible_scopes(caller))
    found = versions.exclude(change=DocumentVersion.WITHHELD).order_by("-commit__position", "-pk").first()
    if found is None or not found.blob:
        raise VersionUnknown(resource_id=resource_id, commit=commit)
    with reading(row.repository) as (objects, _repo):
        return found, row, objects.content(found.blob.encode())


def stable_id_of(caller: Caller, reference: str) -> str:
    """The id a reference means; also of a document that only history knows."""
    try:
        return memory_for(caller, reference, deleted=True).stable_id
    except MemoryUnknown:
        if DocumentVersion.objects.filter(stable_id=reference, scope_key__in=visible_scopes(caller)).exists():
            return reference
        raise

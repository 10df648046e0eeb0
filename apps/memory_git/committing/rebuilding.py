"""Rows made anew from a repository: after the database was rebuilt, or where commits came that it never heard of.

The only place that walks through a history. Trailers say what a commit was, trees what it did to which document.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from dulwich.objects import Commit

from apps.memories import documents, frontmatter
from apps.memory_git.committing.rows import Entered
from apps.memory_git.committing.wording import trailers_in
from apps.memory_git.models import DocumentVersion, MemoryRepository
from apps.memory_git.repository.comparing import Changed, changed_paths
from apps.memory_git.repository.objects import Staging
from apps.memory_git.repository.roots import scope_of_path

ORIGINS = frozenset({"user", "agent", "external", "curation", "git", "system"})
RESOURCES = {"checkpoint": "checkpoint", "curated": "curated"}


def rebuilt(repository: MemoryRepository, objects: Staging, commit: Commit, before: bytes | None) -> Entered:
    """What the rows of a commit would say; of one that no operation made, what somebody else's Git says."""
    foreign = Entered.of_foreign(commit)
    told = trailers_in(commit.message)
    if not foreign.operation_id:
        return foreign
    at = datetime.fromtimestamp(commit.commit_time, UTC)
    changes = list(changed_paths(objects, before, bytes(commit.tree)))
    versions = _versions(repository, objects, changes, at)
    touched = {_scoped(repository, change.path)[0] for change in changes} | {version.scope_key for version in versions}
    origin = told.get("Caller", "")
    return replace(
        foreign,
        name=told.get("Kind", foreign.name)[:80],
        actor=told.get("Actor", foreign.actor)[:120],
        origin=origin if origin in ORIGINS else foreign.origin,
        job_id=(told.get("Curation-Job") or told.get("Job", ""))[:40],
        scopes=sorted((touched or {repository.scope_key}) - {""}),
        versions=versions,
    )


def _versions(
    repository: MemoryRepository, objects: Staging, changes: Sequence[Changed], at: datetime
) -> list[DocumentVersion]:
    found: dict[tuple[str, str], DocumentVersion] = {}
    for change in changes:
        version = _version(repository, objects, change, at)
        if version is None:
            continue
        key = (version.scope_key, version.stable_id)
        older = found.get(key)
        if older is None or older.change == DocumentVersion.DELETED:
            if older is not None:  # Its old place went, its new one came: it moved.
                version.change, version.old_path = DocumentVersion.MOVED, older.path
            found[key] = version
        elif version.change == DocumentVersion.DELETED:
            older.change, older.old_path = DocumentVersion.MOVED, version.path
    return list(found.values())


def _version(repository: MemoryRepository, objects: Staging, change: Changed, at: datetime) -> DocumentVersion | None:
    if not change.path.endswith(".md"):
        return None
    scope_key, path = _scoped(repository, change.path)
    content = objects.content(change.new or change.old or b"")
    facts = documents.read_facts(content, fallback_title="")
    if not scope_key or not facts.stable_id:
        return None
    kind, number = _head(content)
    return DocumentVersion(
        stable_id=facts.stable_id,
        resource=RESOURCES.get(kind, "memory"),
        scope_key=scope_key,
        revision=number + (change.new is None),  # A deletion is a revision of its own.
        path=path,
        change=change.change,
        blob=change.new.decode() if change.new else "",
        title=facts.title[:400],
        at=at,
    )


def _head(content: bytes) -> tuple[str, int]:
    """Type and revision as the document tells them."""
    try:
        _parts, metadata = frontmatter.parse(content)
    except frontmatter.NotUtf8:
        return "", 0
    return metadata.text("type"), metadata.number("revision") or 0


def _scoped(repository: MemoryRepository, path: str) -> tuple[str, str]:
    if repository.scope_key:
        return repository.scope_key, path.removeprefix("global/") if repository.root.startswith("profiles/") else path
    scope_key = scope_of_path(path)
    depth = 3 if path.startswith("profiles/") else 2 if path.startswith("projects/") else 1
    return scope_key, "/".join(path.split("/")[depth:])


def unlisted(entered: Sequence[Entered], taken: set[str]) -> list[Entered]:
    """The same, where an operation that has a commit already claims no second one."""
    return [replace(entry, operation_id="") if entry.operation_id in taken else entry for entry in entered]

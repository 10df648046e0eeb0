"""``.memrelay/scope.json``: what a folder of Markdown needs so that it can be understood without the database (L-23)."""

import json
from typing import Any

from apps.memories.models import Scope
from apps.profiles.models import Profile
from apps.workspaces.models import Project

FORMAT = 1
PROJECT_FIELDS = (
    *("id", "slug", "name", "description", "external_key", "git_remote", "git_remote_key", "git_branch"),
    *("workspace_type", "template"),
)


def render(scope: Scope) -> bytes:
    """The file's bytes: stable order, so that an unchanged scope is an unchanged file."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "scope": scope.key,
        "policy": scope.policy,
        "reserved_revisions": scope.reserved_revisions,
    }
    kind, _, name = scope.key.partition("/")
    if kind == "project" and (project := Project.objects.filter(pk=name).first()):
        content["workspace"] = {field: getattr(project, field) for field in PROJECT_FIELDS} | _times(project)
    if kind == "global":
        profile = Profile.objects.filter(pk=name).values("id", "name", "description").first()
        content |= {"profile": profile} if profile else {"ended": True}
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


def _times(project: Project) -> dict[str, str | None]:
    archived, deleted = project.archived_at, project.deleted_at
    times = {
        "archived_at": archived.isoformat() if archived else None,
        "created_at": project.created_at.isoformat(),
        "updated_at": project.updated_at.isoformat(),
    }
    if deleted:
        times |= {"deleted_at": deleted.isoformat(), "merged_into": project.merged_into_id}
    return times


def parse(content: bytes) -> dict[str, Any]:
    """Read it back. Raises ``ValueError`` unless it is a scope file of a known format."""
    read = json.loads(content)
    if not isinstance(read, dict) or read.get("format") != FORMAT or not isinstance(read.get("scope"), str):
        raise ValueError("This is no scope file.")
    return read

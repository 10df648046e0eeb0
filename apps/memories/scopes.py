"""Scopes by key: where each keeps its Markdown, and who may see it (D-08b)."""

import re
from pathlib import Path, PurePosixPath

from django.conf import settings

from apps.memories.errors import ScopeUnknown
from apps.operations.caller import SHARED_PROFILE, Caller

KEY = re.compile(r"library|(?:global|project)/[a-z0-9][a-z0-9_.-]{0,63}", re.IGNORECASE)
LIBRARY = "library"
SCOPE_FILE = ".memrelay/scope.json"


def project_of(scope_key: str) -> str | None:
    """The workspace that a scope belongs to, if any."""
    kind, _, name = scope_key.partition("/")
    return name if kind == "project" else None


def project_scope(project_id: str) -> str:
    return f"project/{project_id}"


def global_scope(profile: str) -> str:
    return f"global/{profile}"


def folder_name(scope_key: str) -> str:
    """The scope's folder below the memories folder, with forward slashes."""
    kind, _, name = scope_key.partition("/")
    if not KEY.fullmatch(scope_key):
        raise ScopeUnknown(scope=scope_key)
    if kind == "project":
        return f"projects/{name}"
    if kind == "global":
        return "global" if name == SHARED_PROFILE else f"profiles/{name}/global"
    return LIBRARY


def folder_of(scope_key: str) -> Path:
    return Path(settings.MEMORIES_FOLDER) / folder_name(scope_key)


def file_of(scope_key: str, path: str) -> Path:
    return folder_of(scope_key) / PurePosixPath(path)


def scope_key_of_folder(folder: str) -> str | None:
    """The scope that a folder below the memories folder belongs to; the reverse of ``folder_name``."""
    parts = folder.split("/")
    match parts:
        case ["global"]:
            return global_scope(SHARED_PROFILE)
        case ["library"]:
            return LIBRARY
        case ["projects", name]:
            return project_scope(name)
        case ["profiles", name, "global"]:
            return global_scope(name)
    return None


def may_see(caller: Caller, scope_key: str) -> bool:
    """Whether a scope exists for this caller at all."""
    kind, _, name = scope_key.partition("/")
    if kind == "project":
        return caller.project_id in (None, name)
    if kind == "global":
        return caller.administers or name in (caller.profile, SHARED_PROFILE)
    return True


def default_scope(caller: Caller, project_id: str | None) -> str:
    """Where a save goes that names no scope: the named or bound workspace, else the caller's own space."""
    chosen = project_id or caller.project_id
    return project_scope(chosen) if chosen else global_scope(caller.profile)

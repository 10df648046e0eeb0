"""Where repositories lie: the root of a scope under each strategy, and its paths inside (D-19)."""

from pathlib import Path

from django.conf import settings

from apps.memories.scopes import folder_name, scope_key_of_folder
from apps.memory_git.models import Strategy


def root_of(strategy: str, scope_key: str) -> str:
    """The repository's folder below the memories folder. A member's tree is ``profiles/<id>``, so that it can be purged."""
    if strategy == Strategy.SINGLE:
        return ""
    folder = folder_name(scope_key)
    return folder.removesuffix("/global") if folder.startswith("profiles/") else folder


def prefix_in(root: str, scope_key: str) -> str:
    """What stands before a scope's paths inside the repository at ``root``; empty, or with a slash at its end."""
    folder = folder_name(scope_key)
    inside = folder if not root else folder.removeprefix(root).removeprefix("/")
    return f"{inside}/" if inside else ""


def folder_of_root(root: str) -> Path:
    return Path(settings.MEMORIES_FOLDER) / root if root else Path(settings.MEMORIES_FOLDER)


def archive_folder(repository_id: str) -> Path:
    """Where the repository of a deleted workspace lies (GIT-065)."""
    return Path(settings.STATE_FOLDER) / "git-archive" / repository_id


def scope_of_path(path: str) -> str:
    """The scope a path of the repository of everything lies in; empty for the files at its root."""
    parts = path.split("/")
    for count in (1, 2, 3):
        if len(parts) > count and (scope_key := scope_key_of_folder("/".join(parts[:count]))):
            return scope_key
    return ""

"""The questions every write asks about names and places, in plain SQL: they run inside the transaction, on each save."""

from typing import Any

from django.db import connection

from apps.base.rows import fetched, new_row
from apps.memories.models import Scope
from apps.workspaces.errors import WorkspaceArchived, WorkspaceDeleted

_SCOPE = "SELECT version, policy, reserved_revisions FROM memories_scope WHERE key = %s"
_ADVANCE = "UPDATE memories_scope SET version = version + 1 WHERE key = %s AND version = %s"
# The plus signs keep SQLite from another index, in which it would walk through all active memories of the scope.
_PUT_AWAY = "SELECT archived_at IS NOT NULL, deleted_at IS NOT NULL FROM workspaces_project WHERE id = %s"
_TITLE = """
    SELECT stable_id FROM memories_memory
    WHERE scope_id = %s AND title_key = %s AND +resource = 'memory' AND +status = 'active' AND id <> %s LIMIT 1
"""
_SLUG = """
    SELECT EXISTS (SELECT 1 FROM memories_memory WHERE scope_id = %s AND slug_key = %s)
        OR EXISTS (SELECT 1 FROM memories_alias WHERE scope_id = %s AND slug_key = %s AND memory_id <> %s)
"""
_PATH = "SELECT EXISTS (SELECT 1 FROM memories_memory WHERE scope_id = %s AND path_key = %s AND id <> %s)"
_FOLDER = """
    INSERT INTO memories_folder (scope_id, base, number, files) VALUES (%s, %s, 1, 1)
    ON CONFLICT (scope_id, base) DO UPDATE SET
        number = CASE WHEN files >= %s THEN number + 1 ELSE number END,
        files = CASE WHEN files >= %s THEN 1 ELSE files + 1 END
    RETURNING number
"""


def scope_row(key: str) -> tuple[Scope, bool]:
    """The scope as the transaction sees it, made if it is new; whether it was."""
    found = _one(_SCOPE, key)
    if found is None:
        return Scope.objects.create(key=key), True
    version, policy, reserved = found
    scope = new_row(Scope, key=key, version=version, policy=policy, reserved_revisions=reserved)
    scope._state.adding, scope._state.db = False, connection.alias
    return scope, False


def refuse_if_put_away(key: str) -> None:
    """Raise ``WorkspaceArchived`` or ``WorkspaceDeleted`` where the scope is one of a workspace that takes no changes."""
    kind, _slash, project_id = key.partition("/")
    found = _one(_PUT_AWAY, project_id) if kind == "project" else None
    if found and found[1]:
        raise WorkspaceDeleted(project_id=project_id)
    if found and found[0]:
        raise WorkspaceArchived(project_id=project_id)


def advance(scope: Scope) -> bool:
    """Move the head by compare-and-swap. The transaction is IMMEDIATE, so only a write past the ledger can be in the way."""
    with connection.cursor() as cursor:
        cursor.execute(_ADVANCE, [scope.key, scope.version])
        moved = bool(cursor.rowcount == 1)
    scope.version += moved
    return moved


def title_taken(scope_key: str, title_key: str, *, but: int = 0) -> str:
    """The id of another active memory with this title; empty where there is none."""
    found = _one(_TITLE, scope_key, title_key, but)
    return str(found[0]) if found else ""


def slug_taken(scope_key: str, slug_key: str, *, but: int = 0) -> bool:
    """Whether another memory has this slug, or had it (``but`` may have its own again)."""
    return _is(_SLUG, scope_key, slug_key, scope_key, slug_key, but)


def path_taken(scope_key: str, path_key: str, *, but: int = 0) -> bool:
    return _is(_PATH, scope_key, path_key, but)


def folder_number(scope_key: str, base: str, limit: int) -> int:
    """Count one more file into an area's current folder; a full one gets a successor. Returns the folder's number."""
    found = _one(_FOLDER, scope_key, base, limit, limit)
    assert found is not None, "RETURNING gives a row."  # noqa: S101
    return int(found[0])


def _one(statement: str, *values: str | int) -> tuple[Any, ...] | None:
    found = fetched(statement, values)
    return found[0] if found else None


def _is(statement: str, *values: str | int) -> bool:
    found = _one(statement, *values)
    return bool(found and found[0])

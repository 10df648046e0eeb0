"""The head of a scope: its version, whether it takes changes, and which revision numbers it may give out."""

from django.db import connection

from apps.base.rows import fetched, new_row
from apps.memories.models import Scope
from apps.workspaces.errors import WorkspaceArchived, WorkspaceDeleted

REVISION_BLOCK = 1000  # L-23: how many revision numbers one scope.json reserves ahead.
_SCOPE = "SELECT version, policy, reserved_revisions FROM memories_scope WHERE key = %s"
_ADVANCE = "UPDATE memories_scope SET version = version + 1 WHERE key = %s AND version = %s"
_PUT_AWAY = "SELECT archived_at IS NOT NULL, deleted_at IS NOT NULL FROM workspaces_project WHERE id = %s"


def scope_row(key: str) -> tuple[Scope, bool]:
    """The scope as the transaction sees it, made if it is new; whether it was."""
    found = fetched(_SCOPE, [key])
    if not found:
        return Scope.objects.create(key=key), True
    version, policy, reserved = found[0]
    scope = new_row(Scope, key=key, version=version, policy=policy, reserved_revisions=reserved)
    scope._state.adding, scope._state.db = False, connection.alias
    return scope, False


def refuse_if_put_away(key: str) -> None:
    """Raise ``WorkspaceArchived`` or ``WorkspaceDeleted`` where the scope is one of a workspace that takes no changes."""
    kind, _slash, project_id = key.partition("/")
    found = fetched(_PUT_AWAY, [project_id]) if kind == "project" else []
    is_archived, is_deleted = found[0] if found else (False, False)
    if is_deleted:
        raise WorkspaceDeleted(project_id=project_id)
    if is_archived:
        raise WorkspaceArchived(project_id=project_id)


def advance(scope: Scope) -> bool:
    """Move the head by compare-and-swap. The transaction is IMMEDIATE, so only a write past the ledger can be in the way."""
    with connection.cursor() as cursor:
        cursor.execute(_ADVANCE, [scope.key, scope.version])
        moved = bool(cursor.rowcount == 1)
    scope.version += moved
    return moved


def reserve_revisions(scope: Scope, above: int) -> None:
    """Reserve a block of revision numbers above this one; ``.memrelay/scope.json`` has to say so (L-23)."""
    scope.reserved_revisions = above + REVISION_BLOCK
    Scope.objects.filter(key=scope.key).update(reserved_revisions=scope.reserved_revisions)

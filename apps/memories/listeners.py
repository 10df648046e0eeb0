"""What happens here inside another room's change: a workspace's scope file follows the workspace (L-23)."""

from collections.abc import Sequence

from apps.base import clock
from apps.changes.models import Change
from apps.memories import scope_files
from apps.memories.models import FileIntent, Scope
from apps.memories.scopes import SCOPE_FILE
from apps.memories.store import digest


def follow_workspaces(changes: Sequence[Change]) -> None:
    """Have ``.memrelay/scope.json`` of a changed workspace or memory space written; rows only, the sweep writes the file."""
    for change in changes:
        if change.resource not in ("project", "profile"):
            continue
        scope, _ = Scope.objects.get_or_create(key=change.scope_key, defaults={"reserved_revisions": 1000})
        content = scope_files.render(scope)
        FileIntent.objects.create(
            scope=scope,
            path=SCOPE_FILE,
            action=FileIntent.WRITE,
            content=content,
            new_hash=digest(content),
            created_at=clock.now(),
        )

"""What administrators and agents do with Memory Git: switch it, restore, change its layout, connect, mirror, take in."""

from apps.memory_git.services.connections import (
    git_connection_delete,
    git_connection_get,
    git_connection_save,
    git_connection_test,
)
from apps.memory_git.services.importing import memory_remote_import, memory_remote_inspect
from apps.memory_git.services.migrating import memory_repository_migrate, memory_repository_migrate_plan
from apps.memory_git.services.mirror import memory_repository_bind, memory_repository_sync, memory_repository_unbind
from apps.memory_git.services.restoring import (
    memory_repository_archive_purge,
    memory_repository_create,
    memory_repository_maintain,
    memory_snapshot_preview,
    memory_snapshot_restore,
    memory_version_restore,
)
from apps.memory_git.services.settings import git_settings_update

__all__ = [
    "git_connection_delete",
    "git_connection_get",
    "git_connection_save",
    "git_connection_test",
    "git_settings_update",
    "memory_remote_import",
    "memory_remote_inspect",
    "memory_repository_archive_purge",
    "memory_repository_bind",
    "memory_repository_create",
    "memory_repository_maintain",
    "memory_repository_migrate",
    "memory_repository_migrate_plan",
    "memory_repository_sync",
    "memory_repository_unbind",
    "memory_snapshot_preview",
    "memory_snapshot_restore",
    "memory_version_restore",
]

"""Memory Git as MCP tools, all of them in the full list; tool_search finds them for agents of the short one."""

from apps.memory_git import (
    connection_deeds,
    migration_deeds,
    mirror_deeds,
    remote_deeds,
    restore_deeds,
    selectors,
    services,
)
from apps.operations.mcp import Tool

TOOLS = [
    Tool(selectors.memory_repository_list),
    Tool(selectors.memory_repository_status),
    Tool(selectors.memory_repository_history),
    Tool(selectors.memory_repository_commit_get),
    Tool(selectors.memory_repository_diff),
    Tool(selectors.memory_version_get),
    Tool(restore_deeds.memory_version_restore),
    Tool(restore_deeds.memory_snapshot_preview),
    Tool(restore_deeds.memory_snapshot_restore),
    Tool(restore_deeds.memory_repository_create),
    Tool(restore_deeds.memory_repository_maintain),
    Tool(restore_deeds.memory_repository_archive_purge),
    Tool(migration_deeds.memory_repository_migrate_plan),
    Tool(migration_deeds.memory_repository_migrate),
    Tool(selectors.git_job_get),
    Tool(selectors.git_settings_get),
    Tool(services.git_settings_update),
    Tool(connection_deeds.git_connection_get),
    Tool(connection_deeds.git_connection_save),
    Tool(connection_deeds.git_connection_test),
    Tool(connection_deeds.git_connection_delete),
    Tool(mirror_deeds.memory_repository_sync),
    Tool(mirror_deeds.memory_repository_bind),
    Tool(mirror_deeds.memory_repository_unbind),
    Tool(remote_deeds.memory_remote_inspect),
    Tool(remote_deeds.memory_remote_import),
]

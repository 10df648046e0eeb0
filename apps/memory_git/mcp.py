"""Memory Git as MCP tools, all of them in the full list; tool_search finds them for agents of the short one."""

from apps.memory_git import selectors, services
from apps.operations.mcp import Tool

TOOLS = [
    Tool(selectors.memory_repository_list),
    Tool(selectors.memory_repository_status),
    Tool(selectors.memory_repository_history),
    Tool(selectors.memory_repository_commit_get),
    Tool(selectors.memory_repository_diff),
    Tool(selectors.memory_version_get),
    Tool(services.memory_version_restore),
    Tool(services.memory_snapshot_preview),
    Tool(services.memory_snapshot_restore),
    Tool(services.memory_repository_create),
    Tool(services.memory_repository_maintain),
    Tool(services.memory_repository_archive_purge),
    Tool(services.memory_repository_migrate_plan),
    Tool(services.memory_repository_migrate),
    Tool(selectors.git_job_get),
    Tool(selectors.git_settings_get),
    Tool(services.git_settings_update),
    Tool(services.git_connection_get),
    Tool(services.git_connection_save),
    Tool(services.git_connection_test),
    Tool(services.git_connection_delete),
    Tool(services.memory_repository_sync),
    Tool(services.memory_repository_bind),
    Tool(services.memory_repository_unbind),
    Tool(services.memory_remote_inspect),
    Tool(services.memory_remote_import),
]

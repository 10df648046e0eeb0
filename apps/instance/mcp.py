"""The server as a whole as MCP tools; the first two are resources as well."""

from apps.instance import bootstrap, selectors, services, workspaces_deeds
from apps.operations.mcp import AGENT, FULL, Tool

TOOLS = [
    Tool(selectors.capabilities_get, frozenset({AGENT, FULL})),
    Tool(selectors.dashboard_get),
    Tool(selectors.health_get),
    Tool(services.bell_release),
    Tool(workspaces_deeds.workspace_delete_preview),
    Tool(workspaces_deeds.project_delete),
    Tool(workspaces_deeds.workspace_merge_preview),
    Tool(workspaces_deeds.project_merge),
    Tool(workspaces_deeds.usage_profile_delete_preview),
    Tool(workspaces_deeds.usage_profile_delete),
    Tool(bootstrap.memory_remote_bootstrap),
]

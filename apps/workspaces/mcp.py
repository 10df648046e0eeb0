from apps.operations.mcp import AGENT, FULL, Tool
from apps.workspaces import selectors, services

TOOLS = [
    Tool(
        services.project_resolve_or_create,
        frozenset({AGENT, FULL}),
        seldom=frozenset({"slug", "git_branch", "description", "template"}),
    ),
    Tool(selectors.project_resolve),
    Tool(selectors.project_list),
    Tool(selectors.project_get),
    Tool(services.project_create),
    Tool(services.project_update),
    Tool(services.project_archive),
    Tool(services.project_unarchive),
]

"""The server as a whole as MCP tools; the first two are resources as well."""

from apps.instance import selectors
from apps.operations.mcp import AGENT, FULL, Tool

TOOLS = [
    Tool(selectors.capabilities_get, frozenset({AGENT, FULL})),
    Tool(selectors.dashboard_get),
    Tool(selectors.health_get),
]

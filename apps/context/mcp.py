"""Context, prompt and client set-up as MCP tools."""

from apps.context import selectors
from apps.operations.mcp import AGENT, CONNECTOR, FULL, Tool

TOOLS = [
    Tool(selectors.context_get, frozenset({AGENT, FULL})),
    Tool(selectors.agent_prompt_get),
    Tool(selectors.client_config_get),
    Tool(selectors.search, frozenset({CONNECTOR, FULL})),
    Tool(selectors.fetch, frozenset({CONNECTOR, FULL})),
]

"""Tools about tokens. ``token_create`` is none of them: its answer is a secret, and no tool returns one (MCP-010)."""

from apps.accounts import selectors, services
from apps.operations.mcp import Tool

TOOLS = [Tool(selectors.token_list), Tool(services.token_revoke), Tool(services.usage_profile_token_bind)]

"""Recall as MCP tools, for hosts that have no hook for it."""

from apps.operations.mcp import Tool
from apps.recall import services

TOOLS = [Tool(services.memory_recall), Tool(services.recall_release)]

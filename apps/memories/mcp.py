"""Memories as MCP tools."""

from apps.memories import selectors, services
from apps.operations.mcp import AGENT, FULL, Tool

BOTH = frozenset({AGENT, FULL})

TOOLS = [
    Tool(services.memory_save, BOTH),
    Tool(selectors.memory_search, BOTH),
    Tool(selectors.memory_get, BOTH),
    Tool(services.memory_update, BOTH),
    Tool(services.memory_append, BOTH),
    Tool(selectors.memory_list, BOTH),
    Tool(services.memory_delete, BOTH),
    Tool(services.checkpoint_save, BOTH),
    Tool(selectors.checkpoint_latest, BOTH),
    Tool(services.memory_save_many),
    Tool(services.memory_archive),
    Tool(services.memory_unarchive),
    Tool(services.memory_restore),
    Tool(services.memory_revert),
    Tool(services.memory_move),
    Tool(selectors.memory_history),
    Tool(selectors.memory_revision_get),
    Tool(selectors.memory_diff),
    Tool(selectors.checkpoint_get),
    Tool(selectors.checkpoint_list),
    Tool(selectors.timeline_get),
    Tool(selectors.scope_list),
    Tool(services.scope_alarm_decide),
]

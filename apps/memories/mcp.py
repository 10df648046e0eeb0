"""Memories as MCP tools."""

from apps.memories import selectors, services
from apps.operations.mcp import AGENT, FULL, Tool

BOTH = frozenset({AGENT, FULL})
SEARCH_SELDOM = frozenset({"explain", "mode", "resource", "scope", "status", "updated_to"})

# ``seldom``: arguments the short list leaves unsaid, to stay under its token budget (D-21). They are taken all the same.
TOOLS = [
    Tool(services.memory_save, BOTH, seldom=frozenset({"note_type", "path", "thread"})),
    Tool(selectors.memory_search, BOTH, seldom=SEARCH_SELDOM),
    Tool(selectors.memory_get, BOTH),
    Tool(services.memory_update, BOTH, seldom=frozenset({"kind", "note_type", "reason", "request_id"})),
    Tool(services.memory_append, BOTH, seldom=frozenset({"reason"})),
    Tool(selectors.memory_list, BOTH, seldom=frozenset({"resource", "scope", "updated_from", "updated_to"})),
    Tool(services.memory_delete, BOTH, seldom=frozenset({"reason", "request_id"})),
    Tool(services.checkpoint_save, BOTH, seldom=frozenset({"scope"})),
    Tool(selectors.checkpoint_latest, BOTH, seldom=frozenset({"scope"})),
    Tool(services.memory_save_many),
    Tool(services.memory_archive),
    Tool(services.memory_unarchive),
    Tool(services.memory_restore),
    Tool(services.memory_revert),
    Tool(services.memory_move),
    Tool(services.memory_import),
    Tool(services.memory_export),
    Tool(selectors.job_get),
    Tool(selectors.job_list),
    Tool(services.job_stop),
    Tool(services.job_resume),
    Tool(selectors.memory_history),
    Tool(selectors.memory_revision_get),
    Tool(selectors.memory_diff),
    Tool(selectors.memory_links),
    Tool(selectors.memory_alike),
    Tool(selectors.memory_index_get),
    Tool(selectors.checkpoint_get),
    Tool(selectors.checkpoint_list),
    Tool(selectors.timeline_get),
    Tool(selectors.scope_list),
    Tool(selectors.search_state_get),
    Tool(services.embedding_rebuild),
    Tool(services.embedding_stop),
    Tool(services.embedding_resume),
    Tool(services.scope_alarm_decide),
]

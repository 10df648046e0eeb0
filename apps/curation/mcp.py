"""Curation as MCP tools. Agents of the short list ask for a run; how it goes and what it wrote, tool_search finds."""

from apps.curation import selectors, services
from apps.operations.mcp import AGENT, FULL, Tool

TOOLS = [
    Tool(
        services.curation_run,
        frozenset({AGENT, FULL}),
        seldom=frozenset({"scope", "mode", "source_strategy", "document_types", "force", "pending_policy", "reason"}),
    ),
    Tool(selectors.curation_status),
    Tool(selectors.curation_history),
    Tool(selectors.curated_document_get),
    Tool(selectors.curated_document_list),
    Tool(services.curation_cancel),
    Tool(services.curation_retry),
    Tool(selectors.curation_settings_get),
    Tool(services.curation_settings_update),
]

"""What agents rely on: every tool of every toolset, as ``tools/list`` answers it, kept beside the tests.

A change of a tool shows in the difference of ``tools.json``, and is reviewed there.
"""

import json
from pathlib import Path
from typing import Any

from apps.operations.mcp import AGENT
from apps.operations.served import TOOLSETS
from memrelay.mcp import McpServer, rooms_tools

FILE = Path(__file__).with_name("tools.json")
AGENT_TOOLS = [  # D-40, as far as their rooms exist.
    "context_get",
    "memory_save",
    "memory_search",
    "memory_get",
    "memory_update",
    "memory_append",
    "memory_list",
    "memory_delete",
    "checkpoint_save",
    "checkpoint_latest",
    "project_resolve_or_create",
    "capabilities_get",
    "curation_run",
    "tool_search",
    "tool_run",
]
AGENT_TOOLS_AT_MOST = 15
AGENT_TOKENS_AT_MOST = 3000


def tools() -> dict[str, list[dict[str, Any]]]:
    """The tools of each toolset, by name."""
    lists = McpServer(rooms_tools()).lists
    return {toolset: sorted(lists[toolset]["tools"], key=lambda tool: str(tool["name"])) for toolset in TOOLSETS}


def as_listed(toolset: str = AGENT) -> str:
    """``tools/list`` of a toolset as it goes over the wire."""
    return json.dumps(McpServer(rooms_tools()).lists[toolset], ensure_ascii=False, separators=(",", ":"))


def text() -> str:
    return json.dumps(tools(), ensure_ascii=False, indent=1) + "\n"


def update() -> None:
    """Write the committed copy anew."""
    FILE.write_text(text(), encoding="utf-8")

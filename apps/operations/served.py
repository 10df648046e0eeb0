"""What the server serves, for rooms that tell of it: the wiring gathers the tools (``settings.TOOLS_SERVED``)."""

from collections.abc import Mapping
from functools import cache

import mcp_types as wire
from django.conf import settings
from django.utils.module_loading import import_string

from apps.base.estimates import token_estimate
from apps.operations.mcp import AGENT, CONNECTOR, FULL, Tool
from apps.operations.toolbox import Toolbox

TOOLSETS = (AGENT, FULL, CONNECTOR)


@cache
def served_tools() -> Mapping[str, Tool]:
    """Every tool by name, the two that open the toolbox included."""
    rooms: tuple[Tool, ...] = import_string(settings.TOOLS_SERVED)()
    return {tool.name: tool for tool in [*rooms, *Toolbox(rooms).tools()]}


@cache
def tools_of(toolset: str) -> Mapping[str, Tool]:
    """The tools that a toolset lists; one this version does not know lists what ``agent`` does."""
    known = toolset if toolset in TOOLSETS else AGENT
    return {name: tool for name, tool in served_tools().items() if known in tool.toolsets}


@cache
def list_tokens(toolset: str) -> int:
    """What a toolset's ``tools/list`` costs in every conversation, estimated from above."""
    described = wire.ListToolsResult(tools=[tool.describe(toolset) for tool in tools_of(toolset).values()])
    return token_estimate(described.model_dump_json(by_alias=True, exclude_none=True))

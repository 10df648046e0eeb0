"""The MCP server: every room's tools gathered into toolsets, and the resources. ``asgi.py`` serves it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import mcp_types as wire
from django.conf import settings
from django.utils import translation
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from apps.accounts import mcp as accounts
from apps.base.errors import MemRelayError
from apps.context import mcp as context
from apps.context.selectors import agent_prompt_get
from apps.curation import mcp as curation
from apps.instance import mcp as instance
from apps.instance.selectors import capabilities_get, dashboard_get
from apps.llm import mcp as llm
from apps.memories import mcp as memories
from apps.memories.selectors import memory_index_get
from apps.memory_git import mcp as memory_git
from apps.operations.caller import Caller
from apps.operations.mcp import Tool, as_json, no_such_tool, refusal
from apps.operations.operation import Operation
from apps.operations.served import TOOLSETS
from apps.operations.toolbox import Toolbox
from apps.profiles import mcp as profiles
from apps.recall import mcp as recall
from apps.workspaces import mcp as workspaces
from memrelay.threads import Threads

log = logging.getLogger(__name__)

VISIT = "memrelay.visit"
# The index of the caller who is being greeted: the server is one for all, its words to each are not.
INDEX: ContextVar[str] = ContextVar("index", default="")
Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = """\
MemRelay keeps what you and other agents learn, across sessions and tools.
project_resolve_or_create finds the workspace of a repository; context_get tells what is known there: begin with it.
Save what should last with memory_save (one fact, rule or decision each), look things up with memory_search, and correct
with memory_update. Before you stop, checkpoint_save says where the work stands.
tool_search finds every further tool and tool_run runs it. A refused call says in its error how to mend it."""


@dataclass(frozen=True)
class Visit:
    """Who came with a request, and which toolset they see."""

    caller: Caller
    toolset: str


@dataclass(frozen=True)
class Resource:
    """An operation's answer to read without arguments, under an address."""

    uri: str
    operation: Operation[..., Any]
    title: str
    mime_type: str = "application/json"
    render: Callable[[Any], str] = as_json

    def describe(self) -> wire.Resource:
        return wire.Resource(
            uri=self.uri,
            name=self.operation.name.removesuffix("_get"),
            title=self.title,
            description=self.operation.summary,
            mime_type=self.mime_type,
        )


def as_text(answer: BaseModel) -> str:
    """The text that an answer is about."""
    return str(answer.text)  # type: ignore[attr-defined]


RESOURCES = {
    resource.uri: resource
    for resource in [
        Resource("memrelay://capabilities", capabilities_get, "What this server can do"),
        Resource("memrelay://dashboard", dashboard_get, "How this server is doing"),
        Resource("memrelay://index", memory_index_get, "What is remembered", "text/markdown", as_text),
        Resource(
            "memrelay://agent-prompt", agent_prompt_get, "How an agent should use MemRelay", "text/markdown", as_text
        ),
    ]
}

ROOMS = [llm, profiles, accounts, workspaces, memories, memory_git, curation, context, recall, instance]


@cache
def rooms_tools() -> tuple[Tool, ...]:
    """Every room's tools, in the order of the list above."""
    return tuple(tool for room in ROOMS for tool in room.TOOLS)


class Greeting(Server[Any]):
    """The SDK's server, whose instructions end with the caller's own index (D-23: there is no session to keep it in)."""

    @property
    def instructions(self) -> str:
        index = INDEX.get()
        return f"{INSTRUCTIONS}\n\n{index}" if index else INSTRUCTIONS

    @instructions.setter
    def instructions(self, text: str | None) -> None:
        """The SDK sets what it was given, which is nothing."""


class McpServer:
    """The tools and resources over Streamable HTTP, without sessions: any process answers any request (D-23)."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        toolbox = Toolbox(tools)
        self.tools = toolbox.by_name | {tool.name: tool for tool in toolbox.tools()}
        self.lists = {toolset: tools_list(self.tools.values(), toolset) for toolset in TOOLSETS}
        self.threads = Threads(settings.WEB_THREADS)
        self.server = Greeting(
            "MemRelay",
            version=settings.VERSION,
            title="MemRelay",
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
            # No argument of ours travels in a header; without this the SDK lists all tools on every call to look.
            get_tool_input_schema=lambda name: None,
        )
        self.server.middleware.clear()  # OpenTelemetry spans that nobody collects.
        # Host and origin are checked in mcp_door.py, by the rule Django uses (ALLOWED_HOSTS), before the token.
        self.streaming, self.plain = (
            StreamableHTTPSessionManager(
                self.server, stateless=True, json_response=plain, max_request_body_size=settings.BODY_LIMIT
            )
            for plain in (False, True)
        )

    def sessions_for(self, body: bytes) -> StreamableHTTPSessionManager:
        """A stream where progress is to be told of; else one JSON answer, which costs two thirds of the CPU."""
        return self.streaming if b'"progressToken"' in body else self.plain

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Once per instance, for the life of the process."""
        async with self.streaming.run(), self.plain.run():
            yield
        await asyncio.to_thread(self.threads.close)

    async def _list_tools(self, request: Context, params: Any) -> Any:
        # A dictionary made once, which the SDK takes as well as its own type.
        return self.lists[visit_of(request).toolset]

    async def _call_tool(self, request: Context, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        tool = self.tools.get(params.name)
        if tool is None:
            return refusal(no_such_tool(params.name, self.tools).as_dict())
        return await self.threads.run(tool.call, visit_of(request).caller, params.arguments)

    async def _list_resources(self, request: Context, params: Any) -> wire.ListResourcesResult:
        return wire.ListResourcesResult(resources=[resource.describe() for resource in RESOURCES.values()])

    async def _read_resource(self, request: Context, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
        resource = RESOURCES.get(str(params.uri))
        if resource is None:
            raise MCPError(code=wire.INVALID_PARAMS, message=f"There is no resource {params.uri}.")
        text = await self.threads.run(read, resource, visit_of(request).caller)
        content = wire.TextResourceContents(uri=resource.uri, mime_type=resource.mime_type, text=text)
        return wire.ReadResourceResult(contents=[content])


def tools_list(tools: Iterable[Tool], toolset: str) -> dict[str, Any]:
    """What ``tools/list`` answers to a toolset, ready for the wire."""
    described = [tool.describe(toolset) for tool in tools if toolset in tool.toolsets]
    return wire.ListToolsResult(tools=described).model_dump(mode="json", by_alias=True, exclude_none=True)


def read(resource: Resource, caller: Caller) -> str:
    try:
        return resource.render(resource.operation.answer(caller, {}))
    except MemRelayError as error:
        raise MCPError(code=wire.INVALID_PARAMS, message=str(error), data={"error": error.as_dict()}) from error


def index_for(caller: Caller) -> str:
    """What the caller may know of, in one line each. A session begins without it where that fails."""
    try:
        with translation.override(caller.language):
            return memory_index_get(caller).text
    except MemRelayError:
        return ""  # Who may not read is told of nothing.
    except Exception:
        log.exception("A session begins without the index.")
        return ""


def visit_of(request: Context) -> Visit:
    over_http: Any = request.request  # Starlette's; there is one for everything that comes over HTTP.
    visit: Visit = over_http.scope[VISIT]
    return visit

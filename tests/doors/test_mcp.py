"""What an agent meets at ``/mcp``: in both protocol eras, without sessions, each as whom its token says."""

import asyncio
import json
import threading
from typing import Annotated, Any

import pytest
from django.db import connection
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from apps.accounts.keys import digest_of, new_token
from apps.accounts.models import McpToken
from apps.base.ids import new_id
from apps.operations.caller import Caller, Right
from apps.operations.mcp import AGENT, FULL, Tool
from apps.operations.operation import Effect, Operation
from apps.profiles.models import Profile
from apps.workspaces.models import Project
from memrelay.logs import REQUEST_ID
from tests.doors.mcp_client import ERAS, message, open_door
from tests.world import call

pytestmark = pytest.mark.django_db(transaction=True)
eras = pytest.mark.parametrize("era", ERAS)
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Seen(BaseModel):
    name: str
    project_id: str | None
    request_id: str
    log_id: str
    thread: str
    text: str


def who_am_i(caller: Caller, *, text: Annotated[str, Field(description="Anything.")] = "") -> Seen:
    """Tell who is asking."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return Seen(
        name=caller.name,
        project_id=caller.project_id,
        request_id=caller.request_id,
        log_id=REQUEST_ID.get(),
        thread=threading.current_thread().name,
        text=text,
    )


def break_down(caller: Caller) -> Seen:
    """Fail for no reason a caller could mend."""
    raise RuntimeError("the password is hunter2")


TOOLS = [
    Tool(Operation(who_am_i, Right.READ, Seen, Effect.READS, True, None), frozenset({AGENT, FULL})),
    Tool(Operation(break_down, Right.READ, Seen, Effect.READS, True, None)),
]


def make_token(name: str, **fields: Any) -> str:
    Profile.objects.get_or_create(pk="shared", defaults={"name": "Shared"})
    token = new_token()
    fields = {"rights": ["read", "write"], **fields}
    McpToken.objects.create(id=new_id("tok"), name=name, digest=digest_of(token), hint=token[:8], **fields)
    return token


@pytest.fixture
def token() -> str:
    return make_token("bob's agent")


@pytest.fixture
def project() -> Project:
    return Project.objects.create(id="prj_one", slug="one", name="One")


@eras
async def test_a_client_lists_calls_and_reads_who_it_is(token, era):
    async with open_door(TOOLS) as door, door.client(token, era=era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "who_am_i" in names and "tool_search" in names and "break_down" not in names
        result = await client.call_tool("who_am_i", {"text": "你好"})
    assert not result.is_error
    assert result.structured_content["name"] == "bob's agent"
    assert result.structured_content["text"] == "你好"
    assert json.loads(result.content[0].text) == result.structured_content


async def test_the_server_introduces_itself(token):
    async with open_door(TOOLS) as door, door.client(token, era="legacy") as client:
        assert client.server_info.name == "MemRelay" and client.server_info.version
        assert "context_get" in client.instructions and len(client.instructions) < 1200


@eras
async def test_each_caller_is_greeted_with_their_own_index(era, token):
    def own_token(name: str) -> str:
        return make_token(name, profile=Profile.objects.create(pk=name, name=name))

    bob, carol = [await asyncio.to_thread(own_token, name) for name in ("bob", "carol")]
    tea = {"title": "Bob likes tea", "summary": "Green, no sugar.", "body": "x", "scope": "global"}
    await asyncio.to_thread(call, Caller.for_command("bob", profile="bob"), "memory_save", **tea)
    async with open_door(TOOLS) as door:
        async with door.client(bob, era=era) as client:
            assert "- Bob likes tea: Green, no sugar. (mem_" in client.instructions
            assert client.instructions.startswith("MemRelay keeps")
        async with door.client(carol, era=era) as client:
            assert "Bob" not in client.instructions and "Nothing is remembered here yet." in client.instructions


@eras
async def test_a_session_begins_without_the_index_where_that_fails(era, token, monkeypatch):
    def broken(*_: Any) -> None:
        raise RuntimeError("the database is gone")

    monkeypatch.setattr("memrelay.mcp.memory_index_get", broken)
    async with open_door(TOOLS) as door, door.client(token, era=era) as client:
        assert "context_get" in client.instructions


async def test_who_may_not_read_is_told_of_no_memory(token):
    await asyncio.to_thread(call, Caller.for_command("operator"), "memory_save", title="A secret plan", body="x")
    writer = await asyncio.to_thread(make_token, "writer", rights=["write"])
    async with open_door(TOOLS) as door:
        async with door.client(writer, era="legacy") as client:
            assert "A secret plan" not in client.instructions
        async with door.client(token, era="legacy") as client:
            assert "A secret plan" in client.instructions


async def test_work_runs_in_threads_that_know_the_request(token):
    async with open_door(TOOLS) as door, door.client(token, **{"X-Request-ID": "mine-1"}) as client:
        seen = (await client.call_tool("who_am_i", {})).structured_content
    assert seen["thread"].startswith("mcp")
    assert seen["request_id"] == seen["log_id"] == "mine-1"


@eras
async def test_only_a_call_that_wants_progress_is_answered_by_a_stream(token, era):
    version = {"MCP-Protocol-Version": "2025-11-25"}
    async with open_door(TOOLS) as door, door.http(token, **JSON, **version) as http:
        plain = await http.post("/mcp", json=message(name="who_am_i", arguments={}))
        stream = await http.post("/mcp", json=message(name="who_am_i", arguments={}, _meta={"progressToken": 1}))
        assert plain.headers["content-type"].startswith("application/json")
        assert stream.headers["content-type"].startswith("text/event-stream")
        async with door.client(token, era=era) as client:

            async def on_progress(*_: Any) -> None:
                pass

            result = await client.call_tool("who_am_i", {}, progress_callback=on_progress)
    assert result.structured_content["name"] == "bob's agent"


@eras
async def test_callers_do_not_mix(era, token):
    async with open_door(TOOLS) as door:

        async def call(name: str, token: str) -> None:
            async with door.client(token, era=era) as client:
                for _ in range(5):
                    assert (await client.call_tool("who_am_i", {})).structured_content["name"] == name

        other = await asyncio.to_thread(make_token, "carol's agent")
        await asyncio.gather(*[call("bob's agent", token), call("carol's agent", other)] * 3)


@eras
async def test_refusals_reach_the_model(token, era):
    async with open_door(TOOLS) as door, door.client(token, era=era) as client:
        wrong = await client.call_tool("who_am_i", {"texts": "x"})
        unknown = await client.call_tool("who_am", {})
        broken = await client.call_tool("break_down", {})
    assert wrong.is_error and wrong.structured_content["error"]["facts"]["fields"] == {
        "texts": "There is no argument of this name."
    }
    assert unknown.is_error and unknown.structured_content["error"]["facts"]["near"] == ["who_am_i"]
    assert broken.is_error and broken.structured_content["error"]["code"] == "INTERNAL"
    assert broken.structured_content["error"]["facts"]["request_id"].startswith("req_")
    assert "hunter2" not in json.dumps(broken.structured_content)


async def test_a_tool_of_the_full_set_may_be_called_by_name_from_the_short_list(token):
    async with open_door(TOOLS) as door, door.client(token) as client:
        assert "break_down" in json.dumps((await client.call_tool("tool_search", {"query": "fail"})).structured_content)
        run = await client.call_tool("tool_run", {"name": "who_am_i", "arguments": {"text": "x"}})
    assert run.structured_content["text"] == "x"


@pytest.mark.parametrize(
    ("own", "query", "listed"),
    [("agent", "", False), ("full", "", True), ("agent", "?toolset=full", True), ("full", "?toolset=agent", False)],
)
async def test_the_toolset_is_the_tokens_unless_the_address_names_one(own, query, listed, django_db_blocker):
    token = await asyncio.to_thread(make_token, "agent", toolset=own)
    async with open_door(TOOLS) as door, door.client(token, path=f"/mcp{query}") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert ("break_down" in names) is listed


async def test_a_toolset_that_does_not_exist_is_refused(token):
    async with open_door(TOOLS) as door, door.http(token) as http:
        response = await http.post("/mcp?toolset=everything", json=message("tools/list"))
    assert response.status_code == 400
    assert response.json()["error"]["facts"]["toolsets"] == ["agent", "full", "connector"]


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer mrl_wrong", "Basic Ym9iOmJvYg=="])
async def test_without_a_good_token_nobody_comes_in(header):
    headers = {"Authorization": header} if header else {}
    async with open_door(TOOLS) as door, door.http(**headers) as http:
        response = await http.post("/mcp", json=message(name="who_am_i"))
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["code"] == "NOT_SIGNED_IN"
    assert response.headers["x-request-id"]


@eras
async def test_an_address_binds_the_call_to_its_workspace(token, project, era):
    async with open_door(TOOLS) as door, door.client(token, path="/mcp/projects/prj_one", era=era) as client:
        assert (await client.call_tool("who_am_i", {})).structured_content["project_id"] == "prj_one"
    async with open_door(TOOLS) as door, door.client(token, path="/mcp/projects/one", era=era) as client:
        assert (await client.call_tool("who_am_i", {})).structured_content["project_id"] == "prj_one"


async def test_a_workspace_that_does_not_exist_is_not_found(token, project):
    async with open_door(TOOLS) as door, door.http(token) as http:
        response = await http.post("/mcp/projects/prj_two", json=message("tools/list"))
    assert response.status_code == 404 and response.json()["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize("path", ["/mcp/projects/prj_two", "/mcp/projects/prj_none"])
async def test_a_bound_token_is_refused_everywhere_else(project, path):
    await asyncio.to_thread(lambda: Project.objects.create(id="prj_two", slug="two", name="Two"))
    token = await asyncio.to_thread(make_token, "bound", project_id="prj_one")
    async with open_door(TOOLS) as door, door.http(token) as http:
        response = await http.post(path, json=message("tools/list"))
        assert response.status_code == 403 and response.json()["error"]["code"] == "WORKSPACE_MISMATCH"
        async with door.client(token) as client:
            assert (await client.call_tool("who_am_i", {})).structured_content["project_id"] == "prj_one"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_there_is_nothing_but_post(token, method):
    async with open_door(TOOLS) as door, door.http(token) as http:
        response = await http.request(method, "/mcp")
    assert response.status_code == 405 and response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost:8765"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
async def test_only_known_hosts_and_origins_are_served(token, headers, status):
    async with open_door(TOOLS) as door, door.http(token, **JSON, **headers) as http:
        response = await http.post("/mcp", json=message("tools/list"))
    assert response.status_code == status


async def test_a_body_beyond_the_limit_is_refused(token, settings):
    settings.BODY_LIMIT = 2000
    big = json.dumps(message(name="who_am_i", arguments={"text": "x" * 3000})).encode()

    async def in_pieces():
        for start in range(0, len(big), 500):
            yield big[start : start + 500]

    async with open_door(TOOLS) as door, door.http(token, **JSON) as http:
        assert (await http.post("/mcp", content=big)).status_code == 413
        assert (await http.post("/mcp", content=in_pieces())).status_code == 413


async def test_an_old_session_id_works_after_a_restart(token):
    """Reported failure 19: the server forgets no client, since it never remembered one."""
    version = {"MCP-Protocol-Version": "2025-11-25"}
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    async with open_door(TOOLS) as door, door.http(token, **JSON) as http:
        response = await http.post("/mcp", json=message("initialize", **start))
        assert response.status_code == 200
        session = response.headers.get("mcp-session-id", "an-id-of-another-life")
    async with open_door(TOOLS) as door, door.http(token, **JSON, **version, **{"Mcp-Session-Id": session}) as http:
        response = await http.post("/mcp", json=message(name="who_am_i", arguments={}))
        assert response.status_code == 200 and "bob's agent" in response.text
        response = await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert response.status_code == 202


@eras
async def test_resources_tell_what_their_tools_tell(token, era):
    async with open_door() as door, door.client(token, era=era) as client:
        resources = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        known = ["capabilities", "dashboard", "index", "agent-prompt"]
        assert set(resources) == {f"memrelay://{name}" for name in known}
        assert all(resource.description and resource.title for resource in resources.values())
        read = (await client.read_resource("memrelay://capabilities")).contents[0]
        told = (await client.call_tool("capabilities_get", {})).structured_content
        assert read.mime_type == "application/json" and set(json.loads(read.text)) == set(told)
        dashboard = (await client.read_resource("memrelay://dashboard")).contents[0]
        assert json.loads(dashboard.text)
        prompt = (await client.read_resource("memrelay://agent-prompt")).contents[0]
        assert prompt.mime_type == "text/markdown" and "memory_save" in prompt.text
        index = (await client.read_resource("memrelay://index")).contents[0]
        told = (await client.call_tool("memory_index_get", {})).structured_content
        assert index.mime_type == "text/markdown" and index.text == told["text"]
        with pytest.raises(MCPError):
            await client.read_resource("memrelay://nothing")


async def test_a_resource_needs_the_right_its_operation_needs():
    token = await asyncio.to_thread(make_token, "writer", rights=["write"])
    async with open_door() as door, door.client(token) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource("memrelay://dashboard")
    assert refused.value.error.data["error"]["code"] == "DENIED"


async def test_django_answers_every_other_path(token):
    async with open_door(TOOLS) as door, door.http(token) as http:
        for path in ("/mcpx", "/mcp/projects", "/mcp/projects/a/b"):
            response = await http.get(path)
            assert response.status_code == 404
            assert response.headers["content-type"].startswith("text/html")


async def test_a_client_that_goes_away_leaves_no_error(token, caplog):
    async with open_door(TOOLS) as door:
        scope = {
            "type": "http", "method": "POST", "path": "/mcp", "query_string": b"",
            "headers": [(b"host", b"testserver"), (b"authorization", f"Bearer {token}".encode()),
                        (b"content-type", b"application/json"), (b"accept", b"application/json, text/event-stream")],
        }  # fmt: skip
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await door.application(scope, receive, send)
    assert sent == []
    assert "Traceback" not in caplog.text

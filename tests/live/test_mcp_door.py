"""The MCP door of a genuine server: two web processes, both protocol eras, and the bridge for clients without HTTP."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.live.server import LiveServer

BRIDGE = Path(__file__).parent.parent.parent / "client" / "memrelay_stdio.py"
eras = pytest.mark.parametrize("era", ["legacy", "auto"])
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@asynccontextmanager
async def over_http(server: LiveServer, era: str, query: str = "", token: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token or server.token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(server.mcp_url + query, http_client=http), mode=era) as client,
    ):
        yield client


@asynccontextmanager
async def over_stdio(server: LiveServer, era: str) -> AsyncIterator[Client]:
    environment = {"MEMRELAY_URL": server.mcp_url, "MEMRELAY_TOKEN": server.token, "MEMRELAY_PATIENCE": "60"}
    program = StdioServerParameters(command=sys.executable, args=[str(BRIDGE)], env=environment)
    async with Client(stdio_client(program), mode=era) as client:
        yield client


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@eras
async def test_both_eras_work_whichever_of_two_processes_answers(shared_server, era):
    async def one(number: int) -> None:
        async with over_http(shared_server, era) as client:
            for _ in range(5):
                result = await client.call_tool("tool_search", {"query": "token"})
                assert not result.is_error

    await asyncio.gather(*(one(number) for number in range(6)))


async def test_a_bad_token_is_refused(shared_server):
    async with httpx2.AsyncClient(headers={**HEADERS, "Authorization": "Bearer mrl_wrong"}) as http:
        response = await http.post(shared_server.mcp_url, json=CALL)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json()["error"]["code"] == "NOT_SIGNED_IN"


async def test_a_token_may_be_new_to_a_server_that_runs_and_ends_when_revoked(shared_server):
    token = await asyncio.to_thread(shared_server.new_token, name="short lived")
    async with httpx2.AsyncClient(headers={**HEADERS, "Authorization": f"Bearer {token}"}) as http:
        assert (await http.post(shared_server.mcp_url, json=CALL)).status_code == 200
        await asyncio.to_thread(shared_server.manage, "token_revoke", "short lived")
        assert (await http.post(shared_server.mcp_url, json=CALL)).status_code == 401


@eras
async def test_the_address_chooses_the_toolset(shared_server, era):
    async with over_http(shared_server, era) as client:
        full = await names(client)
    async with over_http(shared_server, era, "?toolset=agent") as client:
        short = await names(client)
    assert short < full and len(short) <= 15


@eras
async def test_the_bridge_serves_a_client_without_http(shared_server, era):
    async with over_stdio(shared_server, era) as bridged, over_http(shared_server, era) as direct:
        assert await names(bridged) == await names(direct)
        result = await bridged.call_tool("tool_search", {"query": "令牌"})
        assert not result.is_error and result.structured_content["tools"]
        refused = await bridged.call_tool("tool_search", {"query": ""})
        assert refused.is_error and refused.structured_content["error"]["code"] == "INVALID"
        assert {str(r.uri) for r in (await bridged.list_resources()).resources} == {
            str(r.uri) for r in (await direct.list_resources()).resources
        }


@eras
async def test_clients_and_bridges_live_through_a_restart(server, era):
    async with over_stdio(server, era) as bridged, over_http(server, era) as direct:
        await names(bridged)
        restart = asyncio.create_task(asyncio.to_thread(server.restart))
        await asyncio.sleep(0.5)
        assert "tool_run" in await names(bridged)  # Asked while the server is away or coming back.
        await restart
        assert not (await bridged.call_tool("tool_search", {"query": "token"})).is_error
        assert not (await direct.call_tool("tool_search", {"query": "token"})).is_error


async def test_an_open_connection_does_not_hold_up_the_end(server):
    async with over_http(server, "legacy") as client:
        await names(client)
        started = asyncio.get_running_loop().time()
        assert await asyncio.to_thread(server.stop) == 0
        assert asyncio.get_running_loop().time() - started < 9

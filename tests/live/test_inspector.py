"""The MCP Inspector, a client written by others, on its command line: it lists, saves and finds (must hold 1)."""

import json
import subprocess
from typing import Any

from tests.live.server import LiveServer
from tests.outside import needed


def inspect(server: LiveServer, method: str, *arguments: str) -> dict[str, Any]:
    command = [needed("newer node"), needed("inspector"), "--cli", server.mcp_url, "--transport", "http"]
    command += ["--header", f"Authorization: Bearer {server.token}", "--method", method, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def call(server: LiveServer, tool: str, **arguments: str) -> dict[str, Any]:
    given = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
    answer = inspect(server, "tools/call", "--tool-name", tool, *given)
    assert not answer.get("isError"), answer
    told: dict[str, Any] = answer["structuredContent"]
    return told


def test_the_inspector_lists_saves_finds_and_reads(shared_server: LiveServer) -> None:
    tools = inspect(shared_server, "tools/list")["tools"]
    assert {"memory_save", "memory_search", "context_get"} <= {tool["name"] for tool in tools}
    notes = {
        "Tea": ("Four o'clock; 下午喝茶。", "喝茶"),
        "Gateway": ("Runs deploy_gateway.sh on edge-7.", "deploy_gateway.sh"),
        "Failure": ("See BENCH-100821 in src/main.py.", "BENCH-100821"),
    }
    for title, (body, query) in notes.items():
        saved = call(shared_server, "memory_save", title=title, body=body)
        found = call(shared_server, "memory_search", query=query)
        assert found["results"][0]["memory_id"] == saved["memory_id"]
    assert "喝茶" in json.dumps(call(shared_server, "context_get"), ensure_ascii=False)
    resources = {resource["uri"] for resource in inspect(shared_server, "resources/list")["resources"]}
    assert resources == {f"memrelay://{name}" for name in ("capabilities", "dashboard", "agent-prompt", "index")}

"""The client set-up is right: its snippets are run as they stand, with the token put in."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.live.server import LiveServer


def snippets(server: LiveServer, client: str) -> list[str]:
    told = json.loads(server.manage("perform", "client_config_get", json.dumps({"client": client})))
    placeholder = told["token_placeholder"]
    address = told["mcp_url"].removesuffix("/mcp")  # A command does not know the port a test has chosen.
    return [
        snippet["text"].replace(placeholder, server.token).replace(address, server.url) for snippet in told["snippets"]
    ]


def run(command: str, home: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home / ".codex")}
    done = subprocess.run(
        ["bash", "-ec", command], env=environment, cwd=home, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_plain_http_saves_over_rest_and_lists_tools_over_mcp(shared_server: LiveServer, tmp_path: Path) -> None:
    if not shutil.which("curl"):
        pytest.skip("needs curl")
    save, tools = snippets(shared_server, "http")
    assert json.loads(run(save.replace("curl ", "curl -sS "), tmp_path))["title"] == "Deploy day"
    assert "memory_save" in run(tools.replace("curl ", "curl -sS "), tmp_path)


async def test_the_bridge_starts_as_the_stdio_snippet_says(shared_server: LiveServer) -> None:
    told = json.loads(snippets(shared_server, "stdio")[0])["mcpServers"]["memrelay"]
    program = StdioServerParameters(command=told["command"], args=told["args"], env=told["env"])
    async with Client(stdio_client(program), mode="auto") as client:
        assert "memory_save" in {tool.name for tool in (await client.list_tools()).tools}


def test_claude_code_connects(shared_server: LiveServer, tmp_path: Path) -> None:
    if not shutil.which("claude"):
        pytest.skip("needs Claude Code on the path (npm: @anthropic-ai/claude-code)")
    run(snippets(shared_server, "claude-code")[0], tmp_path)
    assert "Connected" in run("claude mcp list", tmp_path)


def test_codex_reads_its_table(shared_server: LiveServer, tmp_path: Path) -> None:
    if not shutil.which("codex"):
        pytest.skip("needs Codex on the path (npm: @openai/codex)")
    (tmp_path / ".codex").mkdir()
    table, export = snippets(shared_server, "codex")
    (tmp_path / ".codex" / "config.toml").write_text(table)
    listed = run(f"{export}; codex mcp list", tmp_path)
    assert shared_server.mcp_url in listed and "enabled" in listed

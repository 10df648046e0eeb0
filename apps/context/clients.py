"""How each client is connected: texts to paste, with a placeholder where the token goes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.context.schemas import Snippet

PLACEHOLDER = "YOUR_TOKEN"
TERMINAL = _("Terminal")


@dataclass(frozen=True)
class Addresses:
    mcp: str
    api: str


@dataclass(frozen=True)
class Client:
    name: str
    explanation: Promise
    snippets: Callable[[Addresses], list[Snippet]]


def _claude_code(to: Addresses) -> list[Snippet]:
    command = f'claude mcp add --scope user --transport http memrelay {to.mcp} --header "{_bearer()}"'
    return [Snippet(place=str(TERMINAL), text=command)]


def _cursor(to: Addresses) -> list[Snippet]:
    servers = {"mcpServers": {"memrelay": {"url": to.mcp, "headers": {"Authorization": f"Bearer {PLACEHOLDER}"}}}}
    return [Snippet(place="~/.cursor/mcp.json", text=_json(servers))]


def _codex(to: Addresses) -> list[Snippet]:
    table = f'[mcp_servers.memrelay]\nurl = "{to.mcp}"\nbearer_token_env_var = "MEMRELAY_TOKEN"'
    return [
        Snippet(place="~/.codex/config.toml", text=table),
        Snippet(place=str(TERMINAL), text=f'export MEMRELAY_TOKEN="{PLACEHOLDER}"'),
    ]


def _vscode(to: Addresses) -> list[Snippet]:
    asked = {"type": "promptString", "id": "memrelay-token", "description": "MemRelay token", "password": True}
    server = {"type": "http", "url": to.mcp, "headers": {"Authorization": "Bearer ${input:memrelay-token}"}}
    return [Snippet(place=".vscode/mcp.json", text=_json({"inputs": [asked], "servers": {"memrelay": server}}))]


def _http(to: Addresses) -> list[Snippet]:
    save = (
        f'curl {to.api}/memories \\\n  -H "{_bearer()}" \\\n  -H "Content-Type: application/json" \\\n'
        """  -d '{"title": "Deploy day", "body": "We deploy on Thursdays."}'"""
    )
    tools = (
        f'curl {to.mcp} \\\n  -H "{_bearer()}" \\\n  -H "Content-Type: application/json" \\\n'
        '  -H "Accept: application/json, text/event-stream" \\\n'
        """  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'"""
    )
    return [Snippet(place=str(TERMINAL), text=save), Snippet(place=str(TERMINAL), text=tools)]


def _stdio(to: Addresses) -> list[Snippet]:
    server = {
        "command": "python3",
        "args": [bridge_path()],
        "env": {"MEMRELAY_URL": to.mcp, "MEMRELAY_TOKEN": PLACEHOLDER},
    }
    return [Snippet(place="mcp.json", text=_json({"mcpServers": {"memrelay": server}}))]


def bridge_path() -> str:
    """Where the bridge lies, for clients on the server's own machine; others are told no path of it."""
    if settings.PUBLIC_URL:
        return "/path/to/memrelay_stdio.py"
    return str(Path(settings.PROJECT_FOLDER) / "client" / "memrelay_stdio.py")


def _bearer() -> str:
    return f"Authorization: Bearer {PLACEHOLDER}"


def _json(value: object) -> str:
    return json.dumps(value, indent=2)


CLIENTS = {
    "claude-code": Client(
        "Claude Code",
        _("Run this in a terminal. Leave out --scope user to connect the current folder only."),
        _claude_code,
    ),
    "cursor": Client("Cursor", _("Put this into the file, or into .cursor/mcp.json of one project."), _cursor),
    "codex": Client("Codex", _("Put the first text into the file, and the token into the environment."), _codex),
    "vscode": Client(
        "VS Code", _("Put this into the file. VS Code asks for the token once and keeps it safe."), _vscode
    ),
    "http": Client("HTTP", _("Scripts use the REST interface, or MCP itself, with the same token."), _http),
    "stdio": Client(
        "stdio",
        _(
            "For clients that only start programs: a small bridge that passes everything on. It is one file that needs"
            " nothing but Python; copy client/memrelay_stdio.py to the machine of the client and name its path."
        ),
        _stdio,
    ),
}

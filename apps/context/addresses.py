"""The addresses that agents and people reach this server at."""

from django.conf import settings


def server_address() -> str:
    """The public address, else the one this machine listens on."""
    if settings.PUBLIC_URL:
        return str(settings.PUBLIC_URL)
    host, port = settings.HOST, settings.PORT
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def mcp_address(project_id: str | None = None) -> str:
    """Where MCP clients connect; with a workspace, the address that is bound to it."""
    return f"{server_address()}/mcp" + (f"/projects/{project_id}" if project_id else "")


def api_address() -> str:
    return f"{server_address()}/api/v1"

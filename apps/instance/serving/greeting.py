"""What the terminal says once the server starts: where the console is and how an agent is connected."""

from django.conf import settings
from django.utils.translation import gettext as _

from apps.instance.serving.first_access import FirstAccess
from apps.instance.serving.listening import own_address

PLACEHOLDER = "<token>"


def greeting(host: str, port: int, access: FirstAccess) -> str:
    address = settings.PUBLIC_URL or own_address(host, port)
    lines = [
        _("MemRelay {version}").format(version=settings.VERSION),
        _("Console: {address}").format(address=f"{address}/"),
        _("Data: {folder}").format(folder=settings.DATA_FOLDER),
        "",
        *access.told,
        _("Connect an agent, here Claude Code:"),
        f"  {claude_command(address, access.token or PLACEHOLDER)}",
    ]
    if not access.token:
        lines.append(_("Make a token in the console, or by: manage.py token_create --name NAME"))
    return "\n".join([*lines, ""])


def claude_command(address: str, token: str) -> str:
    return f'claude mcp add --transport http memrelay {address}/mcp --header "Authorization: Bearer {token}"'

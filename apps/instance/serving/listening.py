"""The port. ``serve`` opens it and hands it on: clients wait, not fail, while web processes are replaced."""

import errno
import socket

from django.utils.translation import gettext as _

from apps.instance.errors import CannotListen

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Open the port; raise ``CannotListen`` with the reason. Port 0 takes any free one."""
    if not 0 <= port <= 65535:
        raise CannotListen(_("There is no port {port}; ports go up to 65535."), host=host, port=port)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as failure:
        raise CannotListen(_reason(failure), host=host, port=port) from failure


def _reason(failure: OSError) -> str:
    match failure:
        case OSError(errno=errno.EADDRINUSE):
            return _("Port {port} of {host} is in use by another program.")
        case OSError(errno=errno.EACCES):
            return _("This user may not open port {port} of {host}; ports below 1024 need special rights.")
        case _:
            return _("{host} is no address of this machine that port {port} can be opened on.")


def own_address(host: str, port: int) -> str:
    """The address to reach this server at from this machine."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

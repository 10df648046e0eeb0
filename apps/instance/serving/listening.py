"""The port, and the embedder's door. ``serve`` opens them and hands them on: who comes while a process is replaced, waits."""

import errno
import logging
import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext as _

from apps.instance.errors import CannotListen
from apps.search.embedding.frames import address_of

BACKLOG = 2048
VISITORS = 64
logger = logging.getLogger(__name__)


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


@contextmanager
def door(file: Path) -> Iterator[socket.socket | None]:
    """A Unix socket for this user alone, in place of what a killed server left; nothing where none can be made."""
    listener = _open_door(file)
    try:
        yield listener
    finally:
        if listener:
            listener.close()
        file.unlink(missing_ok=True)


def _open_door(file: Path) -> socket.socket | None:
    file.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    mask = os.umask(0o177)
    try:
        with address_of(file) as address:
            listener.bind(address)
        listener.listen(VISITORS)
    except OSError as failure:  # Some network file systems hold no sockets.
        listener.close()
        logger.error("Search goes without meaning: the socket %s cannot be made (%s).", file.name, failure.strerror)
        return None
    finally:
        os.umask(mask)
    return listener


def somebody_waits_at(listener: socket.socket) -> bool:
    return bool(select.select([listener], [], [], 0)[0])


def own_address(host: str, port: int) -> str:
    """The address to reach this server at from this machine."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

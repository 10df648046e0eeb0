"""A connection with its secrets opened, held in memory by whoever works with it; sealed, each for its own place (D-32)."""

from pathlib import Path

from django.conf import settings

from apps.base.sealing import seal, unseal
from apps.memory_git.models import GitConnection
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import RemoteAddress, parse

TABLE = "memory_git_gitconnection"
# The secrets of a connection, as callers name them, and the columns that keep them sealed.
COLUMNS = {
    "secret": "sealed_secret",
    "private_key": "sealed_private_key",
    "passphrase": "sealed_passphrase",
    "proxy": "sealed_proxy",
}


def current_connection() -> GitConnection | None:
    """The connection there is; there is one at most (D-19)."""
    return GitConnection.objects.order_by("-enabled", "-updated_at").first()


def seal_into(row: GitConnection, name: str, value: str) -> None:
    column = COLUMNS[name]
    setattr(row, column, seal(value.encode(), table=TABLE, column=column, row=row.pk) if value else None)


def opened(row: GitConnection, name: str) -> str:
    column = COLUMNS[name]
    sealed = getattr(row, column)
    return unseal(bytes(sealed), table=TABLE, column=column, row=row.pk).decode() if sealed is not None else ""


def access_of(row: GitConnection, *, seconds: float = 900.0) -> Access:
    """What opens the server's door, for conversations of so many seconds at most."""
    return Access(
        user=row.user_name,
        secret=opened(row, "secret"),
        private_key=opened(row, "private_key"),
        passphrase=opened(row, "passphrase"),
        proxy=opened(row, "proxy"),
        host_keys=tuple(row.host_keys),
        authorities=row.authorities,
        total_seconds=seconds,
        receive_bytes=settings.GIT_FETCH_BYTES,
    )


def address_at(text: str) -> RemoteAddress:
    """Read an address under the settings of this server. Raises ``UnusableAddress``."""
    roots = tuple(Path(folder) for folder in settings.GIT_FILE_FOLDERS)
    return parse(text, plain_http=settings.GIT_PLAIN_HTTP, file_roots=roots)

"""What opens the door of a Git server, held in memory by whoever works with it, and the bounds of a conversation."""

import time
from dataclasses import dataclass, field

from apps.memory_git.remotes.failures import RemoteTimedOut, RemoteTooLarge


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials and limits. Nothing of it goes into an address, a configuration, an argument of a process or a log."""

    user: str = ""
    secret: str = field(default="", repr=False)  # A token or a password.
    private_key: str = field(default="", repr=False)
    passphrase: str = field(default="", repr=False)
    host_keys: tuple[str, ...] = ()  # "ssh-ed25519 SHA256:..." or "SHA256:..." alone.
    authorities: str = field(default="", repr=False)  # Certificates in PEM that count besides the system's.
    proxy: str = field(default="", repr=False)  # It may hold a password.
    connect_seconds: float = 10.0
    silence_seconds: float = 60.0
    total_seconds: float = 900.0
    receive_bytes: int = 512 * 2**20


class Watch:
    """One conversation: how long it may last and how much may come in, however slowly or fast it does."""

    def __init__(self, access: Access) -> None:
        self._end = time.monotonic() + access.total_seconds
        self._left = access.receive_bytes

    def received(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise RemoteTooLarge()
        self.check()

    def check(self) -> None:
        if time.monotonic() > self._end:
            raise RemoteTimedOut()

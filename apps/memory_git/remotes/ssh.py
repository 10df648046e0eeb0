"""Git over SSH with paramiko: a key held in memory, a pinned host key, and nothing that lies about on the machine.

No agent, no ``~/.ssh``, no ``known_hosts``: what counts is what the connection says (D-04).
"""

import base64
import hashlib
import io
import socket
import threading
from dataclasses import dataclass
from typing import Any

import paramiko
from dulwich.client import SSHGitClient, SSHVendor
from dulwich.config import ConfigDict
from paramiko.ssh_exception import PasswordRequiredException, SSHException

from apps.memory_git.remotes.access import Access, Watch
from apps.memory_git.remotes.addresses import DEFAULT_PORTS, RemoteAddress
from apps.memory_git.remotes.failures import HostKeyChanged, HostKeyUnknown, KeyUnreadable, PassphraseMissing

KINDS_OF_KEY: tuple[type[paramiko.PKey], ...] = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)
# What a server may show, the best first, and the algorithms that each stands for.
HOST_KEY_ALGORITHMS = {
    "ssh-ed25519": ("ssh-ed25519",),
    "ecdsa-sha2-nistp256": ("ecdsa-sha2-nistp256",),
    "ecdsa-sha2-nistp384": ("ecdsa-sha2-nistp384",),
    "ecdsa-sha2-nistp521": ("ecdsa-sha2-nistp521",),
    "ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256"),
}
SHOWN_FOR_TRUST = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa")
STDERR_BYTES = 65_536
PATIENCE_FOR_STDERR = 3.0


@dataclass(frozen=True, slots=True)
class HostKey:
    kind: str
    fingerprint: str  # As ssh-keygen shows it: SHA256:...

    def __str__(self) -> str:
        return f"{self.kind} {self.fingerprint}"


def load_key(text: str, passphrase: str) -> paramiko.PKey:
    """The private key. Raises ``PassphraseMissing`` or ``KeyUnreadable``."""
    pem = text.replace("\r\n", "\n").strip() + "\n"
    for kind in KINDS_OF_KEY:
        try:
            return kind.from_private_key(io.StringIO(pem), password=passphrase or None)
        except PasswordRequiredException:
            raise PassphraseMissing() from None
        except (SSHException, ValueError, IndexError, UnicodeDecodeError):
            continue  # Another kind of key, perhaps. What is wrong with it may quote it, so it is not told.
    raise KeyUnreadable()


def host_keys(address: RemoteAddress, access: Access) -> list[HostKey]:
    """The keys the server shows to somebody who has not signed in, for a person to compare and trust."""
    found = []
    for kind in SHOWN_FOR_TRUST:
        try:
            transport = _greeted(address, access, (kind,))
        except _NoCommonHostKey:
            continue
        try:
            found.append(_host_key(transport.get_remote_server_key()))
        finally:
            transport.close()
    return found


class SshClient(SSHGitClient):
    """dulwich's client; it leaves a conversation open that a server broke off, so this one remembers what to close."""

    def __init__(self, address: RemoteAddress, access: Access, watch: Watch, key: paramiko.PKey | None) -> None:
        vendor = KeyInMemory(address, access, watch, key)
        super().__init__(address.host, port=address.port, username=vendor.user, vendor=vendor, config=ConfigDict())
        self._open: list[Any] = []
        self._vendor = vendor

    def _connect(self, cmd: bytes, path: Any, protocol_version: int | None = None) -> Any:
        conversation = super()._connect(cmd, path, protocol_version)
        self._open.append(conversation[0])
        return conversation

    def complaints(self) -> bytes:
        """What the server wrote beside its answers."""
        return b"".join(conversation.complaints() for conversation in self._vendor.conversations)

    def let_go(self) -> None:
        for protocol in self._open:
            protocol.close()


class KeyInMemory(SSHVendor):
    """How dulwich runs a command on the server."""

    def __init__(self, address: RemoteAddress, access: Access, watch: Watch, key: paramiko.PKey | None) -> None:
        self._address, self._access, self._watch, self._key = address, access, watch, key
        self.user = address.user or access.user or "git"
        self.conversations: list[_Conversation] = []

    def run_command(self, host: str, command: bytes, *_arguments: Any, **options: Any) -> Any:
        self._watch.check()
        transport = _greeted(self._address, self._access, _kinds_pinned(self._access.host_keys))
        try:
            _check_host_key(_host_key(transport.get_remote_server_key()), self._access.host_keys)
            if self._key is not None:
                transport.auth_publickey(self.user, self._key)
            else:
                transport.auth_password(self.user, self._access.secret)
            channel = transport.open_session(timeout=self._access.connect_seconds)
            if version := options.get("protocol_version"):
                channel.set_environment_variable("GIT_PROTOCOL", f"version={version}")
            channel.settimeout(self._access.silence_seconds)
            channel.exec_command(command)
        except BaseException:
            transport.close()
            raise
        conversation = _Conversation(transport, channel, self._watch)
        self.conversations.append(conversation)
        return conversation


class _NoCommonHostKey(Exception):
    """The server has no key of the kinds that were asked for."""


def _greeted(address: RemoteAddress, access: Access, kinds: tuple[str, ...]) -> paramiko.Transport:
    """A connection whose key exchange is done and whose host key is known, but not yet checked."""
    wanted = {algorithm for kind in kinds for algorithm in HOST_KEY_ALGORITHMS[kind]}
    place = (address.host, address.port or DEFAULT_PORTS["ssh"])
    connection = socket.create_connection(place, timeout=access.connect_seconds)
    try:
        transport = paramiko.Transport(connection)
        options = transport.get_security_options()
        options.key_types = tuple(algorithm for algorithm in options.key_types if algorithm in wanted)
        transport.banner_timeout = transport.auth_timeout = access.connect_seconds
    except BaseException:
        connection.close()
        raise
    try:
        transport.start_client(timeout=access.connect_seconds)
        if not transport.initial_kex_done:  # It comes back from a timeout as if all were well.
            raise TimeoutError
    except paramiko.ssh_exception.IncompatiblePeer as error:
        transport.close()
        raise _NoCommonHostKey from error
    except BaseException:
        transport.close()
        raise
    return transport


def _kinds_pinned(pins: tuple[str, ...]) -> tuple[str, ...]:
    """Which kinds to ask the server for: those that were trusted, where each pin says its kind."""
    kinds = tuple(pin.partition(" ")[0] for pin in pins)
    known = bool(kinds) and all(kind in HOST_KEY_ALGORITHMS for kind in kinds)
    return kinds if known else tuple(HOST_KEY_ALGORITHMS)


def _host_key(key: paramiko.PKey) -> HostKey:
    digest = base64.b64encode(hashlib.sha256(key.asbytes()).digest()).decode().rstrip("=")
    return HostKey(key.get_name(), f"SHA256:{digest}")


def _check_host_key(shown: HostKey, pins: tuple[str, ...]) -> None:
    if not pins:
        raise HostKeyUnknown(fingerprint=str(shown))
    if not any(pin.rpartition(" ")[2] == shown.fingerprint for pin in pins):
        raise HostKeyChanged(fingerprint=str(shown))


class _Conversation:
    """A running command as dulwich wants it."""

    def __init__(self, transport: paramiko.Transport, channel: paramiko.Channel, watch: Watch) -> None:
        self._transport, self._channel, self._watch = transport, channel, watch
        self._complaints = bytearray()
        # Somebody has to read stderr, or a server that complains at length stops in the middle.
        self._listener = threading.Thread(target=self._listen, name="git ssh stderr", daemon=True)
        self._listener.start()
        self.stderr = _Complaints(self)

    def can_read(self) -> bool:
        return self._channel.recv_ready()

    def read(self, count: int | None = None) -> bytes:
        """Exactly so many bytes, fewer only at the end: dulwich relies on it."""
        if count is None:
            return self._watched(self._channel.recv(STDERR_BYTES))
        data = bytearray()
        while len(data) < count:
            more = self._watched(self._channel.recv(count - len(data)))
            if not more:
                break
            data += more
        return bytes(data)

    def write(self, data: bytes) -> int:
        self._watch.check()
        self._channel.sendall(data)
        return len(data)

    def close(self) -> None:
        try:
            self._channel.close()
        finally:
            self._transport.close()

    def complaints(self) -> bytes:
        self._listener.join(PATIENCE_FOR_STDERR)
        return bytes(self._complaints)

    def _watched(self, data: bytes) -> bytes:
        self._watch.received(len(data))
        return data

    def _listen(self) -> None:
        try:
            while heard := self._channel.recv_stderr(4096):
                room = STDERR_BYTES - len(self._complaints)
                self._complaints += heard[: max(room, 0)]
        except (OSError, SSHException):
            return  # The conversation is over.


class _Complaints:
    """What the server wrote to stderr, as a file."""

    def __init__(self, conversation: _Conversation) -> None:
        self._conversation = conversation

    def read(self, _count: int = -1) -> bytes:
        return self._conversation.complaints()

    def readlines(self) -> list[bytes]:
        return [line + b"\n" for line in self.read().split(b"\n") if line]

    def close(self) -> None:
        """It ends with the conversation."""

"""A server that goes away while it is spoken to: that passes, and says nothing about certificates or addresses."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest

from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import parse
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import Consequence, RemoteFailure, RemoteUntrusted

Deed = Callable[[socket.socket], None]


def hang_up(connection: socket.socket) -> None:
    connection.recv(4096)


def reset(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def speak_plainly(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.fixture
def listening() -> Iterator[Callable[[Deed], str]]:
    """Somebody who takes connections and does something to each; answers the address."""
    listeners: list[socket.socket] = []

    def serve(listener: socket.socket, deed: Deed) -> None:
        while True:
            try:
                connection, _address = listener.accept()
            except OSError:
                return
            with connection:
                deed(connection)

    def listen(deed: Deed) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, deed), daemon=True).start()
        return f"https://localhost:{listener.getsockname()[1]}/memory.git"

    yield listen
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize("deed", [hang_up, reset])
def test_a_server_that_hangs_up_is_waited_for(listening: Callable[[Deed], str], deed: Deed) -> None:
    with pytest.raises(RemoteFailure) as failed:
        Remote(parse(listening(deed)), Access()).refs()
    assert failed.value.consequence is Consequence.WAIT, failed.value.code


def test_a_server_that_does_not_speak_tls_is_a_matter_of_configuration(listening: Callable[[Deed], str]) -> None:
    with pytest.raises(RemoteUntrusted):
        Remote(parse(listening(speak_plainly)), Access()).refs()

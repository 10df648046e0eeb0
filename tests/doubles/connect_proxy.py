"""An HTTP proxy that opens tunnels (CONNECT) for those who know its password, and remembers where to."""

import base64
import socket
import threading
from contextlib import suppress

USER, PASSWORD = "proxy-user", "proxy-pass-123"
EXPECTED = b"basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).lower()


class ConnectProxy:
    """``with ConnectProxy() as proxy``: ``proxy.url()`` holds user and password; ``proxy.tunnels`` the hosts it led to."""

    def __enter__(self) -> "ConnectProxy":
        self.tunnels: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_details: object) -> None:
        self._listener.close()

    def url(self, password: str = PASSWORD) -> str:
        return f"http://{USER}:{password}@127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _address = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            if EXPECTED not in head.lower():
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                return
            target = head.split()[1].decode()
            self.tunnels.append(target)
            host, _colon, port = target.rpartition(":")
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pour, args=(server, client), daemon=True)
                back.start()
                _pour(client, server)
                back.join(5)


def _pour(source: socket.socket, into: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            into.sendall(data)
        into.shutdown(socket.SHUT_WR)

"""A server where no network is: run by ``unshare --net``, it has a loopback and nothing else.

unshare --net python -m tests.live.alone FOLDER      prints what it saw, as JSON
"""

import fcntl
import json
import socket
import struct
import sys
import urllib.request
from pathlib import Path
from typing import Any

from tests.live.server import LiveServer

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def ask(server: LiveServer, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{server.url}/api/v1{path}",
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
        return answer


def main(folder: Path) -> None:
    raise_loopback()
    with LiveServer(folder) as server:
        ask(server, "POST", "/memories", {"title": "Alone", "body": "No network here. 没有网络\n"})
        found = ask(server, "GET", "/memories/search?query=%E7%BD%91%E7%BB%9C")
        capabilities = ask(server, "GET", "/capabilities")
        ready = server.probe("readyz")
        health = ask(server, "GET", "/health")
        log = server.log()
    print(
        json.dumps(
            {
                "interfaces": [name for _number, name in socket.if_nameindex()],
                "found": [hit["title"] for hit in found["results"]],
                "capabilities": capabilities,
                "ready": ready,
                "health": health,
                "git": [str(path) for path in server.data.rglob(".git")],
                "log": log,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""How the embedder is spoken to: one JSON object a frame, its length before it, over a Unix socket in ``run/``."""

import json
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

LARGEST = 8 << 20  # Bytes of one frame.
LONGEST_ADDRESS = 100  # The kernel takes 107 bytes.
_HEAD = struct.Struct(">I")

Message = dict[str, Any]


class BadFrame(ValueError):
    """What came is no frame; the conversation cannot go on."""


def socket_file() -> Path:
    return Path(settings.RUN_FOLDER) / "embedder.sock"


@contextmanager
def address_of(file: Path) -> Iterator[str]:
    """The address of a socket file; one too long for the kernel goes through its folder's descriptor."""
    if len(os.fsencode(file)) <= LONGEST_ADDRESS:
        yield str(file)
        return
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{file.name}"
    finally:
        os.close(folder)


def send(connection: socket.socket, message: Message) -> None:
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(body) > LARGEST:
        raise BadFrame(f"{len(body)} bytes are more than a frame holds.")
    connection.sendall(_HEAD.pack(len(body)) + body)


def receive(connection: socket.socket) -> Message | None:
    """The next message; nothing where the other side has closed."""
    head = _read(connection, _HEAD.size)
    if not head:
        return None
    (size,) = _HEAD.unpack(head)
    if size > LARGEST:
        raise BadFrame(f"{size} bytes are more than a frame holds.")
    body = _read(connection, size)
    try:
        message = json.loads(body.decode("utf-8", "surrogatepass"))
    except ValueError as failure:
        raise BadFrame("This is no JSON.") from failure
    if len(body) < size or not isinstance(message, dict):
        raise BadFrame("This is no whole JSON object.")
    return message


def _read(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or fewer where the other side closed in between; none where it closed before."""
    parts, missing = [], size
    while missing and (part := connection.recv(min(missing, 1 << 20))):
        parts.append(part)
        missing -= len(part)
    if missing and missing < size and size == _HEAD.size:
        raise BadFrame("The head of a frame was cut.")
    return b"".join(parts)

"""Looking through a pack before a line of it is unpacked into memory.

A pack of half a megabyte can hold an object of half a gigabyte; Git libraries believe the sizes it names. This reads
the whole stream in constant memory and checks what every object says, what it is, and what a delta would make of it.
"""

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

CHUNK = 1 << 16
OFS_DELTA, REF_DELTA = 6, 7
WHOLE = (1, 2, 3, 4)
DELTA_HEADER = 24  # Two numbers of seven bits a byte.


class PackUnsafe(Exception):
    """What is wrong, in a word or two."""


@dataclass(frozen=True, slots=True)
class PackLimits:
    objects: int = 2_000_000
    object_bytes: int = 16 * 2**20
    total_bytes: int = 4 * 2**30


@dataclass(frozen=True, slots=True)
class PackContent:
    objects: int
    total_bytes: int
    largest: int


def scan_pack(read: Callable[[int], bytes], limits: PackLimits) -> PackContent:
    """Walk through a pack. Raises ``PackUnsafe``."""
    stream = _Stream(read)
    signature, version, objects = struct.unpack(">4sLL", stream.take(12))
    if signature != b"PACK" or version not in (2, 3):
        raise PackUnsafe("not a pack")
    if objects > limits.objects:
        raise PackUnsafe("too many objects")
    total = largest = 0
    for _number in range(objects):
        size = _object(stream, limits)
        total, largest = total + size, max(largest, size)
        if total > limits.total_bytes:
            raise PackUnsafe("too much data")
    return PackContent(objects, total, largest)


class _Stream:
    """Bytes in order, with a look at the ones to come."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read, self._buffer, self._at = read, b"", 0

    def take(self, count: int) -> bytes:
        self._fill(count)
        taken = self._buffer[self._at : self._at + count]
        self._at += count
        return taken

    def byte(self) -> int:
        if self._at >= len(self._buffer):
            self._fill(1)
        value = self._buffer[self._at]
        self._at += 1
        return value

    def piece(self, count: int) -> bytes:
        """At most so many bytes, at least one; ``give_back`` returns those that were not needed."""
        if self._at >= len(self._buffer):
            self._fill(1)
        taken = self._buffer[self._at : self._at + count]
        self._at += len(taken)
        return taken

    def give_back(self, count: int) -> None:
        self._at -= count

    def _fill(self, count: int) -> None:
        while len(self._buffer) - self._at < count:
            more = self._read(CHUNK)
            if not more:
                raise PackUnsafe("cut short")
            self._buffer, self._at = self._buffer[self._at :] + more, 0


def _object(stream: _Stream, limits: PackLimits) -> int:
    """Pass over one object; answers how large it will be."""
    kind, size = _header(stream)
    if kind == OFS_DELTA:
        while stream.byte() & 0x80:
            pass
    elif kind == REF_DELTA:
        stream.take(20)
    elif kind not in WHOLE:
        raise PackUnsafe("an object of an unknown kind")
    if size > limits.object_bytes:
        raise PackUnsafe("an object that is too large")
    beginning = _inflate(stream, size)
    if kind in WHOLE:
        return size
    base, at = _number(beginning, 0)
    target, _end = _number(beginning, at)
    if max(base, target) > limits.object_bytes:
        raise PackUnsafe("an object that is too large")
    return target


def _header(stream: _Stream) -> tuple[int, int]:
    byte = stream.byte()
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        byte = stream.byte()
        size |= (byte & 0x7F) << shift
        shift += 7
        if shift > 63:
            raise PackUnsafe("a size without an end")
    return kind, size


def _inflate(stream: _Stream, size: int) -> bytes:
    """Unpack and forget; the first bytes are answered, because a delta begins with its sizes."""
    inflater, got, beginning = zlib.decompressobj(), 0, b""
    step = min(CHUNK, size + 64)
    while not inflater.eof:
        piece = stream.piece(step)
        try:
            out = inflater.decompress(piece, CHUNK)
        except zlib.error:
            raise PackUnsafe("damaged data") from None
        # At the end of the object ``unconsumed_tail`` would be empty whatever is left.
        stream.give_back(len(inflater.unused_data if inflater.eof else inflater.unconsumed_tail))
        got += len(out)
        if len(beginning) < DELTA_HEADER:
            beginning += out[:DELTA_HEADER]
        if got > size:
            raise PackUnsafe("an object that is larger than it says")
    if got != size:
        raise PackUnsafe("an object that is smaller than it says")
    return beginning


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
    raise PackUnsafe("a delta without sizes")

"""A screenshot as a small PNG: a page has few colours, so each pixel is one byte into a palette. Standard library only."""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256
Colour = tuple[int, int, int]


def small(picture: bytes) -> bytes:
    """The same picture with at most 256 colours, the most frequent ones; others become the nearest of those."""
    width, height, pixels = _read(picture)
    found = Counter(pixels)
    palette = [colour for colour, _count in found.most_common(COLOURS)]
    place = {colour: number for number, colour in enumerate(palette)}
    place |= {colour: _nearest(colour, palette) for colour in found.keys() - place.keys()}
    numbers = bytes(place[pixel] for pixel in pixels)
    rows = b"".join(b"\0" + numbers[start : start + width] for start in range(0, width * height, width))
    return SIGNATURE + b"".join(
        [
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", bytes(value for colour in palette for value in colour)),
            _chunk(b"IDAT", zlib.compress(rows, 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _nearest(colour: Colour, palette: list[Colour]) -> int:
    red, green, blue = colour
    return min(
        range(len(palette)),
        key=lambda n: (palette[n][0] - red) ** 2 + (palette[n][1] - green) ** 2 + (palette[n][2] - blue) ** 2,
    )


def _read(picture: bytes) -> tuple[int, int, list[Colour]]:
    """Width, height and pixels of a PNG as browsers write it: 8 bits, RGB with or without transparency, not interlaced."""
    chunks = dict(_chunks(picture))
    width, height, depth, kind, _compression, _filter, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, interlaced) == (8, 0) and kind in (2, 6), "This is no screenshot."
    size = 3 if kind == 2 else 4
    data = zlib.decompress(chunks[b"IDAT"])
    line = bytearray(width * size)
    pixels: list[Colour] = []
    for start in range(0, len(data), width * size + 1):
        line = _unfiltered(data[start], bytearray(data[start + 1 : start + 1 + width * size]), line, size)
        pixels += [(line[at], line[at + 1], line[at + 2]) for at in range(0, len(line), size)]
    return width, height, pixels


def _unfiltered(method: int, line: bytearray, above: bytearray, size: int) -> bytearray:
    for at in range(len(line)):
        left = line[at - size] if at >= size else 0
        corner = above[at - size] if at >= size else 0
        guess = (0, left, above[at], (left + above[at]) // 2, _paeth(left, above[at], corner))[method]
        line[at] = (line[at] + guess) & 255
    return line


def _paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert picture.startswith(SIGNATURE)
    at, data = len(SIGNATURE), b""
    while at < len(picture):
        length, name = struct.unpack(">I4s", picture[at : at + 8])
        content = picture[at + 8 : at + 8 + length]
        data += content if name == b"IDAT" else b""
        yield name, data if name == b"IDAT" else content
        at += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

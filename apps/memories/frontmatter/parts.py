"""A document taken apart into its head and its body, byte for byte."""

from dataclasses import dataclass

from apps.memories.frontmatter.errors import NotUtf8

BOM = b"\xef\xbb\xbf"
HEAD_LIMIT = 512 * 1024  # A rule further down than this closes no head.


@dataclass(frozen=True, slots=True)
class Parts:
    """A document taken apart; joined in this order, the pieces are the document."""

    bom: bool
    opening: bytes
    head_lines: tuple[bytes, ...] | None  # None: there is no frontmatter, all of it is body.
    closing: bytes
    body: bytes
    newline: bytes  # What ends new lines.

    def joined(self) -> bytes:
        return b"".join([BOM if self.bom else b"", self.opening, *(self.head_lines or ()), self.closing, self.body])


def check_utf8(document: bytes) -> None:
    try:
        document.decode()
    except UnicodeDecodeError as error:
        raise NotUtf8(position=error.start) from error


def newline_of(body: bytes) -> bytes:
    end = body.find(b"\n")
    return b"\r\n" if end > 0 and body[end - 1 : end] == b"\r" else b"\n"

"""Secrets in base64: a key block in a manifest, an environment file in a Kubernetes secret, a known value inside either."""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from string import printable

RUN = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
PRINTABLE = printable.encode()
PLAIN = 0.9  # So much of a decoded text is ordinary characters; of a picture or a hash about a third is.
SHORTEST_TO_ENCODE = 8

Place = tuple[int, int]


def runs_that(text: str, holds: Callable[[str], bool]) -> Iterator[Place]:
    """The base64 runs whose decoded text ``holds`` something. A run may begin in the middle of a word: four tries."""
    for match in RUN.finditer(text):
        if any(holds(plain) for plain in _decoded(match.group())):
            yield match.span()


def _decoded(run: str) -> Iterator[str]:
    standard = run.rstrip("=").replace("-", "+").replace("_", "/").encode()
    for skipped in range(4):
        part = standard[skipped:]
        if len(part) % 4 == 1:
            part = part[:-1]
        decoded = base64.b64decode(part + b"=" * (-len(part) % 4))
        if len(decoded.translate(None, PRINTABLE)) <= len(decoded) * (1 - PLAIN):
            yield decoded.decode("latin-1")
        else:
            try:
                yield decoded.decode()  # Chinese is no ASCII, and still text.
            except UnicodeDecodeError:
                continue


def encoded_forms(values: Iterable[str]) -> Iterator[str]:
    """How a value shows inside base64, at each of the three places it may begin at, without the parts that depend on
    its neighbours."""
    for value in values:
        raw = value.encode()
        if len(raw) < SHORTEST_TO_ENCODE:
            continue
        for shift in range(3):
            text = base64.b64encode(b"\0" * shift + raw).decode()
            begin = 0 if shift == 0 else shift + 1
            end = len(text.rstrip("=")) - (0 if (shift + len(raw)) % 3 == 0 else 1)
            yield text[begin:end]

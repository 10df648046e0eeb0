"""What text is once it is inside: one Unicode form, one line ending, no hidden characters, and names made from it.

Pure functions. ``fold`` is for comparing and never for showing or storing as somebody's words.
"""

import re
import unicodedata

SLUG_CHARACTERS = 60
SLUG_BYTES = 180
UNTITLED = "untitled"

# Windows gives these to devices, whatever the extension behind them and whatever the case.
DEVICE_NAMES = frozenset(
    ["con", "prn", "aux", "nul", "clock$", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)

_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Control characters, line and paragraph separators: none of them belongs into one line.
_BREAKING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Byte-order marks and the marks that turn the reading direction: they hide what a title says.
_DECEIVING = re.compile(r"[\ufeff\u202a-\u202e\u2066-\u2069]")
# Letters and marks that nobody sees: fillers, joiners, variation selectors.
_INVISIBLE = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2064\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019\u02bc](?=\w)")


def nfc(text: str) -> str:
    """Text in composed form (NFC), in which everything is stored and compared."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """A key that is the same for texts differing only in case, width or Unicode form."""
    if text.isascii():
        return text.lower()
    # Folding case can bring forth sequences that compose or decompose anew, hence the second round.
    for _ in range(2):
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).casefold())
    return text


def lf(document: bytes) -> bytes:
    """Bytes with every CRLF and every lone CR turned into LF."""
    if b"\r" not in document:
        return document
    return document.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def without_surrogates(text: str) -> str:
    """Text that UTF-8 can hold: halves of a pair are joined, a half left alone becomes U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_line(text: str) -> str:
    """One line for a title or a name: NFC, no control characters, single spaces, nothing around it."""
    text = _DECEIVING.sub("", _BREAKING.sub(" ", without_surrogates(text)))
    return nfc(" ".join(text.split()))


def slug_for(title: str) -> str:
    """A readable name for ``title``: lower-case letters, marks and digits of every script, joined by hyphens.

    It is never empty, never a device name, at most 60 characters and 180 bytes, and its own slug is itself.
    """
    text = unicodedata.normalize("NFKC", without_surrogates(title))
    text = _INVISIBLE.sub("", _APOSTROPHE.sub("", text))
    # Lower-casing first: it may bring forth marks (the dotted capital I does) and those must still compose.
    text = unicodedata.normalize("NFKC", text.lower())
    slug = _cut("-".join(_words(text)), SLUG_CHARACTERS, SLUG_BYTES)
    if slug in DEVICE_NAMES:
        return f"{slug}-name"
    return slug or UNTITLED


def with_suffix(slug: str, number: int) -> str:
    """The ``number``-th name from ``slug``: itself first, then ``slug-2``, ``slug-3`` ..., within the same limits."""
    if number < 2:
        return slug
    suffix = f"-{number}"
    return _cut(slug, SLUG_CHARACTERS - len(suffix), SLUG_BYTES - len(suffix)) + suffix


def same_slug_key(slug: str) -> str:
    """What must be unique where slugs must: two slugs with the same key are one name to some file system."""
    return nfc(fold(slug))


def _words(text: str) -> list[str]:
    words: list[str] = []
    word: list[str] = []
    for character in text:
        kind = unicodedata.category(character)[0]
        # A mark belongs to the letter before it; one that stands alone (on an emoji, say) is left out.
        if kind in "LN" or (kind == "M" and word):
            word.append(character)
        elif word:
            words.append("".join(word))
            word = []
    if word:
        words.append("".join(word))
    return words


def _cut(text: str, characters: int, size: int) -> str:
    if len(text) <= characters and len(text.encode()) <= size:
        return text
    end = min(len(text), characters)
    while len(text[:end].encode()) > size:
        end -= 1
    whole = end
    # Never between a letter and its marks, unless there is nothing but marks.
    while end and end < len(text) and unicodedata.category(text[end])[0] == "M":
        end -= 1
    return text[: end or whole].strip("-")

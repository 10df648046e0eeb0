"""A text as a reader or a program would take it: unescaped, without hidden characters, broken words put together.

A secret written as ``g\\u200bhp_…``, ``ghp\\_…``, ``%67hp_…`` or over two lines is a secret to whoever reads it. Rules are
simple; so the text is put before them in a plain form, and what they find is told in places of the text as it was.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

Edit = tuple[int, int, str]  # From, to, and what stands there instead.
ROUNDS = 3  # An address inside an address is escaped twice; more often than this nobody reads it back.

INVISIBLE = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef"
)
_PLAIN = re.compile(
    rf"(?P<hidden>[{INVISIBLE}]+)"
    r"|(?P<wide>[\uff01-\uff5e\u3000])"
    r"|(?P<percent>(?:%[0-9A-Fa-f]{2})+)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});)"
    r"|(?P<unicode>\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})"
    r"|(?P<line><br[ ]?/?>)"
    r"|(?P<mark>\\(?=[-_*~`.\[\]#+!|>]))"  # A backslash that Markdown wants.
)
_EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9])_{1,3}(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])_{1,3}(?![A-Za-z0-9_])"
    r"|(?<=[A-Za-z0-9])(?:\*{1,3}|~~|`)(?=[A-Za-z0-9])"
)
# Where a word may have been broken: a line end with what editors and quotes put around it, or two literals set together.
_BREAK = re.compile(
    r"""(?<=[A-Za-z0-9_+/=.~-])(?:[ \t]{0,40}\\?\r?\n[ \t>|]*"""
    r"""|(["'`])[ \t]{0,40}[\\+.]?[ \t]{0,4}\r?\n[ \t>|]*[+.]?[ \t]*\1|(["'`])[ ]?\+[ ]?\2)"""
)
_PIECE = re.compile(r"([A-Za-z0-9_+/.~-]{4,}={0,2})(?=[\"'`,;)\]<|\\\s]|$)(?![ \t]*[=:：])")
_LONG_PIECE = 16


class View:
    """A changed text that knows where each of its parts stood before."""

    def __init__(self, text: str, edits: Iterable[Edit] = (), under: "View | None" = None) -> None:
        self._under = under
        self._at: list[int] = []  # Where each stretch begins in this view,
        self._was: list[int] = []  # where it began before,
        self._length: list[int] = []  # and how long it was; 0 for a stretch that stands as it was.
        pieces: list[str] = []
        here = position = 0
        for start, end, instead in edits:
            here = self._stretch(pieces, here, position, text[position:start], 0)
            here = self._stretch(pieces, here, start, instead, end - start)
            position = end
        self._stretch(pieces, here, position, text[position:], 0)
        self.text = "".join(pieces)

    def _stretch(self, pieces: list[str], here: int, was: int, text: str, length: int) -> int:
        if text:
            pieces.append(text)
            self._at.append(here)
            self._was.append(was)
            self._length.append(length)
        return here + len(text)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of this view stands in the text at the bottom."""
        first, last = bisect_right(self._at, start) - 1, bisect_right(self._at, end - 1) - 1
        start = self._was[first] + (0 if self._length[first] else start - self._at[first])
        end = self._was[last] + (self._length[last] or end - self._at[last])
        return self._under.place(start, end) if self._under else (start, end)


def views_of(text: str) -> Iterator[View]:
    """The text as it stands, then in plain form, then with its broken words joined; each only where it differs."""
    view = View(text)
    yield view
    plain = view
    for _ in range(ROUNDS):
        edits = list(_plain_edits(plain.text))
        if not edits:
            break
        plain = View(plain.text, edits, plain)
        if not any(instead for _start, _end, instead in edits):
            break  # Signs went; nothing was unescaped that could be escaped once more.
    if emphasis := [(*match.span(), "") for match in _EMPHASIS.finditer(plain.text)]:
        plain = View(plain.text, emphasis, plain)
    if plain is not view:
        yield plain
    if joins := list(_joins(plain.text)):
        yield View(plain.text, joins, plain)


def _plain_edits(text: str) -> Iterator[Edit]:
    for match in _PLAIN.finditer(text):
        found, start = match.group(), match.start()
        match match.lastgroup:
            case "wide":
                yield start, start + 1, " " if found == "\u3000" else chr(ord(found) - 0xFEE0)
            case "percent":
                yield from _unquoted(found, start)
            case "entity":
                if (meant := html.unescape(found)) != found:
                    yield start, match.end(), meant
            case "unicode":
                yield start, match.end(), chr(int(found[2:], 16))
            case "line":
                yield start, match.end(), "\n"
            case _:
                yield start, match.end(), ""


def _unquoted(run: str, start: int) -> Iterator[Edit]:
    """``%E5%AF%86`` character by character, so that a secret begins where it begins."""
    try:
        meant = unquote_to_bytes(run).decode()
    except UnicodeDecodeError:
        return  # It only looks like an address.
    for character in meant:
        end = start + 3 * len(character.encode())
        yield start, end, character
        start = end


def _joins(text: str) -> Iterator[Edit]:
    """Breaks with something behind them that is no word: prose and code stay as they are."""
    for match in _BREAK.finditer(text):
        piece = _PIECE.match(text, match.end())
        if piece and _is_no_word(piece[1]):
            yield match.start(), match.end(), ""


def _is_no_word(piece: str) -> bool:
    digits, letters = any(one.isdigit() for one in piece), any(one.isalpha() for one in piece)
    if digits and letters:
        return True
    return len(piece) >= _LONG_PIECE and piece != piece.lower() and piece != piece.upper()

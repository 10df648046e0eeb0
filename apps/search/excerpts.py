"""The place of a match, shown in the original text. Pure.

The index holds words cut for searching, which nobody wants to read; so the match is looked for again in the text
itself: first by plain finding of what the words begin with (fast in a text of any length), then by the
tokeniser around it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from apps.search.expressions import COMMON, COMMON_CHARACTERS, MAX_CHARACTERS
from apps.search.stems import IRREGULAR
from apps.search.tokens import JOINERS, Shape, Token, chunk_tokens, pieces, plain, tokens

ELLIPSIS = "…"
_PLACES_A_NEEDLE = 40
_TRIES_A_NEEDLE = 400
_REACH = 60
_SLOW_TEXT = 20_000
_CHUNK = re.compile(r"\S+")
_JOINERS = frozenset(JOINERS)
_SPACE = re.compile(r"\s+")
_WIDE_SPACE = re.compile(r"\s{2,}|[^\S ]")  # All but single spaces, which are shown as they are.
# Marks apart from their letters, ligatures, half-width kana: rare, and only cutting the words finds what they hide.
_HARD = re.compile(
    "[\u00ad\u00df\u00c6\u00e6\u0152\u0153\u0300-\u036f\u200b-\u200d\u3099\u309a\ufb00-\ufb06\uff65-\uff9f]"
)
_WIDE_OR_ACCENTED = re.compile(
    "[\u00c0-\u024f\u0370-\u03ff\u0401\u0451\u1e00-\u1fff\u2010\u2011\u2018\u2019\uff01-\uff5e]"
)
# Never cut before one of these: they belong to the character in front of them.
_JOINED = re.compile(r"[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\u0e31\u0e33-\u0e3a\u0e47-\u0e4e]")


# What ends the sentence or bracket before; an excerpt never begins with it.
_CLOSING = frozenset(".,;:!?)]}\"'\u2019\u201d\u00bb\u2026。，、；：！？）】」』》〉．")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``marks`` are places in ``text``, in order and apart from each other."""

    text: str
    marks: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Needles:
    """``words`` are tokens that the tokeniser must confirm; ``runs`` are characters that only need finding."""

    words: frozenset[str]
    runs: frozenset[str]
    beginning: re.Pattern[str]  # What any of the words may begin with; matches nothing where there is no word.


def excerpt(text: str, query: str, width: int = 240, *, piece: tuple[int, int] | None = None) -> Excerpt:
    """About ``width`` characters of ``text`` where most of ``query`` stands; its beginning if nothing does.

    ``piece`` is the place to show instead, where one is known that means what was asked.
    """
    needles = _needles(query[:MAX_CHARACTERS])
    start, end = piece or _best_place(_places(text, needles), width)
    start, end = min(start, len(text)), min(end, len(text))
    return _cut(text, *_window(text, start, end, width), needles)


@lru_cache(maxsize=256)
def _needles(query: str) -> _Needles:
    words: set[str] = set()
    runs: set[str] = set()
    common: set[str] = set()
    for piece in pieces(query):
        if piece.shape is Shape.RUN:
            pairs = {part.token for part in piece.parts[:-1]} or {piece.surface}
            common |= {pair for pair in pairs if len(pair) > 1 and COMMON_CHARACTERS.intersection(pair)}
            runs |= pairs - common
        else:
            words |= {name.token for name in piece.names}
            for part in piece.parts:
                if len(part.token) > 1 or not piece.names:  # The E of E4604 stands in every text.
                    (common if part.surface in COMMON else words).add(part.token)
    if not words and not runs:
        runs = {token for token in common if not token.isascii()}
        words = common - runs
    beginnings = sorted({re.escape(beginning) for word in words for beginning in _beginnings(word)})
    return _Needles(frozenset(words), frozenset(runs), re.compile("|".join(beginnings) or "(?!)"))


# --- finding -----------------------------------------------------------------------------------------------


def _places(text: str, needles: _Needles) -> list[tuple[int, int, str]]:
    low = _aligned(text)
    found = {place for word in needles.words for place in _places_of(text, low, word)}
    for run in needles.runs:
        found |= {(place, place + len(run), run) for place in _occurrences(low, run, _PLACES_A_NEEDLE)}
    if not found and _HARD.search(text):
        wanted = needles.words | needles.runs
        found = {(token.start, token.end, token.text) for token in tokens(text[:_SLOW_TEXT]) if token.text in wanted}
    return sorted(found)


def _places_of(text: str, low: str, word: str) -> Iterator[tuple[int, int, str]]:
    number = 0
    for beginning in _beginnings(word):
        for place in _occurrences(low, beginning, _TRIES_A_NEEDLE):
            for token in _tokens_around(text, place):
                if token.text == word and token.start <= place < token.end:
                    yield token.start, token.end, word
                    number += 1
            if number >= _PLACES_A_NEEDLE:
                return


@lru_cache(maxsize=1_024)
def _beginnings(token: str) -> frozenset[str]:
    """What every word with this stem begins with: *polic* for policy and policies."""
    if not (token.isascii() and token.isalpha()):
        return frozenset({token})
    irregular = {word for word, stem in IRREGULAR.items() if stem == token}
    return frozenset({token[:-1] if len(token) > 3 else token[:2], *irregular})


def _occurrences(text: str, what: str, most: int) -> Iterator[int]:
    place = text.find(what)
    while place >= 0 and most:
        yield place
        most -= 1
        place = text.find(what, place + 1)


def _tokens_around(text: str, place: int) -> Iterator[Token]:
    reach_end = min(len(text), place + _REACH)
    start = _chunk_start(text, place, max(0, place - _REACH))
    gap = _SPACE.search(text, place, reach_end)
    for token in chunk_tokens(text[start : gap.start() if gap else reach_end]):
        yield Token(token.text, token.start + start, token.end + start, token.kind)


def _chunk_start(text: str, place: int, earliest: int) -> int:
    while place > earliest and not text[place - 1].isspace():
        place -= 1
    return place


def _aligned(text: str) -> str:
    """The text in lower case without accents and width, every character still at its place."""
    if text.isascii():
        return text.lower()
    low = _WIDE_OR_ACCENTED.sub(lambda match: _one_plain(match[0]), text)
    lower = low.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in low)


@lru_cache(maxsize=1_024)
def _one_plain(letter: str) -> str:
    became = plain(letter)
    return became if len(became) == 1 else letter


# --- choosing and cutting -----------------------------------------------------------------------------------


def _best_place(places: list[tuple[int, int, str]], width: int) -> tuple[int, int]:
    """The stretch with most different words of the query, the first such one."""
    best, chosen = 0, (0, 0)
    last = 0
    inside: dict[str, int] = {}
    for number, (start, _, _) in enumerate(places):
        while last < len(places) and places[last][1] <= start + width * 3 // 4:
            inside[places[last][2]] = inside.get(places[last][2], 0) + 1
            last += 1
        worth = sum(3 + len(needle) // 2 for needle, count in inside.items() if count)
        if worth > best:
            best, chosen = worth, (start, max(end for _, end, _ in places[number:last]))
        if last > number:
            inside[places[number][2]] -= 1
        else:
            last = number + 1
    return chosen if best or not places else places[0][:2]


def _window(text: str, start: int, end: int, width: int) -> tuple[int, int]:
    room = max(0, width - (end - start))
    begin = max(0, start - min(room // 2, width // 3))
    stop = min(len(text), max(end, begin + width))
    begin = max(0, min(begin, stop - width))
    return _word_start(text, begin, start), _word_end(text, stop, end)


def _word_start(text: str, begin: int, latest: int) -> int:
    """Forward to where a word starts, at most to the match; inside a run without spaces any character is a start."""
    if begin == 0:
        return 0
    place = begin
    while place < latest and place - begin < 30 and not _may_cut(text, place):
        place += 1
    if place - begin < 30:
        return place
    return _between_characters(text, begin)


def _word_end(text: str, stop: int, earliest: int) -> int:
    place = stop
    while place > earliest and stop - place < 30 and not _may_cut(text, place):
        place -= 1
    if stop - place < 30:
        return place if _may_cut(text, place) else _between_characters(text, place)
    return _between_characters(text, stop)


def _may_cut(text: str, place: int) -> bool:
    if place <= 0 or place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if _is_joined(before, after):
        return False
    is_spaced_word = before.isalnum() and after.isalnum() and not (before >= "\u0e00" and after >= "\u0e00")
    return not is_spaced_word


def _is_joined(before: str, after: str) -> bool:
    return before == "\u200d" or _joins(after)


@lru_cache(maxsize=4_096)
def _joins(letter: str) -> bool:
    return bool(_JOINED.match(letter)) or unicodedata.category(letter)[0] == "M"


def _between_characters(text: str, place: int) -> int:
    while 0 < place < len(text) and _is_joined(text[place - 1], text[place]):
        place += 1
    return place


def _cut(text: str, begin: int, stop: int, needles: _Needles) -> Excerpt:
    while begin < stop and (text[begin].isspace() or _is_closing(text, begin)):
        begin += 1
    while stop > begin and text[stop - 1].isspace():
        stop -= 1
    shown = ELLIPSIS if text[:begin].strip() else ""
    marks: list[tuple[int, int]] = []
    done = begin
    for start, end in _marks(text[begin:stop], needles):
        shown += _WIDE_SPACE.sub(" ", text[done : begin + start])
        marked = _WIDE_SPACE.sub(" ", text[begin + start : begin + end])
        marks.append((len(shown), len(shown) + len(marked)))
        shown += marked
        done = begin + end
    shown += _WIDE_SPACE.sub(" ", text[done:stop])
    return Excerpt(shown + (ELLIPSIS if text[stop:].strip() else ""), marks)


def _is_closing(text: str, place: int) -> bool:
    """Whether it belongs to the word in front of it: the dot of .env does not."""
    return place > 0 and text[place] in _CLOSING and not text[place - 1].isspace()


def _marks(part: str, needles: _Needles) -> list[tuple[int, int]]:
    low = _aligned(part)
    spans = [(place, place + len(run)) for run in needles.runs for place in _occurrences(low, run, len(low))]
    wanted, chunks = needles.words, _chunks_with(needles.beginning, part, low)
    if _HARD.search(part):
        wanted, chunks = needles.words | needles.runs, [found.span() for found in _CHUNK.finditer(part)]
    for start, end in chunks:
        spans += [
            (start + token.start, start + token.end)
            for token in chunk_tokens(part[start:end])
            if token.text in wanted
        ]  # fmt: skip
    return _merged(part, sorted(spans))


def _chunks_with(beginning: re.Pattern[str], part: str, low: str) -> Iterable[tuple[int, int]]:
    """The chunks between white space in which it matches; in a hit by meaning mostly none."""
    end = 0
    for found in beginning.finditer(low):
        if found.start() < end:
            continue
        start = _chunk_start(part, found.start(), end)
        gap = _SPACE.search(part, found.end())
        end = gap.start() if gap else len(part)
        yield start, end


def _merged(part: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that overlap or touch as one, or have but a joiner between them: pairs of a run, parts of an identifier."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and (start <= merged[-1][1] or part[merged[-1][1] : start] in _JOINERS):
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged

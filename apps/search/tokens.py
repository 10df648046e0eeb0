r"""The one tokeniser of MemRelay: text search, recall and the search for duplicates all cut words here.

Final as version 1: whatever changes a token needs a new ``TOKENISER_VERSION`` and a rebuild of the index. Pure.

A text becomes two streams, and FTS5 only splits them at spaces (see ``FTS_TOKENIZER``):

* **words**, in reading order, so that phrases can be found. English words as light stems; Latin and Greek without their
  accents; scripts written without spaces (Chinese, Japanese, Korean, Thai ...) as overlapping pairs and the last
  character of the run, so that any part of a run is a phrase of pairs and any single character begins a pair;
  identifiers in their parts: ``getUserName`` is *get user name*, ``BUG123`` is *bug 123*.
* **names**: identifiers, paths, versions, codes and addresses as they stand, case-folded and never stemmed
  (``src/main.py``, ``err_conn_reset``, ``getusername``).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from operator import add
from typing import NamedTuple

from apps.search.stems import stem

TOKENISER_VERSION = 1

# What may join the words of one identifier. FTS5's ascii tokenizer keeps these and everything beyond ASCII, which does
# not depend on the Unicode version that SQLite was built with.
JOINERS = r"_-./\:@+#&=~%"
FTS_TOKENIZER = f"ascii tokenchars '{JOINERS}'"

LONGEST_WORD = 64
LONGEST_NAME = 200
_CACHED_CHUNK = 40

# Han with its extensions, kana, bopomofo, hangul; Thai, Lao, Burmese and Khmer have no spaces between words either.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u17d7\u17dc-\u17e9"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_SIGNS = "\u2190-\u21ff\u2600-\u27bf\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
# Vowel signs and other marks that are part of a word although Python does not count them as letters.
_MARKS = "\u0483-\u0487\u06d6-\u06ed\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39\u0f71-\u0fbc"

_LETTER = rf"(?:[^\W_]|[{_MARKS}])"
_WORD = rf"{_LETTER}+(?:'{_LETTER}+)*"
_JOINER = r"[_\-./\\:@+#&=~%]"
# C++, g++, C#: the sign belongs to a name of one or two letters.
_SIGNED = rf"(?<!{_LETTER})[A-Za-z]{{1,2}}(?:\+\+|\#)"
_PART = re.compile(rf"{_SIGNED}|{_WORD}")
_COMPOUND = re.compile(rf"(?:{_SIGNED}|{_WORD})(?:{_JOINER}{{1,3}}(?:{_SIGNED}|{_WORD})|(?<=[+\#]){_WORD})*")
_RUN_OR_SIGN = re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?P<sign>[{_SIGNS}])")
_HUMP = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_LETTER_BESIDE_DIGIT = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
_CLUSTER = re.compile(r".[\u0300-\u036f\u3099\u309a\uff9e\uff9f\u1160-\u11ff]*", re.DOTALL)
_CHUNK = re.compile(r"\S+")
_PATH_END = re.compile(r"[/\\]+")
_CONTRACTIONS = frozenset({"s", "re", "ve", "ll", "d", "m"})


class Kind(Enum):
    WORD = "word"  # a word of a script with spaces; its token is a stem
    PART = "part"  # a part of an identifier
    NAME = "name"  # an identifier as it stands
    PAIR = "pair"  # two neighbours of a run without spaces, or the last one alone
    SIGN = "sign"  # an emoji or arrow


class Token(NamedTuple):
    """``text`` is what the index holds; ``start`` and ``end`` are places in the original text."""

    text: str
    start: int
    end: int
    kind: Kind


class Shape(Enum):
    COMPOUND = "compound"
    RUN = "run"
    SIGN = "sign"


class Part(NamedTuple):
    token: str
    surface: str
    start: int
    end: int


class Piece(NamedTuple):
    """One thing a reader would call a word, a run, an identifier; ``names`` is empty for plain words."""

    shape: Shape
    surface: str
    start: int
    end: int
    parts: tuple[Part, ...]
    names: tuple[Part, ...]


class Segmented(NamedTuple):
    """A text for the index: both streams with single spaces between tokens."""

    words: str
    names: str


# --- one plain form before anything is cut ------------------------------------------------------------------


def _plain_letters() -> dict[str, str]:
    """Latin and Greek letters with accents and the plain letters they are searched by."""
    plain: dict[str, str] = {}
    for first, last in ((0xC0, 0x24F), (0x1E00, 0x1EFF), (0x370, 0x3FF), (0x1F00, 0x1FFF)):
        for code in range(first, last + 1):
            letter = chr(code)
            bare = "".join(c for c in unicodedata.normalize("NFD", letter) if not unicodedata.combining(c))
            if bare != letter:
                plain[letter] = bare
    plain |= dict(zip("øØłŁđĐðÐħĦı", "oOlLdDdDhHi", strict=True))
    plain |= {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ё": "е", "Ё": "Е"}
    plain |= {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
    return plain


_PLAIN = _plain_letters()
# Nobody types these: accents left over, Arabic and Hebrew vowel points, joiners, soft hyphens, variation selectors.
_UNSEEN = (
    "\u00ad\u0300-\u036f\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
)
_CHANGED = re.compile(f"[{_UNSEEN}{re.escape(''.join(_PLAIN))}]")

# Every Chinese text holds these; with them gone, normalising ordinary text is a quick check (156 -> 15 us a page).
_WIDE_PUNCTUATION = [(wide, unicodedata.normalize("NFKC", wide)) for wide in "，：；！？（）…"]


def plain(text: str) -> str:
    """NFKC without accents and unseen characters; case stays, since it shows where identifiers join."""
    if text.isascii():
        return text
    for wide, narrow in _WIDE_PUNCTUATION:
        text = text.replace(wide, narrow)
    return _CHANGED.sub(_plain_letter, unicodedata.normalize("NFKC", text))


_plain_cluster = lru_cache(maxsize=2_048)(plain)


def _plain_letter(match: re.Match[str]) -> str:
    return _PLAIN.get(match[0], "")


# --- cutting ------------------------------------------------------------------------------------------------


def segment(text: str) -> Segmented:
    """The two streams of one text for the index."""
    words: list[str] = []
    names: list[str] = []
    for chunk in plain(text).split():
        stream, named = _chunk_streams(chunk) if len(chunk) <= _CACHED_CHUNK else _streams(chunk)
        if stream:
            words.append(stream)
        if named:
            names.append(named)
    return Segmented(" ".join(words), " ".join(names))


def words(text: str) -> list[str]:
    """All tokens of a text, as the index holds them: its words in order, then its names."""
    return " ".join(segment(text)).split()


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a text, for queries; places are those of ``plain(text)``."""
    return _pieces(plain(text))


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a text with their places in it, in reading order; a name comes before its parts."""
    for match in _CHUNK.finditer(text):
        offset = match.start()
        for token, start, end, kind in chunk_tokens(match[0]):
            yield Token(token, start + offset, end + offset, kind)


def chunk_tokens(chunk: str) -> Sequence[Token]:
    """The tokens of one stretch without white space; short ones, which come again and again, from a cache."""
    return _short_chunk_tokens(chunk) if len(chunk) <= _CACHED_CHUNK else _tokens_of_chunk(chunk)


def _tokens_of_chunk(chunk: str) -> tuple[Token, ...]:
    became, places = _plain_with_places(chunk)
    return tuple(token for piece in _pieces(became) for token in _tokens_of(piece, places))


_short_chunk_tokens = lru_cache(maxsize=4_096)(_tokens_of_chunk)


def _tokens_of(piece: Piece, places: "_Places") -> Iterator[Token]:
    for name in piece.names:
        yield _placed(name, Kind.NAME, places)
    match piece.shape:
        case Shape.RUN:
            kind = Kind.PAIR
        case Shape.SIGN:
            kind = Kind.SIGN
        case Shape.COMPOUND:
            kind = Kind.PART if piece.names or len(piece.parts) > 1 else Kind.WORD
    for part in piece.parts:
        yield _placed(part, kind, places)


class _Places(NamedTuple):
    """For each character of a plain text where the original characters it came from start and end."""

    starts: Sequence[int]
    ends: Sequence[int]


def _placed(part: Part, kind: Kind, places: _Places) -> Token:
    return Token(part.token, places.starts[part.start], places.ends[part.end - 1], kind)


def _plain_with_places(chunk: str) -> tuple[str, _Places]:
    if plain(chunk) == chunk:
        return chunk, _Places(range(len(chunk)), range(1, len(chunk) + 1))
    built: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    place = 0
    # A letter goes together with the marks behind it (and with hangul vowels and finals), as NFKC composes them.
    for cluster in _CLUSTER.findall(chunk):
        became = _plain_cluster(cluster)
        end = place + len(cluster)
        built.append(became)
        starts += [place] * len(became)
        ends += [end] * len(became)
        place = end
    return "".join(built), _Places(starts, ends)


def _pieces(text: str) -> Iterator[Piece]:
    done = 0
    if not text.isascii():
        for match in _RUN_OR_SIGN.finditer(text):
            yield from _compounds(text, done, match.start())
            yield _run(match) if match.lastgroup == "run" else _sign(match)
            done = match.end()
    yield from _compounds(text, done, len(text))


def _run(match: re.Match[str]) -> Piece:
    run, start, end = match[0].casefold(), match.start(), match.end()
    last = Part(run[-1], run[-1], end - 1, end)
    pairs = [Part(run[i : i + 2], run[i : i + 2], start + i, start + i + 2) for i in range(len(run) - 1)]
    return Piece(Shape.RUN, run, start, end, (*pairs, last), ())


def _sign(match: re.Match[str]) -> Piece:
    part = Part(match[0], match[0], match.start(), match.end())
    return Piece(Shape.SIGN, match[0], match.start(), match.end(), (part,), ())


def _compounds(text: str, start: int, end: int) -> Iterator[Piece]:
    for match in _COMPOUND.finditer(text, start, end):
        yield _compound(match[0], match.start())


def _compound(text: str, offset: int) -> Piece:
    found = list(_parts(text, offset))
    end = offset + len(text)
    surface = text.casefold()
    names: list[Part] = []
    if len(found) > 1 and "'" not in text and _is_named(text):
        names = [_name(text[a:b], offset + a) for a, b in _name_spans(text) if b - a <= LONGEST_NAME]
    return Piece(Shape.COMPOUND, surface, offset, end, tuple(found), tuple(dict.fromkeys(names)))


def _name(text: str, start: int) -> Part:
    name = text.casefold()
    return Part(name, name, start, start + len(text))


def _is_named(text: str) -> bool:
    """Whether the parts come from joiners, humps or digits, not merely from a word too long for one token."""
    return len(text) <= LONGEST_WORD or _PART.fullmatch(text) is None


def _name_spans(text: str) -> Iterator[tuple[int, int]]:
    """The whole identifier, and for paths and addresses each segment that is an identifier itself."""
    yield 0, len(text)
    if "/" not in text and "\\" not in text:
        return
    start = 0
    for gap in [*_PATH_END.finditer(text), None]:
        stop = gap.start() if gap else len(text)
        while start < stop and text[stop - 1] in ":@&=~%.-_":
            stop -= 1
        if stop > start and len(list(_parts(text[start:stop], 0))) > 1:
            yield start, stop
        start = gap.end() if gap else len(text)


def _parts(text: str, offset: int) -> Iterator[Part]:
    for match in _PART.finditer(text):
        yield from _words_of_part(match[0], offset + match.start())


def _words_of_part(part: str, start: int) -> Iterator[Part]:
    if "'" in part:
        yield from _around_apostrophes(part, start)
    elif not part.isascii() or (part.isalpha() and (part.islower() or part.istitle())):
        yield from _sliced(part, start)
    else:
        yield from _humps(part, start)


def _around_apostrophes(part: str, start: int) -> Iterator[Part]:
    """``Maya's`` is *maya*, ``don't`` is *dont*, ``O'Brien`` is *o brien*."""
    if part[-2:].casefold() == "'t" and part.count("'") == 1:
        word = part.replace("'", "").casefold()
        yield Part(word, word, start, start + len(part))
        return
    place = 0
    for number, word in enumerate(part.split("'")):
        if word and not (number and word.casefold() in _CONTRACTIONS):
            yield from _sliced(word, start + place)
        place += len(word) + 1


def _humps(part: str, start: int) -> Iterator[Part]:
    """camelCase and digits cut apart; what looks like a hash stays in one piece."""
    if part.isdigit() or not part.isalnum() or _is_hash(part):
        yield from _sliced(part, start, stemmed=False)
        return
    for hump in _HUMP.finditer(part):
        word = hump[0]
        if len(word) > 2 and word[-1] == "s" and word[:-1].isupper():
            yield Part(word[:-1].casefold(), word.casefold(), start + hump.start(), start + hump.end())
        else:
            yield from _sliced(word, start + hump.start())


def _is_hash(part: str) -> bool:
    changes = len(_LETTER_BESIDE_DIGIT.findall(part))
    return changes > 2 or (changes == 2 and _HEX.match(part) is not None)


def _sliced(word: str, start: int, *, stemmed: bool = True) -> Iterator[Part]:
    """One word as one token; beyond any word's length (base64, say) as slices, so that all of it can be found."""
    for place in range(0, len(word), LONGEST_WORD):
        surface = word[place : place + LONGEST_WORD].casefold()
        begin = start + place
        yield Part(stem(surface) if stemmed else surface, surface, begin, begin + min(LONGEST_WORD, len(word) - place))


# --- the short way for the index: strings only, most chunks from the cache ----------------------------------


def _streams(chunk: str) -> tuple[str, str]:
    stream: list[str] = []
    names: list[str] = []
    done = 0
    if not chunk.isascii():
        for match in _RUN_OR_SIGN.finditer(chunk):
            _add_compounds(chunk, done, match.start(), stream, names)
            if match.lastgroup == "run":
                run = match[0].casefold()
                stream += map(add, run, run[1:])
                stream.append(run[-1])
            else:
                stream.append(match[0])
            done = match.end()
    _add_compounds(chunk, done, len(chunk), stream, names)
    return " ".join(stream), " ".join(names)


def _add_compounds(chunk: str, start: int, end: int, stream: list[str], names: list[str]) -> None:
    if start == end:
        return
    for match in _COMPOUND.finditer(chunk, start, end):
        text = match[0]
        added, named = _compound_tokens(text) if len(text) <= _CACHED_CHUNK else _tokens_of_compound(text)
        stream += added
        names += named


def _tokens_of_compound(text: str) -> tuple[list[str], list[str]]:
    if text.isascii() and text.isalpha() and len(text) <= LONGEST_WORD and (text.islower() or text.istitle()):
        return [stem(text.lower())], []
    piece = _compound(text, 0)
    return [part.token for part in piece.parts], [name.token for name in piece.names]


_compound_tokens = lru_cache(maxsize=8_192)(_tokens_of_compound)
_chunk_streams = lru_cache(maxsize=16_384)(_streams)

"""A document cut into pieces of one to three sentences, as they are embedded. Pure.

A vector of a whole note is the mean of all it says, and a question that means one sentence of it finds it no more. So every few
sentences get a vector of their own, the title before them for context, and the head of the document another where there is a
summary. A body of one piece is one passage together with its head.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Bounds of a piece. A Han character tells about as much as two and a half Latin letters.
LATIN_CHARACTERS = 300
HAN_WEIGHT = 2.5
SENTENCES = 3
HEAD_CHARACTERS = 600
WHOLE_CHARACTERS = 600  # Weighed; a longer body as one text only blurs.

_SENTENCE_END = re.compile(r"[。！？；…]+[”’」』）】]*|[.!?]+[\"'”’)\]]*(?=\s|$)")
# "e.g. this" and "No. 5" go on; so do initials.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nr|mr|mrs|ms|dr|st|approx|fig|vol)|\b[A-Za-z])\.$", re.IGNORECASE
)
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}$|[ \t]*\|?[ \t:|-]+\|?[ \t]*$")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA_OR_HANGUL = re.compile(r"[\u3040-\u30ff\u1100-\u11ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_OTHER_WORD = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` is what is embedded; ``start`` to ``end`` are the characters of the body it stands for (0 to 0: the head)."""

    start: int
    end: int
    language: str
    text: str

    @property
    def text_hash(self) -> bytes:
        return hashlib.blake2b(self.text.encode("utf-8", "replace"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Cut:
    """``left_out`` pieces in between have no vectors, since the document has too many."""

    pieces: list[Piece]
    left_out: int = 0


def cut(title: str, summary: str, tags: Sequence[str], body: str, *, most: int) -> Cut:
    """The pieces of a document, a head with a summary first, at most ``most``: of more, every so-many-th, evenly."""
    head = _head(title, summary, tags)
    spans = list(_spans(body))
    if len(spans) <= 1:
        start, end = spans[0] if spans else (0, 0)
        text = _joined(head, body[start:end])
        return Cut([Piece(start, end, language_of(text), text)] if text else [])
    # A title stands before every piece, and tags are found as words.
    pieces = [Piece(0, 0, language_of(head), head)] if summary.strip() else []
    if weight(body) <= WHOLE_CHARACTERS:
        start, end = spans[0][0], spans[-1][1]
        pieces.append(Piece(start, end, language_of(body), _with_title(title, body[start:end])))
    kept = _evenly(spans, max(1, most - len(pieces)))
    for start, end in kept:
        said = body[start:end]
        pieces.append(Piece(start, end, language_of(said), _with_title(title, said)))
    return Cut(pieces, len(spans) - len(kept))


def language_of(text: str) -> str:
    """zh, en (any text in Latin letters) or other, by which of them most of its words are."""
    if text.isascii():
        return "en" if _LATIN_WORD.search(text) else "other"
    han = len(_HAN.findall(text)) / 1.6  # A Chinese word has about so many characters.
    other = len(_KANA_OR_HANGUL.findall(text)) / 1.6
    if other * 5 > han:
        han, other = 0.0, han + other  # Japanese has Han characters too.
    other += len(_OTHER_WORD.findall(text))
    latin = len(_LATIN_WORD.findall(text))
    if not han and not latin:
        return "other"
    if other > max(han, latin):
        return "other"
    return "zh" if han >= latin else "en"


def weight(text: str) -> float:
    """How long a text is, in Latin letters."""
    return len(text) if text.isascii() else len(text) + (HAN_WEIGHT - 1) * len(_HAN.findall(text))


# --- the head and the title before each piece ----------------------------------------------------------------


def _head(title: str, summary: str, tags: Sequence[str]) -> str:
    lines = [title.strip(), summary.strip(), ", ".join(tag.strip() for tag in tags)]
    return "\n".join(line for line in lines if line)[:HEAD_CHARACTERS]


def _joined(head: str, said: str) -> str:
    """Head and text in one; a title that only repeats how the text begins is left out."""
    said = said.strip()
    first, _, rest = head.partition("\n")
    if first and _starts_with(said, first):
        head = rest
    return "\n".join(part for part in (head, said) if part)


def _with_title(title: str, said: str) -> str:
    title, said = title.strip(), said.strip()
    return said if not title or _starts_with(said, title) else f"{title}\n{said}"


def _starts_with(said: str, title: str) -> bool:
    return said.lstrip("# *-\t").casefold().startswith(title.rstrip("…. ").casefold())


def _evenly(spans: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    if len(spans) <= most:
        return spans
    return [spans[number * len(spans) // most] for number in range(most)]


# --- places ---------------------------------------------------------------------------------------------------


def _spans(body: str) -> Iterator[tuple[int, int]]:
    """Where the pieces lie: sentences of one block together while they fit, a heading together with what follows it."""
    begun: tuple[int, int] | None = None  # The piece that is being filled.
    sentences, is_heading_only = 0, False
    for start, end, kind in _sentences(body):
        fits = begun is not None and weight(body[begun[0] : end]) <= LATIN_CHARACTERS
        if begun is not None and fits and kind != "heading" and (is_heading_only or sentences < SENTENCES):
            begun = (begun[0], end)
            sentences, is_heading_only = sentences + (not is_heading_only), False
            continue
        if begun is not None:
            yield begun
        begun, sentences, is_heading_only = (start, end), 1, kind == "heading"
    if begun is not None:
        yield begun


def _sentences(body: str) -> Iterator[tuple[int, int, str]]:
    """Sentences, headings, list items and lines of code, none longer than a piece may be."""
    for start, end, kind in _blocks(body):
        if kind in ("heading", "code"):
            pieces: Iterator[tuple[int, int]] = iter([(start, end)])
        else:
            pieces = _ends(body, start, end)
        for first, last in pieces:
            for part_start, part_end in _bounded(body, first, last):
                trimmed = _trimmed(body, part_start, part_end)
                if trimmed is not None:
                    yield (*trimmed, kind)


def _blocks(body: str) -> Iterator[tuple[int, int, str]]:
    """Paragraphs, headings, list items; each line of code by itself, its fences left out."""
    place, fence = 0, ""
    paragraph: int | None = None
    for line in body.splitlines(keepends=True):
        start, place = place, place + len(line)
        bare = line.strip()
        mark = _FENCE.match(line)
        kind = "code" if fence else ""
        if mark and (not fence or mark[1].startswith(fence)):
            fence, kind = ("" if fence else mark[1]), "skip"
        elif not fence:
            if not bare or _RULE.match(line.rstrip("\r\n")):
                kind = "skip"
            elif _HEADING.match(line):
                kind = "heading"
            elif _ITEM.match(line):
                kind = "item"
        if kind and paragraph is not None:
            yield paragraph, start, "text"
            paragraph = None
        if kind in ("heading", "code"):
            yield start, place, kind
        elif kind == "item" or (not kind and paragraph is None):
            paragraph = start
    if paragraph is not None:
        yield paragraph, place, "text"


def _ends(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for found in _SENTENCE_END.finditer(body, start, end):
        if found[0].startswith(".") and _ABBREVIATION.search(body, max(first, found.end() - 8), found.end()):
            continue
        yield first, found.end()
        first = found.end()
    if first < end:
        yield first, end


def _bounded(body: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence as it is, or one without an end in sight in parts, cut at commas or spaces where there are some."""
    while weight(body[start : min(end, start + LATIN_CHARACTERS + 1)]) > LATIN_CHARACTERS:
        stop = _reach(body, start, end)
        window = body[start:stop]
        gap = max(window.rfind(mark) for mark in ("\n", "，", "、", ", ", " "))
        stop = start + gap + 1 if gap > len(window) // 2 else stop
        yield start, stop
        start = stop
    yield start, end


def _reach(body: str, start: int, end: int) -> int:
    """How far from ``start`` a piece may go: about ``LATIN_CHARACTERS``, weighed."""
    part = body[start : min(end, start + LATIN_CHARACTERS)]
    return start + max(1, int(LATIN_CHARACTERS * len(part) / weight(part)))


def _trimmed(body: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and body[start].isspace():
        start += 1
    while end > start and body[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None

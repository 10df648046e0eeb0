"""Text as a person sees it: what HTML, Markdown and Unicode hide from the eye is taken out, and told.

Whoever hides a sentence from people and shows it to a model wants the model to obey it. Code stays as it is: there the
same signs are what people look at. Time grows with the length of the text, whatever it holds.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.sources.material import Hidden

Span = tuple[int, int]

# ---------------------------------------------------------------------------------------------------- characters

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d"
_JOINERS = "\u200c\u200d"
_HIDING = (
    rf"[{_DIRECTION}{_SELECTORS}{_JOINERS}\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f]+"
)
_RUN = re.compile(_HIDING)
_TURNS = re.compile(f"[{_DIRECTION}]")
_NEEDED = re.compile(f"[{_SELECTORS}]?[{_JOINERS}]?")  # Between letters of some scripts, and inside emoji.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029\x85]")

# ---------------------------------------------------------------------------------------------------------- HTML

_ATTRIBUTE = r"[^\s\"'<>/=]{1,80}(?:\s{0,8}=\s{0,8}(?:\"[^\"]{0,800}\"|'[^']{0,800}'|[^\s\"'=<>`]{1,800}))?"
_TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]{{0,30}})(?P<attributes>(?:[\s/]{{1,8}}{_ATTRIBUTE}){{0,40}})[\s/]{{0,8}}>"
)
_ATTRIBUTES = re.compile(
    r"([^\s\"'<>/=]{1,80})(?:\s{0,8}=\s{0,8}(\"[^\"]{0,800}\"|'[^']{0,800}'|[^\s\"'=<>`]{1,800}))?"
)
_COMMENT = re.compile(r"<!--(?:-?>)?")
_COMMENT_END = re.compile(r"--!?>")
_MARKDOWN_COMMENT = re.compile(
    r"^[ ]{0,3}\[[^\]\n]{0,80}\]:[ \t]*(?:#|<>|<#>|/)[ \t]*(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')[ \t]*$", re.MULTILINE
)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_NEVER_SEEN = frozenset("script style template noscript iframe object embed head meta link".split())
_CLOSED_BY_THE_NEXT = frozenset("p li td th tr dd dt option".split())
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_NOTHING = r"(?:0+(?:\.0*)?|\.0+)(?:px|pt|em|rem|%|vh|vw|ch|ex)?(?=[;!/]|$)"
_WHITE = r"(?:white|snow|ivory|#f{3,4}|#f{6}|#f{8}|rgba?\(255,255,255(?:,[\d.]+)?\)|hsla?\(\d+,\d+%,100%\))"
_HIDING_STYLE = re.compile(
    rf"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:{_NOTHING}"
    rf"|font(?:-size)?:(?:{_NOTHING}|(?:0?\.\d+|1)(?:px|pt)\b|0?\.[0-2]\d*r?em\b)|(?:max-)?(?:width|height):{_NOTHING}|line-height:{_NOTHING}"
    rf"|(?:-webkit-text-fill-)?color:(?:transparent|{_WHITE}|#[0-9a-f]{{3}}0(?=;|$)|#[0-9a-f]{{6}}00|rgba\([\d,]+,0(?:\.0+)?\))"
    r"|(?:left|right|top|bottom|text-indent|margin(?:-left|-top)?):-\d{3,}"
    r"|clip:rect\((?:0|1px)|clip-path:(?:inset\((?:50|100)%|circle\(0)|transform:scale[xy]?\(0(?:\.0+)?[,)]|zoom:0)"
)

# ---------------------------------------------------------------------------------------------------------- code

_FENCE = re.compile(r"^[ ]{0,3}(?:>[ ]?)*[ ]{0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_TICKS_OR_GAP = re.compile(r"`+|\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Visible:
    text: str
    notes: list[Hidden] = field(default_factory=list)


def visible(text: str) -> Visible:
    """The text without what is hidden in it, and what kinds of it there were."""
    notes: dict[Hidden, None] = {}
    text = _LINE_END.sub("\n", text)
    text = _without_characters(text, notes)
    text = _without_markup(text, notes)
    return Visible(text, list(notes))


def visible_line(text: str) -> str:
    """A title or tag: one line, without what is hidden in it."""
    return " ".join(visible(text).text.split())


def _without_characters(text: str, notes: dict[Hidden, None]) -> str:
    if _CONTROL.search(text):
        notes[Hidden.CONTROL] = None
        text = _CONTROL.sub("", text)
    if text.isascii():
        return text

    def kept(run: re.Match[str]) -> str:
        before, behind = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        if _NEEDED.fullmatch(run[0]) and _are_joined(before, behind, run[0]):
            return run[0]
        turns = len(_TURNS.findall(run[0]))
        if turns:
            notes[Hidden.DIRECTION] = None
        if turns < len(run[0]):
            notes[Hidden.INVISIBLE] = None
        return ""

    return _RUN.sub(kept, text)


def _are_joined(before: str, behind: str, run: str) -> bool:
    """A selector stands behind a character of its own kind; a joiner between two."""
    if not before or (before.isascii() and before not in "0123456789#*"):
        return False
    if run[-1] in _JOINERS:
        return not before.isascii() and bool(behind) and not behind.isascii() and not _is_ideograph(before + behind)
    return True


def _is_ideograph(letters: str) -> bool:
    return any("\u2e80" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uffef" for letter in letters)


def _without_markup(text: str, notes: dict[Hidden, None]) -> str:
    if "<" not in text and "]:" not in text:
        return text
    code = _Code(text)
    pieces, position = [], 0
    for start, end, kind in _hidden_parts(text, code):
        if start >= position:
            pieces.append(text[position:start])
            position = end
            notes[kind] = None
    return "".join([*pieces, text[position:]])


def _hidden_parts(text: str, code: "_Code") -> Iterator[tuple[int, int, Hidden]]:
    parts = [*_comments(text, code), *_elements(text, code)]
    parts += [
        (*match.span(), Hidden.COMMENT) for match in _MARKDOWN_COMMENT.finditer(text) if match.start() not in code
    ]
    yield from _united(sorted(parts, key=lambda part: (part[0], -part[1])))


def _united(parts: list[tuple[int, int, Hidden]]) -> Iterator[tuple[int, int, Hidden]]:
    last: tuple[int, int, Hidden] | None = None
    for part in parts:
        if last is None or part[0] >= last[1]:
            if last:
                yield last
            last = part
        elif part[1] > last[1]:
            last = (last[0], part[1], last[2])
    if last:
        yield last


def _comments(text: str, code: "_Code") -> Iterator[tuple[int, int, Hidden]]:
    position = 0
    while opening := _COMMENT.search(text, position):
        position = opening.end()
        if opening.start() in code:
            continue
        if opening[0].endswith(">"):
            yield *opening.span(), Hidden.COMMENT
            continue
        closing = _COMMENT_END.search(text, position)
        if closing:
            yield opening.start(), closing.end(), Hidden.COMMENT
            position = closing.end()
            continue
        # From a line that begins with it, a comment that never ends hides all the rest; elsewhere it is plain text.
        while opening:
            if opening.start() not in code and _begins_line(text, opening.start()):
                yield opening.start(), len(text), Hidden.COMMENT
                return
            opening = _COMMENT.search(text, opening.end())
        return


def _begins_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip(" >")


def _elements(text: str, code: "_Code") -> Iterator[tuple[int, int, Hidden]]:
    """Elements that are not seen, with all they hold; one that is never closed hides the rest."""
    tags = [tag for tag in _TAG.finditer(text) if tag.start() not in code]
    alike: dict[str, list[int]] = defaultdict(list)
    closing: dict[str, list[int]] = defaultdict(list)
    for number, tag in enumerate(tags):
        alike[tag["name"].lower()].append(number)
        if tag["close"]:
            closing[tag["name"].lower()].append(number)
    number = 0
    while number < len(tags):
        tag = tags[number]
        number += 1
        name, styled = tag["name"].lower(), _is_styled_away(tag["attributes"])
        if tag["close"] or not (styled or name in _NEVER_SEEN):
            continue
        if name in _VOID or tag[0].endswith("/>"):
            yield *tag.span(), Hidden.HTML
        elif name in _CLOSED_BY_THE_NEXT:
            number, end = _end_before_the_next(tags, alike[name], number, text)
            yield tag.start(), end, Hidden.HTML
        elif (last := _last_of(tags, alike[name], closing[name], number, nests=name not in _NEVER_SEEN)) is not None:
            yield tag.start(), tags[last].end(), Hidden.HTML
            number = last + 1
        elif styled:
            yield tag.start(), len(text), Hidden.HTML
            return


def _end_before_the_next(tags: list[re.Match[str]], alike: list[int], number: int, text: str) -> tuple[int, int]:
    """A paragraph, cell or item ends with its end, where the next one begins, or at a blank line."""
    place = bisect_left(alike, number)
    following = tags[alike[place]] if place < len(alike) else None
    gap = text.find("\n\n", tags[number - 1].end(), following.start() if following else len(text))
    if gap >= 0 or following is None:
        return number, len(text) if gap < 0 else gap
    return (alike[place] + 1, following.end()) if following["close"] else (alike[place], following.start())


def _last_of(
    tags: list[re.Match[str]], alike: list[int], closing: list[int], number: int, *, nests: bool
) -> int | None:
    """The tag that closes the element opened just before tag ``number``."""
    if not nests:
        place = bisect_left(closing, number)
        return closing[place] if place < len(closing) else None
    depth = 1
    for place in range(bisect_left(alike, number), len(alike)):
        following = alike[place]
        tag = tags[following]
        if not tag[0].endswith("/>"):
            depth += -1 if tag["close"] else 1
        if depth == 0:
            return following
    return None


def _is_styled_away(attributes: str) -> bool:
    if not attributes:
        return False
    known = {name.lower(): html.unescape(value.strip("\"'")).lower() for name, value in _ATTRIBUTES.findall(attributes)}
    if "hidden" in known or (known.get("type") == "hidden"):
        return True
    if re.fullmatch(_WHITE, known.get("color", "")) or any(
        re.fullmatch(_NOTHING, known.get(size, "1")) for size in ("width", "height")
    ):
        return True
    style = _CSS_ESCAPE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), known.get("style", ""))
    return _HIDING_STYLE.search(re.sub(r"\s+", "", _CSS_COMMENT.sub("", style))) is not None


class _Code:
    """Which places of a text are code: fenced blocks, and inline code within its paragraph."""

    def __init__(self, text: str) -> None:
        spans = list(_fences(text))
        spans += _inline(text, spans)
        spans.sort()
        self._starts = [start for start, _end in spans]
        self._ends = [end for _start, end in spans]

    def __contains__(self, position: int) -> bool:
        found = bisect_right(self._starts, position) - 1
        return found >= 0 and position < self._ends[found]


def _fences(text: str) -> Iterator[Span]:
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            if "`" not in fence[2] or fence[1][0] == "~":
                opening = fence
        elif fence[1][0] == opening[1][0] and len(fence[1]) >= len(opening[1]) and not fence[2].strip():
            yield opening.start(), fence.end()
            opening = None
    if opening:
        yield opening.start(), len(text)


def _inline(text: str, fences: list[Span]) -> Iterator[Span]:
    ends = [end for _start, end in fences]
    runs: list[Span] = []
    for token in _TICKS_OR_GAP.finditer(text):
        at = bisect_right(ends, token.start())
        in_fence = at < len(fences) and fences[at][0] <= token.start()
        if in_fence or token[0][0] == "\n":
            yield from _paired(runs)
            runs = []
        else:
            runs.append(token.span())
    yield from _paired(runs)


def _paired(runs: list[Span]) -> Iterator[Span]:
    by_length: dict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        by_length[end - start].append(start)
    position = 0
    for start, end in runs:
        if start < position:
            continue
        same = by_length[end - start]
        following = bisect_left(same, end)
        if following < len(same):
            position = same[following] + end - start
            yield start, position

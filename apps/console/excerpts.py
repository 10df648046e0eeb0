"""Excerpts as people read them: the words of a text without its Markdown, every mark still on its word. Pure.

An excerpt is one line cut out of a text, so that it begins and ends anywhere: nothing here needs the other half of a pair.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

CODE = re.compile(r"(?P<fence>`{3,}[\w+-]*)|(?P<tick>`{1,2})(?!`)(?P<said>.+?)(?<!`)(?P=tick)(?!`)")
# What is taken out: every group of these, while what stands between the groups stays.
NOISE = [
    re.compile(r"(!?\[)[^\[\]]*(\]\([^()\s]*(?:\s\"[^\"]*\")?\))"),  # [text](address), ![picture](address)
    re.compile(r"(\[\[(?:[^\[\]|]*\|)?)[^\[\]|]*(\]\])"),  # [[title]], [[title|other words]]
    re.compile(r"(?:^|(?<=…)|(?<=\s))(#{1,6}\s)(?=\S)"),  # Headings; a #tag has no space.
    re.compile(r"^…?([-*+>]\s)"),  # What begins a line, where the excerpt begins with it.
    re.compile(r"(?<![A-Za-z0-9])(\*\*\*|\*\*)|(\*\*\*|\*\*)(?![A-Za-z0-9])"),  # 2**8 is arithmetic.
    re.compile(r"(?<![\w*])(\*)(?=[^\s*])[^*]*(?<=[^\s*])(\*)(?![\w*])"),
    re.compile(r"(?<!\w)(__?)(?=[^\s_])[^_]*(?<=[^\s_])(__?)(?!\w)"),  # snake_case stays.
    re.compile(r"(~~)(?=\S)|(?<=\S)(~~)"),
    re.compile(r"(?:^|(?<=\s))((?:\|\s?)?:?-{3,}:?(?:\s?\|\s?:?-{3,}:?)*(?:\s?\|)?\s)"),  # Rules, heads of tables
    re.compile(r"(\\)(?=[\\`*_{}\[\]()#+\-.!|>~])"),
    re.compile(r"(<)https?://[^\s<>]+(>)"),
]
TASK = re.compile(r"(?:^|(?<=\s))(?:[-*+]\s)?\[([ xX])\](?=\s)")
ROW_OF_TABLE = re.compile(r"\|\s?:?-{3,}|(?:\|[^|]*){3,}\|")
COLUMN = re.compile(r"\s?\|\s?")
BETWEEN_COLUMNS = " · "


@dataclass(frozen=True, slots=True)
class Part:
    text: str
    matched: bool


def parts_of(text: str, marks: Iterable[tuple[int, int]]) -> list[Part]:
    """The excerpt in reading order, cut where a match begins or ends; matches in what is taken out are left out too."""
    clean, places = _cleaned(text)
    return cut(clean, [(places[start], places[end]) for start, end in marks])


def cut(text: str, marks: Iterable[tuple[int, int]]) -> list[Part]:
    """A text in parts that matched or did not."""
    parts, place = [], 0
    for start, end in sorted(marks):
        start = max(start, place)
        if start < end:
            parts += [Part(text[place:start], False), Part(text[start:end], True)]
            place = end
    parts.append(Part(text[place:], False))
    return [part for part in parts if part.text]


def _cleaned(text: str) -> tuple[str, list[int]]:
    """The text to show, and for every place of the old text (its end included) the place in the new one."""
    instead: dict[int, str] = {}  # What a character becomes; those not named stay.
    kept = _take_out_code(text, instead)
    for task in TASK.finditer(text):
        if not any(kept[task.start() : task.end()]):
            _drop(instead, task.start(), task.end())
            instead[task.start(1)] = "\u2610" if task[1] == " " else "\u2611"
    if ROW_OF_TABLE.search(text):
        for column in COLUMN.finditer(text):
            if not any(kept[column.start() : column.end()]):
                _drop(instead, column.start(), column.end())
                instead[column.start()] = BETWEEN_COLUMNS
    for pattern in NOISE:
        for found in pattern.finditer(text):
            for group in range(1, pattern.groups + 1):
                if found[group] and not any(kept[found.start(group) : found.end(group)]):
                    _drop(instead, found.start(group), found.end(group))
    return _put_together(text, instead)


def _take_out_code(text: str, instead: dict[int, str]) -> list[bool]:
    """Take the ticks out; what stands between them is code and stays as it is."""
    kept = [False] * len(text)
    for code in CODE.finditer(text):
        if code["fence"]:
            _drop(instead, code.start(), code.end())
            continue
        _drop(instead, code.start("tick"), code.end("tick"))
        _drop(instead, code.end("said"), code.end())
        kept[code.start("said") : code.end("said")] = [True] * len(code["said"])
    return kept


def _drop(instead: dict[int, str], start: int, end: int) -> None:
    for place in range(start, end):
        instead.setdefault(place, "")


def _put_together(text: str, instead: dict[int, str]) -> tuple[str, list[int]]:
    shown: list[str] = []
    places: list[int] = []
    length, last = 0, " "
    for place, character in enumerate(text):
        places.append(length)
        became = instead.get(place, character)
        if became == BETWEEN_COLUMNS and last in " …":
            became = ""  # There is no column before it.
        if became == last == " ":
            became = ""  # No gap where something was taken out.
        if became:
            shown.append(became)
            length += len(became)
            last = became[-1]
    clean = "".join(shown).rstrip(BETWEEN_COLUMNS)
    return clean, [min(place, len(clean)) for place in [*places, length]]

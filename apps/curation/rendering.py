"""From the model's fixed structure to Markdown (CUR-015). Pure functions; what a section says stays, what it could do goes."""

import re
from collections.abc import Iterable, Iterator, Mapping

from apps.base.text import clean_line, lf
from apps.curation.answers import Section
from apps.curation.language import SOURCES_WORD

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^( {0,3})(#{1,2})(?=\s)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Elements that do or hide something, and whatever carries an attribute; ``List<int>`` and ``<https://…>`` are no tags.
_ELEMENTS = (
    "a abbr article aside audio b base blockquote body br button canvas center code dd details dialog div dl dt em embed"
    " figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li"
    " link main mark math meta nav noscript object ol option p param picture pre s script section select small source"
    " span strike strong style sub summary sup svg table tbody td template textarea th thead title tr u ul video"
).replace(" ", "|")
_TAG = re.compile(
    rf"</?(?:{_ELEMENTS})(?=[\s/>])[^<>]{{0,2000}}>|<[A-Za-z][\w-]*\s[^<>]{{0,2000}}=[^<>]{{0,2000}}>|<[!?][^<>]{{0,2000}}>",
    re.IGNORECASE,
)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
# Letters that nobody sees and marks that turn the reading direction.
_UNSEEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def rendered(sections: Iterable[Section], slugs: Mapping[str, str], language: str) -> str:
    """The body of a document. Each section ends with links to what it is made of."""
    return "\n".join(_rendered(section, slugs, language) for section in sections)


def plain_markdown(text: str) -> str:
    """Markdown without HTML, hidden letters and headings that would break the document's order. Code stays as it is."""
    text = _CONTROL.sub("", _UNSEEN.sub("", lf(text.encode()).decode()))
    return "\n".join(_plain_lines(text)).strip()


def _rendered(section: Section, slugs: Mapping[str, str], language: str) -> str:
    links = ", ".join(f"[[{slugs[source]}]]" for source in dict.fromkeys(section.source_ids) if source in slugs)
    parts = [f"## {clean_line(plain_markdown(section.heading)).lstrip('#').strip()}", plain_markdown(section.body)]
    if links:
        parts.append(f"{SOURCES_WORD[language]}{links}")
    return "\n\n".join(parts) + "\n"


def _plain_lines(text: str) -> Iterator[str]:
    """Prose cleaned, code as it stands; a fence that nobody closed is closed, or it would swallow what follows."""
    prose: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif mark:
            yield from _plain_prose(prose)
            prose, fence = [], mark[1]
            yield line
        else:
            prose.append(line)
    yield from _plain_prose(prose)
    if fence:
        yield fence


def _plain_prose(lines: list[str]) -> Iterator[str]:
    if lines:
        text = _COMMENT.sub("", "\n".join(lines))
        yield from (_HEADING.sub(r"\1###", line) for line in _without_tags(text).split("\n"))


def _without_tags(text: str) -> str:
    """Outside inline code; taking one tag out may bring another together, so until none is left."""
    pieces, position = [], 0
    for code in _CODE.finditer(text):
        pieces += [_stripped(text[position : code.start()]), code[0]]
        position = code.end()
    return "".join([*pieces, _stripped(text[position:])])


def _stripped(text: str) -> str:
    while (less := _TAG.sub("", text)) != text:
        text = less
    return text

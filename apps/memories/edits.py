"""Edits of a body that say what they change: exact replacements, one section, a text at the end (D-09, D-38).

An edit whose target is not there, or there more than once, fails and changes nothing. All bytes outside the target
stay; text that comes in takes over the line ends of the body it comes into.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.translation import gettext_lazy as _

from apps.base.errors import MemRelayError
from apps.base.text import fold, nfc, without_surrogates

BodyEdit = Callable[[bytes], bytes]

COUNTED = 100  # Occurrences are counted up to here; more help nobody.
NAMED = 8  # So many headings an error names.


class TargetNotFound(MemRelayError):
    code = "EDIT_TARGET_NOT_FOUND"
    status = 409
    sentence = _("The text of replacement {number} is not in the body; nothing was written.")
    hint = _("Read the memory again and copy the passage exactly, with its spaces and line breaks.")


class TargetAmbiguous(MemRelayError):
    code = "EDIT_TARGET_AMBIGUOUS"
    status = 409
    sentence = _("The text of replacement {number} is in the body {count} times; nothing was written.")
    hint = _("Give a longer passage that occurs once.")


class TargetEmpty(MemRelayError):
    code = "EDIT_TARGET_EMPTY"
    status = 422
    sentence = _("Replacement {number} does not say what to replace; nothing was written.")
    hint = _("Give the passage to replace as old, or use memory_append to add text.")


class SectionNotFound(MemRelayError):
    code = "SECTION_NOT_FOUND"
    status = 409
    sentence = _("No heading is exactly {heading}; nothing was written.")
    hint = _("Give one of the headings named in facts, whole and exactly.")


class SectionAmbiguous(MemRelayError):
    code = "SECTION_AMBIGUOUS"
    status = 409
    sentence = _("{count} headings are {heading}; nothing was written.")
    hint = _("Give the heading with its # signs if the levels differ, or replace a passage instead.")


def replace_body(body: bytes, new: str) -> bytes:
    """Another body, exactly as given."""
    return without_surrogates(new).encode()


def apply_replacements(body: bytes, replacements: Sequence[tuple[str, str]]) -> bytes:
    """Put ``new`` in place of ``old``, pair after pair; each ``old`` must occur exactly once when its turn comes."""
    for number, (old, new) in enumerate(replacements, 1):
        body = _replaced(body, old, new, number)
    return body


def replace_section(body: bytes, heading: str, new_body: str) -> bytes:
    """Replace what stands under a heading, subsections included, up to the next heading of its level or above.

    The heading is given whole, with or without its ``#`` signs, and stays. If ``new_body`` starts with it, it is not
    written twice. Empty lines around the old text stay around the new one.
    """
    text = _decoded(body)
    headings = list(_headings(text))
    found = _only_match(headings, heading)
    later = (other.start for other in headings if other.start > found.start and other.level <= found.level)
    end = next(later, len(text))
    new = _core(_without_heading(_own_lines(new_body, text), found))
    section = _section_with(text[found.end : end], new, text[found.start : found.end], _newline_in(text) or "\n")
    return _encoded(text[: found.end] + section + text[end:])


def append(body: bytes, text: str) -> bytes:
    """Add text at the end, one empty line after what is there. The last line ends as the body's or the text's did."""
    there = _decoded(body)
    added = _own_lines(text, there)
    added_core, there_core = _core(added), _without_trailing_blanks(there)
    if not added_core:
        return body
    newline = _newline_in(there) or _newline_in(text) or "\n"
    last = newline if there.endswith(("\n", "\r")) or added.endswith(("\n", "\r")) else ""
    return _encoded((there_core + newline * 2 if there_core else "") + added_core + last)


# Bytes that are no UTF-8 (an outside edit) go through text unharmed.


def _decoded(body: bytes) -> str:
    return body.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# Replacements.


def _replaced(body: bytes, old: str, new: str, number: int) -> bytes:
    if not old:
        raise TargetEmpty(number=number)
    text = _decoded(body)
    # Clients send LF for what lies there as CRLF.
    targets = dict.fromkeys([without_surrogates(old), _own_lines(old, text)])
    target, count = next(((each, count) for each in targets if (count := _count(text, each))), (old, 0))
    if not count:
        raise TargetNotFound(number=number, count=0)
    if count > 1:
        raise TargetAmbiguous(number=number, count=f"{count}+" if count == COUNTED else count)
    return _encoded(text.replace(target, _own_lines(new, text)))


def _count(body: str, target: str) -> int:
    """How often it occurs, overlaps included, up to ``COUNTED``."""
    count, place = 0, body.find(target)
    while place >= 0 and count < COUNTED:
        count += 1
        place = body.find(target, place + 1)
    return count


# Line ends and empty lines.

_ANY_NEWLINE = re.compile(r"\r\n|\n|\r")
_LEADING_BLANKS = re.compile(r"\A(?:[ \t]*(?:\r\n|\n|\r))+")


def _newline_in(text: str) -> str:
    """What most lines of it end with; empty if it is one line."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    most = max(crlf, lf, cr)
    return "" if not most else "\n" if lf == most else "\r\n" if crlf == most else "\r"


def _own_lines(given: str, body: str) -> str:
    """The given text with the line ends of the body, and nothing in it that no file can hold."""
    newline, given = _newline_in(body), without_surrogates(given)
    return _ANY_NEWLINE.sub(newline, given) if newline else given


def _without_trailing_blanks(text: str) -> str:
    """Without empty lines behind it and without its last line end; white space at the end of a line stays."""
    full = len(text.rstrip(" \t\r\n"))
    tail = text[full:]
    return text[: full + len(tail) - len(tail.lstrip(" \t"))] if full else ""


def _core(text: str) -> str:
    """Without the empty lines around it."""
    return _LEADING_BLANKS.sub("", _without_trailing_blanks(text))


# Sections.

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_FENCE = re.compile(r" {0,3}(?:(`{3,})([^`]*)|(~{3,}).*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?")
_COMMENT = re.compile(r" {0,3}<!--")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    title: str
    start: int  # Of its line in the text.
    end: int

    def __str__(self) -> str:
        return f"{'#' * self.level} {self.title}"


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Where each line starts that is neither in a fenced block nor in a comment, and the line with its ending."""
    fence = ""
    in_comment = False
    for match in _LINE.finditer(text):
        line = match[0].rstrip("\r\n")
        if fence:
            closing = line.strip(" \t")
            if len(closing) >= len(fence) and closing == fence[0] * len(closing) and not line.startswith("    "):
                fence = ""
        elif in_comment:
            in_comment = "-->" not in line
        elif opening := _FENCE.fullmatch(line):
            fence = opening[1] or opening[3]
        elif comment := _COMMENT.match(line):
            in_comment = "-->" not in line[comment.end() :]
        else:
            yield match.start(), match[0]


def _headings(text: str) -> Iterator[_Heading]:
    for start, line in prose_lines(text):
        if parsed := _read_heading(line):
            yield _Heading(*parsed, start, start + len(line))


def _read_heading(line: str) -> tuple[int, str] | None:
    match = _ATX.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    title = (match[2] or "").strip(" \t")
    open_title = title.rstrip("#")
    if not open_title or open_title[-1] in " \t":
        title = open_title.rstrip(" \t")  # ``## Title ##`` is a way to write it, not part of the title.
    return len(match[1]), nfc(title)


def _only_match(headings: list[_Heading], heading: str) -> _Heading:
    level, title = _read_heading(heading.strip()) or (0, nfc(heading.strip()))
    found = [each for each in headings if each.title == title and level in (0, each.level)]
    if not found:
        raise SectionNotFound(heading=heading.strip(), near=_near(headings, title))
    if len(found) > 1:
        raise SectionAmbiguous(heading=heading.strip(), count=len(found), near=[str(each) for each in found[:NAMED]])
    return found[0]


def _near(headings: list[_Heading], title: str) -> list[str]:
    """The headings that may be meant; all there are, up to a few, if none is like it."""
    wanted = fold(title)
    alike = [each for each in headings if wanted and (wanted in fold(each.title) or fold(each.title) in wanted)]
    if not alike:
        folded = {fold(each.title): each for each in headings[:200]}
        alike = [folded[key] for key in get_close_matches(wanted[:200], folded, NAMED)]
    return [str(each) for each in (alike or headings)[:NAMED]]


def _without_heading(new: str, heading: _Heading) -> str:
    """The new text without the heading itself, which some clients send along."""
    text = _LEADING_BLANKS.sub("", new)
    first = _LINE.match(text)
    if first and _read_heading(first[0]) == (heading.level, heading.title):
        return text[first.end() :]
    return new


def _section_with(old: str, new: str, heading_line: str, newline: str) -> str:
    """What stands between a heading and the next one, with another text in it and the same empty lines around."""
    core = _core(old)
    if not core:
        if not new:
            return old
        return new + newline + old if heading_line.endswith(("\n", "\r")) else newline + new
    start = old.index(core)
    before, after = old[:start], old[start + len(core) :]
    if not new:
        after = after.removeprefix("\r\n") if after.startswith("\r\n") else after[1:]
    return before + new + after

"""What the other rooms ask: is there a secret in this text, is it a new one, and where.

Besides the rules, whole values are recognised that some room knows to be secret (a vault's items): the
functions named in ``settings.SECRET_VALUE_SOURCES`` are asked for them at every call, so they answer from memory.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypedDict

from django.conf import settings
from django.utils.module_loading import import_string

from apps.secrets.errors import CredentialDetected
from apps.secrets.rules import Confidence
from apps.secrets.scanning import Finding, scan

WHITE_SPACE = re.compile(r"\s+")


class Location(TypedDict):
    rule: str
    line: int
    column: int


def find_secrets(text: str) -> list[Finding]:
    """Every secret in the text, by the rules and by the known values."""
    return scan(text, known_values())


def find_new_secrets(old_text: str, new_text: str) -> list[Finding]:
    """The secrets of the new text whose value the old one did not hold (L-22).

    White space does not count, so that a key block that was only indented or got other line ends is no new one.
    """
    findings = find_secrets(new_text)
    if not findings or not old_text:
        return findings
    before = WHITE_SPACE.sub("", old_text)
    return [one for one in findings if WHITE_SPACE.sub("", new_text[one.start : one.end]) not in before]


def refuse_new_secrets(old_text: str, new_text: str) -> None:
    """Raise ``CredentialDetected`` if the change adds a secret of high confidence."""
    certain = [one for one in find_new_secrets(old_text, new_text) if one.confidence is Confidence.HIGH]
    if certain:
        raise CredentialDetected(locations=describe(certain))


def describe(findings: Iterable[Finding]) -> list[Location]:
    """Where the secrets stand, lines and columns counted from 1; never what they are."""
    return [{"rule": one.rule, "line": one.line, "column": one.column} for one in findings]


def known_values() -> Iterator[str]:
    """The values that some room knows to be secret, as they are now."""
    for path in settings.SECRET_VALUE_SOURCES:
        yield from import_string(path)()

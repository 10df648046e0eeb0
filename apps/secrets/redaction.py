"""Texts without their secrets: what a model may read, and whether what it wrote may be kept (D-14, SRC-056 to SRC-062).

The rules look at the text as it stands and as a reader would understand it (``views``). Every secret of high
confidence, every known value and every candidate gives way to a placeholder that tells what stood there.
"""

import hashlib
import hmac
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from apps.secrets.candidates import candidates
from apps.secrets.columns import in_columns
from apps.secrets.encoded import encoded_forms, runs_that
from apps.secrets.rules import Confidence
from apps.secrets.scanning import Caught, Finding, certain, known, placed
from apps.secrets.views import INVISIBLE, views_of

ENCODED = "encoded-secret"
SECRET_IN_OUTPUT = "SECRET_IN_OUTPUT"  # noqa: S105 - a code, not a secret
_PLACEHOLDER = re.compile(r"\[redacted: [a-z0-9-]+ \d+\]")
_NOT_OF_THE_VALUE = re.compile(rf"[\s{INVISIBLE}]+")


class Located(TypedDict):
    document: str
    rule: str
    line: int
    column: int
    confidence: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """The text with placeholders, and where in the text as it was each secret stood."""

    text: str
    findings: list[Finding]

    @property
    def is_clean(self) -> bool:
        return not self.findings


@dataclass(slots=True)
class Numbering:
    """The same value gets the same number, a different one another. It keeps no value, only what one cannot undo."""

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _numbers: dict[tuple[str, bytes], int] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    def placeholder(self, rule: str, value: str) -> str:
        plain = _NOT_OF_THE_VALUE.sub("", value)
        mark = rule, hmac.digest(self._key, plain.encode("utf-8", "surrogatepass"), hashlib.sha256)
        if mark not in self._numbers:
            self._numbers[mark] = self._last[rule] = self._last.get(rule, 0) + 1
        return f"[redacted: {rule} {self._numbers[mark]}]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a text that a model wrote may be applied. ``text`` is what may: without its low-confidence candidates."""

    allowed: bool
    code: str
    text: str
    blocking: list[Finding]
    warnings: list[Finding]


def redact(text: str, known_values: Iterable[str] = (), numbering: Numbering | None = None) -> Redaction:
    """Replace every secret, certain, known or probable, by a placeholder such as ``[redacted: github-token 1]``.

    One value has one number within a call, and over several calls with the same ``numbering``.
    """
    numbering = numbering or Numbering()
    findings = find_all(text, known_values)
    pieces, position = [], 0
    for one in findings:
        pieces += [text[position : one.start], numbering.placeholder(one.rule, text[one.start : one.end])]
        position = one.end
    return Redaction("".join([*pieces, text[position:]]), findings)


def find_all(text: str, known_values: Iterable[str] = ()) -> list[Finding]:
    """Every secret in the text in the order of their places; none overlaps another."""
    values = [value for value in dict.fromkeys(known_values) if value]
    caught = [*_caught(text, values)]
    return placed(text, _united(_outside_placeholders(text, caught))) if caught else []


def may_apply(text: str, known_values: Iterable[str] = ()) -> Verdict:
    """A known secret or one of high confidence blocks applying; candidates are redacted with a warning (SRC-059, 060)."""
    redaction = redact(text, known_values)
    blocking = [one for one in redaction.findings if one.confidence is Confidence.HIGH]
    warnings = [one for one in redaction.findings if one.confidence is Confidence.LOW]
    return Verdict(not blocking, SECRET_IN_OUTPUT if blocking else "", redaction.text, blocking, warnings)


def report(document: str, findings: Iterable[Finding]) -> list[Located]:
    """Where secrets stood; never what they were (SRC-061). A name of a document may hold one itself."""
    name = redact(document).text
    return [
        {
            "document": name,
            "rule": one.rule,
            "line": one.line,
            "column": one.column,
            "confidence": one.confidence.value,
        }
        for one in findings
    ]


def _caught(text: str, values: Sequence[str]) -> Iterator[Caught]:
    encoded = list(encoded_forms(values))
    for view in views_of(text):
        for start, end, rule, confidence in _caught_in(view.text, values, encoded):
            yield *view.place(start, end), rule, confidence


def _caught_in(text: str, values: Sequence[str], encoded: Sequence[str]) -> Iterator[Caught]:
    yield from certain(text)
    yield from known(text, values)
    yield from known(text, encoded)
    yield from candidates(text)
    yield from in_columns(text)
    for start, end in runs_that(text, lambda plain: _holds_certain(plain, values)):
        yield start, end, ENCODED, Confidence.HIGH


def _holds_certain(plain: str, values: Sequence[str]) -> bool:
    return any(True for _ in certain(plain)) or any(True for _ in known(plain, values))


def _outside_placeholders(text: str, caught: list[Caught]) -> list[Caught]:
    """What was redacted before stays as it is, so that redacting twice is redacting once."""
    if "[redacted: " not in text:
        return caught
    taken = [match.span() for match in _PLACEHOLDER.finditer(text)]
    ends = [end for _start, end in taken]

    def is_free(one: Caught) -> bool:
        next_one = bisect_right(ends, one[0])
        return next_one == len(taken) or taken[next_one][0] >= one[1]

    return [one for one in caught if is_free(one)]


def _united(caught: list[Caught]) -> list[Caught]:
    """Spans that overlap become one, told by its surest and then its widest part."""
    united: list[Caught] = []
    widest = 0
    for one in sorted(caught, key=lambda each: (each[0], -each[1])):
        start, end, rule, confidence = one
        if not united or start >= united[-1][1]:
            united.append(one)
            widest = end - start
            continue
        first, last, told, trust = united[-1]
        surer = confidence is Confidence.HIGH and trust is Confidence.LOW
        if surer or (confidence is trust and end - start > widest):
            told, trust, widest = rule, confidence, end - start
        united[-1] = (first, max(last, end), told, trust)
    return united

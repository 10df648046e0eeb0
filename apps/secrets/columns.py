"""Secrets in tables: what names a value stands at the head of its column or in the cell before it."""

import re
from collections.abc import Iterator

from apps.secrets.rules import Confidence
from apps.secrets.scanning import Caught
from apps.secrets.values import is_password, is_password_in_chinese, is_random_word

RULER = re.compile(r"[\s>|:-]{3,}")
DECORATION = " \t>*_`\"'\r"
PASSWORD_NAME = re.compile(
    r"(?:[\w ./-]{0,30}[ _./-])?(?:password|passwd|passphrase|passcode|pwd|pass)|[^\s|]{0,12}(?:密码|密碼|口令)",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(
    r"(?:[\w ./-]{0,30}[ _./-])?(?:secret|token|credential|(?:api|access|secret|private|signing)[ _-]?key)s?"
    r"|[^\s|]{0,12}(?:密钥|秘钥|令牌|授权码|凭证)",
    re.IGNORECASE,
)


def in_columns(text: str) -> Iterator[Caught]:
    """The cells of Markdown and comma-separated tables that hold a password, key or token."""
    if "|" in text:
        yield from _in_tables(text)
    if "," in text or "\t" in text:
        yield from _in_separated_values(text)


def _in_tables(text: str) -> Iterator[Caught]:
    heads: list[str] = []
    before: list[tuple[str, int]] = []
    position = 0
    for line in text.split("\n"):
        if "|" not in line:
            heads, before = [], []
        elif before and RULER.fullmatch(line):
            heads = [_rule_for(cell) for cell, _at in before]
        else:
            before = _cells(line, position)
            yield from _named(before, heads)
        position += len(line) + 1


def _cells(line: str, position: int) -> list[tuple[str, int]]:
    cells, at = [], position
    for cell in line.split("|"):
        cells.append((cell, at))
        at += len(cell) + 1
    return cells


def _named(cells: list[tuple[str, int]], heads: list[str]) -> Iterator[Caught]:
    for number, (cell, at) in enumerate(cells):
        rule = heads[number] if number < len(heads) else ""
        if rule := rule or (_rule_for(cells[number - 1][0]) if number else ""):
            yield from _value(rule, cell, at)


def _in_separated_values(text: str) -> Iterator[Caught]:
    """A line of names with one of ours among them, then lines with as many values."""
    heads: list[str] = []
    sign, position = ",", 0
    for line in text.split("\n"):
        if heads and line.count(sign) == len(heads) - 1:
            at = position
            for rule, cell in zip(heads, line.split(sign), strict=True):
                if rule:
                    yield from _value(rule, cell, at)
                at += len(cell) + 1
        else:
            sign = "\t" if "\t" in line else ","
            heads = _head_of_values(line, sign)
        position += len(line) + 1


def _head_of_values(line: str, sign: str) -> list[str]:
    if sign not in line or len(line) > 1000:
        return []
    cells = line.split(sign)
    if not all(re.fullmatch(r"[\w .-]{1,40}", cell.strip(DECORATION)) for cell in cells):
        return []
    heads = [_rule_for(cell) for cell in cells]
    return heads if any(heads) else []


def _rule_for(cell: str) -> str:
    name = cell.strip(DECORATION)
    if len(name) > 60:
        return ""
    if PASSWORD_NAME.fullmatch(name):
        return "password"
    return "secret" if SECRET_NAME.fullmatch(name) else ""


def _value(rule: str, cell: str, at: int) -> Iterator[Caught]:
    value = cell.strip(DECORATION)
    if 4 <= len(value) <= 200 and " " not in value and _is_real(rule, value):
        start = at + cell.index(value)
        yield start, start + len(value), rule, Confidence.LOW


def _is_real(rule: str, value: str) -> bool:
    if rule == "secret":
        return is_random_word(value)
    return is_password(value) and is_password_in_chinese(value)

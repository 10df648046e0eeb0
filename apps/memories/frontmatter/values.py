"""How a value is written: as any reader of YAML takes it back, on lines that can be edited one by one."""

import json
import re
from typing import Any

import yaml

from apps.memories.frontmatter.errors import Unwritable
from apps.memories.frontmatter.keys import Value

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(r'["\\]|' + _UNPRINTABLE.pattern)
_NOT_PLAIN = re.compile(r": | #|[:\s]\Z|\A\s|" + _UNPRINTABLE.pattern)
_REFUSED = re.compile(r"[\x00\ud800-\udfff]")
# YAML 1.2 and hand-made parsers take these for numbers and booleans, PyYAML has its own list.
_TAKEN_ELSEWHERE = re.compile(r"[-+]?[0-9][0-9_.]*(?:[eE][-+]?[0-9]+)?|0[oO][0-7]+|[yYnN]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def render(key: str, value: Value, indent: str, comment: str = "") -> list[str]:
    """The lines of one entry, without their endings."""
    if not _KEY.fullmatch(key):
        raise Unwritable(key=key)
    try:
        match value:
            case bool():
                return [f"{indent}{key}: {'true' if value else 'false'}{comment}"]
            case int():
                return [f"{indent}{key}: {value}{comment}"]
            case str():
                return [f"{indent}{key}: {scalar(value)}{comment}"]
            case _ if not value:
                return [f"{indent}{key}: []{comment}"]
            case _:
                return [f"{indent}{key}:{comment}", *(f"{indent}  - {scalar(item)}" for item in value)]
    except UnicodeError as error:
        raise Unwritable(key=key) from error


def scalar(text: str) -> str:
    """Text as YAML reads it back: bare where that is certain, otherwise in double quotes on one line."""
    if _REFUSED.search(text):
        raise UnicodeError
    if text and starts_plain(text[0]) and not _NOT_PLAIN.search(text) and not _means_something(text):
        return text
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def json_line(value: Any) -> str:
    """Whatever JSON holds, on one line."""
    return _UNPRINTABLE.sub(_escape, json.dumps(value, ensure_ascii=False))


def starts_plain(first: str) -> bool:
    """Whether bare text may begin with this character."""
    return first > "\x7f" or first.isalnum() or first in "_/(.$+~"


def _means_something(text: str) -> bool:
    if _TAKEN_ELSEWHERE.fullmatch(text):
        return True
    return any(pattern.match(text) for _, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[0], ()))


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04x}"

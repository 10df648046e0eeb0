"""Second way to read a head: PyYAML says where each key and value stands.

Nothing is constructed: no dates, no octal numbers.
"""

import json
import re
from typing import Any

import yaml

from apps.memories.frontmatter.head import NULLS, Entry, Head, Style, yaml_lines
from apps.memories.frontmatter.values import json_line, scalar

# The keys and values of a head in which lines cannot be addressed, each as one line of YAML.
Pairs = list[tuple[str, str]]
Content = tuple[Style, str | list[str | None]]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_EXPLICIT_KEY = re.compile(r"^[ \t]*\?(?:[ \t\r\n]|$)", re.MULTILINE)


def read(text: str) -> Head | Pairs | None:
    """The head as PyYAML sees it; ``None`` if it is no mapping. Raises what PyYAML raises."""
    if text.lstrip().startswith("{") and (pairs := _json_pairs(text)):
        return pairs
    root = _composed(text)
    if not isinstance(root, yaml.MappingNode):
        return None
    if not root.value:
        return Head([], [])
    if root.flow_style or _EXPLICIT_KEY.search(text):
        return [(_inline(key) or "~", _inline(value)) for key, value in root.value]
    lines = yaml_lines(text)
    starts = [key.start_mark.line for key, _ in root.value]
    end = next((number for number, line in enumerate(lines) if line.rstrip() == "..."), len(lines))
    indent = " " * root.value[0][0].start_mark.column
    head = Head(lines, [], indent=indent, end=end)
    for (key, value), start, following in zip(root.value, starts, [*starts[1:], end], strict=True):
        head.entries.append(_entry_of(head, key, value, start, following))
    return head


def content_alone(lines: list[str]) -> Content | None:
    """What one key holds, its lines read without the rest of the head."""
    try:
        root = _composed("".join(lines))
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return None
    return _content_of(root.value[0][1])


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=_Loader)


def _entry_of(head: Head, key: yaml.Node, value: yaml.Node, start: int, following: int) -> Entry:
    name = key.value if isinstance(key, yaml.ScalarNode) else ""
    style, content = _content_of(value)
    first, last = value.start_mark.line, value.end_mark.line
    tail = ""
    if (first, value.start_mark.column) < (start, key.end_mark.column):
        end = start + 1  # An alias: its node stands elsewhere.
    elif isinstance(value, yaml.ScalarNode) and value.style in ("|", ">"):
        end = head.without_gap(start, following, indented=True)
        tail = head.lines[first][value.start_mark.column :].lstrip("|>+-0123456789")
    elif isinstance(value, yaml.CollectionNode) and not value.flow_style:
        end = head.without_gap(start, following, indented=False)
        tail = head.lines[start][key.end_mark.column :].lstrip().removeprefix(":")
    else:
        end = last + 1
        tail = head.lines[last][value.end_mark.column :] if last < len(head.lines) else ""
    return Entry(name, start, end, style, content, _comment_in(tail))


def _content_of(node: yaml.Node) -> Content:
    if isinstance(node, yaml.ScalarNode):
        plain = node.style in (None, "")
        # ``!!str null`` is bare, and yet text.
        if plain and node.value in NULLS and not node.tag.endswith(":null"):
            plain = False
        return (Style.PLAIN if plain else Style.QUOTED), node.value
    if isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in node.value):
        return Style.LIST, [None if item.tag.endswith(":null") else item.value for item in node.value]
    return Style.DEEP, ""


def _comment_in(tail: str) -> str:
    tail = tail.rstrip()
    return tail if tail[:1] in (" ", "\t") and tail.lstrip().startswith("#") else ""


def _json_pairs(text: str) -> Pairs | None:
    try:
        mapping = json.loads(text)
    except ValueError:
        return None
    return [(scalar(key), json_line(value)) for key, value in mapping.items()]


def _inline(node: yaml.Node) -> str:
    """A node as one line of YAML."""
    _flatten(node, set())
    line: str = yaml.serialize(node, Dumper=_Dumper, width=1 << 30, allow_unicode=True)
    return line.strip().removesuffix("...").strip()


def _flatten(node: Any, seen: set[int]) -> None:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if node.style in ("|", ">") or "\n" in node.value:
            node.style = '"'
        return
    node.flow_style = True
    for item in node.value:
        for part in item if isinstance(item, tuple) else (item,):
            _flatten(part, seen)

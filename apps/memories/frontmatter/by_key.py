"""Third way to read a head: key by key, where YAML cannot read it as a whole. One broken line costs one value."""

from apps.memories.frontmatter.by_yaml import content_alone
from apps.memories.frontmatter.head import Entry, Head, Problem, ProblemKind, Style, yaml_lines

BROKEN_LIMIT = 64 * 1024  # What is larger and no YAML is not taken apart: that is not frontmatter.


def read(text: str) -> Head | None:
    """The head, or ``None`` if this is no block of keys."""
    if len(text) > BROKEN_LIMIT:
        return None
    lines = yaml_lines(text)
    head = Head(lines, [])
    starts = [(number, key) for number, line in enumerate(lines) if (key := _key_in(line))]
    if not starts or any(line.strip() and line[0] != "#" for line in lines[: starts[0][0]]):
        return None
    strays = 0
    for (start, key), (following, _next) in zip(starts, [*starts[1:], (len(lines), "")], strict=True):
        entry, loose = _broken_entry(head, key, start, head.without_gap(start, following, indented=True))
        head.entries.append(entry)
        if entry.style is Style.BROKEN:
            head.problems.append(head.problem(entry, ProblemKind.UNREADABLE))
        for number in loose:
            head.problems.append(Problem(number + 2, "", ProblemKind.UNREADABLE, lines[number].strip()))
        strays += len(loose)
    # Prose between two rules may hold a line with a colon as well; a block of keys is mostly keys.
    return head if strays < len(starts) else None


def _key_in(line: str) -> str:
    """The key a line starts with, if it starts with one."""
    text = line.rstrip()
    if not text or text[0] in " \t#-?:,[]{}&*!|>%@`":
        return ""
    end = text.find(": ")
    if end < 0:
        end = len(text) - 1 if text[-1] == ":" else text.find(":\t")
    key = text[: max(end, 0)].rstrip()
    if len(key) > 1 and key[0] in "\"'" and key[-1] == key[0]:
        key = key[1:-1]
    return "" if len(key) > 200 or " #" in key or '"' in key else key


def _broken_entry(head: Head, key: str, start: int, end: int) -> tuple[Entry, list[int]]:
    """One entry and the numbers of lines behind it that belong to no key."""
    content = content_alone(head.lines[start:end])
    if content is not None:
        return Entry(key, start, end, *content), []
    behind = (number for number in range(start + 1, end) if head.lines[number].strip())
    loose_from = next((number for number in behind if head.lines[number][0] not in " \t-#"), end)
    if loose_from < end:
        content = content_alone(head.lines[start:loose_from])
    loose = [number for number in range(loose_from, end) if head.lines[number].strip()]
    if content is not None:
        return Entry(key, start, loose_from, *content), loose
    return Entry(key, start, loose_from, Style.BROKEN, ""), loose

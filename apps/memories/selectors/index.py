"""The index: one line a memory, the last changed first, as much as fits; the rest is counted."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.base.text import clean_line
from apps.memories.doors import scopes_around
from apps.memories.schemas import IndexOut, ProjectRef
from apps.memories.scopes import global_scope, project_scope
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.workspaces.selectors import project_for

TITLE_CHARACTERS, SUMMARY_CHARACTERS = 80, 140
SHORTEST_LINE = 40  # An id takes most of it.
COUNTED_TO = 1_000

_KNOWN = "scope_id = %s AND resource = 'memory' AND status = 'active' AND NOT withheld"
# One walk of the index memory_list a scope, each ending at its limit.
_NEWEST = f"""
    SELECT * FROM (
        SELECT stable_id, title, summary, kind, updated_at FROM memories_memory
        WHERE {_KNOWN} ORDER BY updated_at DESC, id DESC LIMIT %s
    )
"""  # noqa: S608 - constants of this module
_COUNT = f"SELECT count(*) FROM (SELECT 1 FROM memories_memory WHERE {_KNOWN} LIMIT %s)"  # noqa: S608 - the same


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in one line."""

    memory_id: str
    text: str


@operation(needs=Right.READ, answers=IndexOut)
def memory_index_get(caller: Caller, *, project_id: ProjectRef = "") -> IndexOut:
    """Read the index of what is remembered: one line a memory, the last changed first.

    With a workspace its memories and those that hold everywhere, otherwise these alone. What does not fit is counted.
    """
    named = project_id or caller.project_id
    home = project_scope(project_for(caller, named).pk) if named else global_scope(caller.profile)
    return index_of(scopes_around(caller, home), settings.INDEX_CHARACTERS)


def index_of(scope_keys: Sequence[str], characters: int) -> IndexOut:
    """The index of these scopes in so many characters, its first and last line counted."""
    lines, is_whole = newest_lines(scope_keys, characters // SHORTEST_LINE + 1)
    if not lines:
        return IndexOut(text=nothing_yet() if characters else "", shown=0, left_out=0)
    head = _("What is remembered, the last changed first; memory_get reads one by its id:")
    total, is_exact = (len(lines), True) if is_whole else count_of(scope_keys)
    kept: list[str] = []
    left = characters - len(head) - len(_rest(total, is_exact))
    for line in lines:
        left -= len(line.text) + 1
        if left < 0:
            break
        kept.append(line.text)
    if not kept:
        return IndexOut(text=_rest(total, is_exact)[:characters], shown=0, left_out=total)
    rest = total - len(kept)
    text = "\n".join([head, *kept, *([_rest(rest, is_exact)] if rest else [])])
    return IndexOut(text=text, shown=len(kept), left_out=rest)


def newest_lines(
    scope_keys: Sequence[str], most: int, *, but: Collection[str] = frozenset()
) -> tuple[list[Line], bool]:
    """The lines of the memories changed last, without those named by ``but``; and whether these are all."""
    asked = most + len(but)
    with connection.cursor() as cursor:
        statement = " UNION ALL ".join([_NEWEST] * len(scope_keys)) + " ORDER BY updated_at DESC, stable_id DESC"
        cursor.execute(statement, [value for key in scope_keys for value in (key, asked)])
        rows = cursor.fetchall()
    lines = [Line(key, _line(key, title, summary, kind)) for key, title, summary, kind, _at in rows if key not in but]
    return lines[:most], len(rows) < asked


def count_of(scope_keys: Sequence[str]) -> tuple[int, bool]:
    """How many memories an index could tell of, to a thousand in each scope; and whether there are no more."""
    with connection.cursor() as cursor:
        values = [value for key in scope_keys for value in (key, COUNTED_TO)]
        cursor.execute("SELECT " + ", ".join([f"({_COUNT})"] * len(scope_keys)), values)
        counts = cursor.fetchone()
    return sum(counts), max(counts) < COUNTED_TO


def nothing_yet() -> str:
    """Two lines instead of an index, where there is nothing to index (OHM-052)."""
    return "\n".join(
        [
            _("Nothing is remembered here yet."),
            _(
                "Save one memory (memory_save) each time you learn what will still matter in another session:"
                " a decision with its reason, a rule, a fact, a fix that was hard to find."
            ),
        ]
    )


def _rest(count: int, is_exact: bool) -> str:
    if not is_exact:
        return _("At least {count} more: memory_search finds them.").format(count=count)
    return ngettext("{count} more: memory_search finds it.", "{count} more: memory_search finds them.", count).format(
        count=count
    )


def _line(memory_id: str, title: str, summary: str, kind: str) -> str:
    """Whatever somebody wrote outside, it stays one line."""
    told = _short(title, TITLE_CHARACTERS)
    if summary:
        told += f": {_short(summary, SUMMARY_CHARACTERS)}"
    return f"- {told} ({memory_id})" if kind == "note" else f"- {kind}: {told} ({memory_id})"


def _short(text: str, characters: int) -> str:
    text = clean_line(text)
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"

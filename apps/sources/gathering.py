"""Gather what curation may read of a scope: in the order of its changes, within a budget, read one by one."""

from dataclasses import dataclass, field, replace

from django.conf import settings

from apps.base.transactions import outside_transactions
from apps.changes.models import Change
from apps.memories import documents
from apps.memories.models import Memory
from apps.memories.reading import current
from apps.secrets.detection import known_values
from apps.secrets.redaction import Located, Numbering, redact, report
from apps.sources.boundaries import cost_of
from apps.sources.hidden import visible, visible_line
from apps.sources.material import Gathered, Gone, LeftOut, Source, Uncovered
from apps.sources.selectors import changed_sources, newest_changes

MOST_TOLD = 200  # So many of those that wait are named, the rest is counted.
COUNTED_TO = 10_000
CUT = "\n\n[...]"


@outside_transactions
def gather(scope_key: str, *, since: int, until: int, budget_tokens: int | None = None) -> Gathered:
    """Read the memories and checkpoints that changed after ``since`` and up to ``until``; from 0 on that is all of them.

    They come in the order of their last change, until the budget (settings: ``SOURCE_TOKENS``) is spent. Then ``cursor``
    says up to where all is read, and the next gathering goes on from there: at least one source fits every time.
    """
    gathering = _Gathering(scope_key, budget_tokens or settings.SOURCE_TOKENS, list(known_values()))
    cursor = since
    for change, memory in changed_sources(scope_key, since, until):
        if memory is None:
            gathering.gone.append(Gone(change.resource, change.stable_id, change.sequence))
        elif not gathering.take(memory, change):
            return gathering.gathered(cursor, _waiting(gathering, scope_key, cursor, until))
        cursor = change.sequence
    return gathering.gathered(max(since, until), 0)


@dataclass
class _Gathering:
    """One gathering under way."""

    scope_key: str
    left: int
    known_values: list[str]
    numbering: Numbering = field(default_factory=Numbering)  # One value is one number in all sources.
    sources: list[Source] = field(default_factory=list)
    uncovered: list[Uncovered] = field(default_factory=list)
    gone: list[Gone] = field(default_factory=list)
    redactions: list[Located] = field(default_factory=list)
    spent: int = 0

    def take(self, memory: Memory, change: Change) -> bool:
        """Read one source. False where the budget is spent: nothing of it was taken then."""
        if memory.withheld:
            self.leave(memory, LeftOut.WITHHELD)
            return True
        read = current(memory)
        if read.memory.withheld:
            self.leave(read.memory, LeftOut.WITHHELD)
            return True
        source, found = self.cleaned(read.memory, documents.body_text(read.document), change.sequence)
        if not source.text.strip() and not source.summary:
            self.leave(read.memory, LeftOut.EMPTY)
            return True
        whole = len(source.text)
        source = _shortened(source, settings.SOURCE_CHARACTERS)
        cost = cost_of(source)
        if cost > self.left:
            if self.sources:
                return False
            source = _fitting(source, self.left)
            cost = cost_of(source)
        if lost := whole - len(source.text.removesuffix(CUT)):
            self.leave(read.memory, LeftOut.SHORTENED, lost)
        self.redactions += found
        self.sources.append(source)
        self.left -= cost
        self.spent += cost
        return True

    def cleaned(self, memory: Memory, body: str, sequence: int) -> tuple[Source, list[Located]]:
        """A source without secrets and hidden text. What was hidden may have cut a secret in two, so it is looked twice."""
        body = body.replace("\r\n", "\n")
        first = redact(body, self.known_values, self.numbering)
        seen = visible(first.text)
        second = redact(seen.text, self.known_values, self.numbering)
        source = Source(
            kind=memory.resource,
            id=memory.stable_id,
            revision=memory.revision,
            title=self.line(memory.title),
            text=second.text.strip("\n"),
            updated_at=memory.updated_at,
            scope_key=self.scope_key,
            sequence=sequence,
            nature=memory.kind if memory.resource == "memory" else "",
            summary=self.line(memory.summary),
            tags=tuple(self.line(tag) for tag in memory.tags),
            content_hash=memory.content_hash,
            notes=tuple(seen.notes),
        )
        return source, report(memory.stable_id, [*first.findings, *second.findings])

    def line(self, text: str) -> str:
        return redact(visible_line(text), self.known_values, self.numbering).text

    def leave(self, memory: Memory, reason: LeftOut, characters: int = 0) -> None:
        told = Uncovered(
            memory.resource, memory.stable_id, memory.revision, self.line(memory.title), reason, characters
        )
        self.uncovered.append(told)

    def gathered(self, cursor: int, waiting: int) -> Gathered:
        return Gathered(
            self.sources, self.uncovered, cursor, self.redactions, self.gone, tokens=self.spent, waiting=waiting
        )


def _waiting(gathering: _Gathering, scope_key: str, cursor: int, until: int) -> int:
    """Name what the budget left for the next gathering, and count it."""
    for number, (_change, memory) in enumerate(changed_sources(scope_key, cursor, until)):
        if number >= MOST_TOLD:
            break
        if memory:
            gathering.leave(memory, LeftOut.OVER_BUDGET)
    return newest_changes(scope_key, cursor, until)[:COUNTED_TO].count()


def _shortened(source: Source, characters: int) -> Source:
    """Cut at the end of a paragraph, else of a line, else of a word, where one is near; never inside a placeholder."""
    if len(source.text) <= characters:
        return source
    text = source.text[: max(characters, 0)]
    for gap in ("\n\n", "\n", " "):
        near = text.rfind(gap, len(text) * 3 // 4)
        if near > 0:
            text = text[:near]
            break
    opened = text.rfind("[redacted: ")
    if opened >= 0 and "]" not in text[opened:]:
        text = text[:opened]
    return replace(source, text=text.rstrip() + CUT)


def _fitting(source: Source, tokens: int) -> Source:
    """The longest beginning that costs no more than so many tokens."""
    bare = replace(source, text="")
    low, high = 0, len(source.text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost_of(_shortened(source, middle)) <= tokens:
            low = middle
        else:
            high = middle - 1
    return _shortened(source, low) if low else bare

"""What to read first in a session, within a token budget."""

from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.utils.translation import gettext as _

from apps.base.days import local
from apps.changes.models import Change
from apps.context.budget import Budget, beginning, cost_of, cost_of_text, may_fit
from apps.context.gathering import (
    Curated,
    Places,
    changes_after,
    changes_in,
    count_of,
    curated_in,
    groups,
    places_of,
    titles_of,
)
from apps.context.guidance import guidance_for
from apps.context.schemas import (
    CheckpointContext,
    ContextChange,
    ContextMemory,
    ContextOut,
    CuratedItem,
    CurationContext,
    LeftOut,
    ProfileContext,
    TokenBudget,
    WorkspaceContext,
)
from apps.memories import documents
from apps.memories.models import Checkpoint, Memory, Resource, Scope, Status
from apps.memories.reading import Current, current
from apps.memories.schemas import ProjectRef
from apps.memories.scopes import may_see
from apps.memories.selectors.checkpoints import latest_checkpoint
from apps.memories.selectors.index import newest_lines, nothing_yet
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature, is_on
from apps.operations.operation import operation
from apps.profiles.models import Profile
from apps.workspaces.models import Project
from apps.workspaces.selectors import project_for

CURATED_SHARE, CHECKPOINT_SHARE, CHANGES_SHARE, INDEX_SHARE = 0.6, 0.3, 0.1, 0.12
SMALLEST_LINE = 15  # Tokens: an id alone costs as much.
LONGEST_SHARE = 0.25  # A longer body shows as its summary, so that one memory never takes the place of many.
BEGINNING_TOKENS = 80
FIELD_TOKENS = 8  # A field's name, its quotes and its comma.
SMALLEST = 60  # No memory costs less; with less than this left nobody else is looked at.
MISFITS = 3  # After as many that did not fit what is left, no further text is read in the hope of a short one.
TIGHT = 700  # A budget below this has no room for guidance.
NAME_CHARACTERS = 60
FIELDS_BY_WORTH = ("next_steps", "problems", "completed", "key_changes", "reason", "solutions", "verification")
GUESS = 99_999  # Stands for every figure while the frame is measured.


@operation(needs=Right.READ, answers=ContextOut)
def context_get(caller: Caller, *, project_id: ProjectRef = "", max_tokens: TokenBudget | None = None) -> ContextOut:
    """Begin here: what is known of a workspace, most important first, within a token budget.

    Curated documents, where work stopped, rules, decisions and facts before the rest. left_out says what is missing.
    """
    named = project_id or caller.project_id
    project = project_for(caller, named) if named else None
    return Composition(caller, project, max_tokens or settings.CONTEXT_TOKENS).composed()


class Composition:
    """One answer in the making: each part takes from the budget what the parts before it left."""

    def __init__(self, caller: Caller, project: Project | None, tokens: int) -> None:
        self.caller, self.project, self.tokens = caller, project, tokens
        self.places: Places = places_of(caller, project)
        self.curated: Curated = curated_in(self.places)
        self.log: list[Change] = changes_in(self.places, self.curated.cursors)
        self.shown: set[str] = set()  # Nothing stands in an answer twice.
        self.waiting: list[Memory] = []
        self.shortened = self.misfits = self.longest = self.indexed = 0
        self.answer = self._frame()
        self.budget = Budget(tokens - cost_of(self.answer))
        self.answer.left_out = LeftOut()

    def composed(self) -> ContextOut:
        answer = self.answer
        answer.curated = list(self._curated())
        answer.checkpoint = self._checkpoint()
        for_changes, for_index = (int(self.budget.left * share) for share in (CHANGES_SHARE, INDEX_SHARE))
        self.budget.left -= for_changes + for_index
        self.longest = int(self.budget.left * LONGEST_SHARE)
        answer.memories = list(self._memories())
        self.budget.left += for_changes
        answer.changes = list(self._changes())
        answer.memories += self._waiting_memories()
        self.budget.left += for_index
        answer.index = self._index()
        answer.left_out = self._left_out()
        answer.tokens = cost_of(answer)
        return answer

    # The frame.

    def _frame(self) -> ContextOut:
        """Everything that stands in the answer whatever is known, its figures as wide as they can get."""
        kind = self.project.workspace_type if self.project else None
        roomy = self.tokens >= TIGHT
        return ContextOut(
            workspace=WorkspaceContext(
                project_id=self.project.pk if self.project else None,
                name=self.project.name[:NAME_CHARACTERS] if self.project else None,
                workspace_type=kind,
                guidance=guidance_for(kind) if roomy else "",
            ),
            profile=ProfileContext(profile_id=self.caller.profile, name=_profile_name(self.caller)),
            curation=self._curation(),
            curated=[],
            checkpoint=None,
            memories=[],
            changes=[],
            index="",
            left_out=LeftOut(curated=GUESS, memories=GUESS, changes=GUESS, shortened=GUESS, how=_how()),
            outside_changes_pending=Scope.objects.filter(key__in=self.places.keys, outside_pending=True).exists(),
            tokens=GUESS,
        )

    def _curation(self) -> CurationContext:
        until = self.curated.covers_until
        return CurationContext(
            state="on" if is_on(Feature.CURATION) else "off",
            covers_until=self._time(until) if until else None,
            changes_since=changes_after(self.places, self.curated.cursors) if until else None,
        )

    # The parts.

    def _curated(self) -> Iterator[CuratedItem]:
        share = int(self.budget.left * CURATED_SHARE)
        for row in self.curated.documents:
            read = current(row)
            if read.memory.withheld or read.memory.status != Status.ACTIVE:
                continue
            item = self._curated_item(read, share)
            if item is not None:
                share -= cost_of(item)
                yield item

    def _curated_item(self, read: Current, share: int) -> CuratedItem | None:
        memory, text = read.memory, documents.body_text(read.document).strip()
        item = CuratedItem(
            memory_id=memory.stable_id,
            title=memory.title,
            scope=self.places.words[memory.scope_id],
            revision=memory.revision,
            updated_at=self._time(memory.updated_at),
            complete=True,
            stale=memory.stable_id in self.curated.stale,
            text=text,
        )
        if may_fit(text, share) and self.budget.spend(item, within=share):
            self.shown.add(memory.stable_id)
            return item
        item.complete, item.text = False, ""
        item.text = beginning(text, share - cost_of(item))
        if not item.text or not self.budget.spend(item, within=share):
            return None
        self.shown.add(memory.stable_id)
        self.shortened += 1
        return item

    def _checkpoint(self) -> CheckpointContext | None:
        latest = latest_checkpoint(self.places.main)
        if latest is None:
            return None
        read = current(latest)
        memory = read.memory
        if memory.withheld or memory.status != Status.ACTIVE:
            return None
        row = Checkpoint.objects.get(memory=memory)
        item = CheckpointContext(
            checkpoint_id=memory.stable_id,
            title=memory.title,
            revision=memory.revision,
            created_at=self._time(memory.created_at),
            important=row.important,
            complete=True,
            fields={},
        )
        share = int(self.budget.left * CHECKPOINT_SHARE)
        told = _fields_of(row, read)
        whole = item.model_copy(update={"fields": told})
        if all(may_fit(text, share) for text in told.values()) and cost_of(whole) <= share:
            item = whole
        else:
            item.complete = False
            item.fields = _shortened(told, share - cost_of(item))
            self.shortened += 1
        if not self.budget.spend(item):
            return None
        self.shown.add(memory.stable_id)
        return item

    def _memories(self) -> Iterator[ContextMemory]:
        total = self.budget.left
        for group in groups(self.places, self.curated, self.log, self._most()):
            floor = self.budget.left - int(total * group.share)
            for place, memory in enumerate(group.memories):
                if self._is_spent() or self.budget.left - SMALLEST < floor:
                    self.waiting += group.memories[place:]
                    break
                if item := self._memory(memory):
                    yield item
            if self._is_spent():
                return
        yield from self._waiting_memories()

    def _waiting_memories(self) -> Iterator[ContextMemory]:
        """Those passed over while others might have needed the room more."""
        self.misfits = 0
        waiting, self.waiting = self.waiting, []
        for place, memory in enumerate(waiting):
            if self._is_spent():
                self.waiting = waiting[place:]
                return
            if item := self._memory(memory):
                yield item

    def _is_spent(self) -> bool:
        return self.budget.left < SMALLEST or self.misfits >= MISFITS

    def _most(self) -> int:
        """No more rows of one rank than could be shown at their smallest."""
        return max(10, min(200, self.budget.left // SMALLEST))

    def _memory(self, row: Memory) -> ContextMemory | None:
        if row.stable_id in self.shown:
            return None
        read = current(row)
        memory = read.memory
        if memory.withheld or memory.status != Status.ACTIVE:
            return None
        text = documents.body_text(read.document).strip()
        item = ContextMemory(
            memory_id=memory.stable_id,
            title=memory.title,
            kind=memory.kind,
            scope=self.places.words[memory.scope_id],
            revision=memory.revision,
            updated_at=self._time(memory.updated_at),
            complete=True,
            text=text,
        )
        if not (may_fit(text, self.longest) and self.budget.spend(item, within=self.longest)):
            item.complete = False
            item.text = memory.summary or beginning(text, BEGINNING_TOKENS)
            if not self.budget.spend(item):
                self.misfits += 1
                return None
            self.shortened += 1
        self.shown.add(memory.stable_id)
        return item

    def _changes(self) -> Iterator[ContextChange]:
        """One line for each document that changed and is not here otherwise."""
        rows = titles_of(self.log)
        self.log = [change for change in self.log if self._may_tell(rows.get(change.stable_id))]
        for change in self.log:
            if change.stable_id in self.shown:
                continue
            line = ContextChange(
                at=self._time(change.at),
                change=change.kind,
                memory_id=change.stable_id,
                title=rows[change.stable_id].title,
                revision=change.revision,
            )
            if not self.budget.spend(line):
                return
            self.shown.add(change.stable_id)
            yield line

    def _index(self) -> str:
        """One line for each of the memories that changed last and are not here otherwise."""
        characters, left = settings.INDEX_CHARACTERS, self.budget.left
        lines, _is_whole = newest_lines(self.places.keys, left // SMALLEST_LINE + 1, but=self.shown)
        if not (lines or self.answer.memories):
            text = nothing_yet()
            return text if characters and cost_of_text(text) <= left else ""
        text = _("Further memories, the last changed first; memory_get reads one by its id:")
        left -= cost_of_text(text)
        for line in lines:
            left -= cost_of_text(f"{line.text}\n")
            if left < 0 or len(text) + 1 + len(line.text) > characters:
                break
            text += f"\n{line.text}"
            self.indexed += 1
        return text if self.indexed else ""

    def _may_tell(self, row: Memory | None) -> bool:
        return row is not None and not row.withheld and may_see(self.caller, row.scope_id)

    def _left_out(self) -> LeftOut:
        answer = self.answer
        left = LeftOut(
            curated=len(self.curated.documents) - len(answer.curated),
            memories=max(0, count_of(self.places, Resource.MEMORY) - len(answer.memories) - self.indexed),
            changes=sum(change.stable_id not in self.shown for change in self.log),
            shortened=self.shortened,
        )
        if left.curated or left.memories or left.changes or left.shortened:
            left.how = _how()
        return left

    def _time(self, moment: datetime) -> datetime:
        """In the caller's zone, to the second: a model pays for every digit."""
        return local(moment, self.caller.zone).replace(microsecond=0)


def _profile_name(caller: Caller) -> str:
    name = Profile.objects.filter(pk=caller.profile).values_list("name", flat=True).first()
    return (name or caller.profile)[:NAME_CHARACTERS]


def _fields_of(row: Checkpoint, read: Current) -> dict[str, str]:
    """What the checkpoint says; the text itself where an outside edit broke its headings."""
    if row.broken:
        return {"text": documents.body_text(read.document).strip()}
    return {name: text for name in FIELDS_BY_WORTH if (text := getattr(row, name).strip())}


def _shortened(fields: dict[str, str], tokens: int) -> dict[str, str]:
    """Each field's beginning, the most useful first; what one leaves of its part goes to those after it."""
    told: dict[str, str] = {}
    for place, (name, text) in enumerate(fields.items()):
        part = tokens // (len(fields) - place) - FIELD_TOKENS
        if kept := beginning(text, part):
            told[name] = kept
            tokens -= cost_of_text(kept) + FIELD_TOKENS
    return told


def _how() -> str:
    return _("memory_search finds what you need by words, memory_list lists it, memory_get reads one whole.")

"""The words of memories: what callers send, each with a description an agent pays for, and what they get back."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from django.conf import settings
from django.utils.translation import gettext
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from apps.base.paging import PAGE_LIMIT
from apps.base.text import clean_line, without_surrogates
from apps.memories.documents import THREAD_CHARACTERS
from apps.memories.ledger import IfExists


def _line(text: str) -> str:
    return clean_line(text)


def _text(text: str) -> str:
    """Every byte of a body survives (D-39), so what cannot be stored is refused, not altered."""
    if "\0" in text:
        raise ValueError(gettext("This must not hold NUL characters."))
    return without_surrogates(text)


MemoryRef = Annotated[str, Field(description="Id, path or slug.", min_length=1, max_length=900)]
Title = Annotated[
    str, AfterValidator(_line), Field(description="Short title.", min_length=1, max_length=settings.TITLE_CHARACTERS)
]
Body = Annotated[str, AfterValidator(_text), Field(description="Markdown.", max_length=settings.BODY_CHARACTERS)]
Summary = Annotated[
    str, AfterValidator(_line), Field(description="One or two sentences.", max_length=settings.SUMMARY_CHARACTERS)
]
Tag = Annotated[str, AfterValidator(_line), StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(description="Tags.", max_length=settings.TAGS)]
KindName = Annotated[Literal["note", "rule", "fact", "decision", "experience"], Field(description="What it states.")]
AnyKind = Annotated[Literal["", "note", "rule", "fact", "decision", "experience"], Field(description="Only this kind.")]
NoteTypeName = Annotated[
    Literal["", "user", "feedback", "project", "reference"], Field(description="Whom it concerns.")
]
ProjectRef = Annotated[str, Field(description="Workspace id or slug.", max_length=80)]
ScopeRef = Annotated[str, Field(description="global, shared, project, or a key such as project/<id>.", max_length=80)]
PathText = Annotated[str, Field(description="Relative path ending in .md.", max_length=900)]
ThreadName = Annotated[
    str,
    AfterValidator(_line),
    Field(description="Conversation or thread it belongs to.", max_length=THREAD_CHARACTERS),
]
RequestId = Annotated[str, Field(description="Your id for this call; a repeat does nothing twice.", max_length=200)]
RevisionNumber = Annotated[int, Field(description="The revision you read.", ge=1, le=2**62)]
AnyRevision = Annotated[int, Field(description="The revision you read; 0 for any.", ge=0, le=2**62)]
OldRevision = Annotated[int, Field(description="A revision number of memory_history.", ge=1, le=2**62)]
IfExistsName = Annotated[IfExists, Field(description="If the title exists: refuse, or store a new one.")]
Reason = Annotated[str, AfterValidator(_line), Field(description="Why, for the history.", max_length=500)]
Limit = Annotated[int, Field(description="Page size.", ge=1, le=PAGE_LIMIT)]
PageCursor = Annotated[str, Field(description="next_cursor of the page before.", max_length=600)]
Query = Annotated[str, Field(description='Words, identifiers or a "phrase", Chinese or English.', max_length=2000)]
TagFilter = Annotated[list[Tag], Field(description="All of these tags.", max_length=20)]
StatusName = Annotated[Literal["active", "archived", "deleted", "any"], Field(description="Status.")]
SearchMode = Annotated[
    Literal["hybrid", "text", "semantic"], Field(description="By words and meaning, words alone, or meaning alone.")
]
Explain = Annotated[bool, Field(description="Tell why each hit ranks where it does.")]
ResourceName = Annotated[Literal["memory", "checkpoint", "curated", "any"], Field(description="Kind of document.")]
TimeFrom = Annotated[str, Field(description="From this date or time on.", max_length=40)]
TimeTo = Annotated[str, Field(description="Up to this date (whole day) or time.", max_length=40)]
CheckpointField = Annotated[str, AfterValidator(_text), Field(max_length=settings.BODY_CHARACTERS)]
Important = Annotated[bool, Field(description="Worth curating soon.")]
ImportantOnly = Annotated[bool, Field(description="Only important ones.")]
Flag = Annotated[bool, Field(description="Yes or no.")]


class Replacement(BaseModel):
    """An exact replacement: ``old`` must occur exactly once."""

    model_config = ConfigDict(extra="forbid")

    old: Annotated[str, Field(min_length=1, max_length=settings.BODY_CHARACTERS)]
    new: Annotated[str, AfterValidator(_text), Field(max_length=settings.BODY_CHARACTERS)]


class Section(BaseModel):
    """A heading's section: everything below it up to the next heading of its level."""

    model_config = ConfigDict(extra="forbid")

    heading: Annotated[str, Field(min_length=1, max_length=500)]
    body: Annotated[str, AfterValidator(_text), Field(max_length=settings.BODY_CHARACTERS)]


Replacements = Annotated[list[Replacement], Field(description="Exact replacements {old, new}.", max_length=100)]
SectionText = Annotated[Section, Field(description="Replace a section {heading, body}.")]


class NewMemory(BaseModel):
    """One memory of ``memory_save_many``."""

    model_config = ConfigDict(extra="forbid")

    title: Title
    body: Body
    kind: KindName = "note"
    note_type: NoteTypeName = ""
    tags: Tags = Field(default_factory=list)
    summary: Summary = ""
    path: PathText = ""
    thread: ThreadName = ""


NewMemories = Annotated[
    list[NewMemory], Field(description="The memories.", min_length=1, max_length=settings.SAVE_MANY)
]


class Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Likeness(StrEnum):
    SAME_TEXT = "same_text"
    NEARLY_SAME = "nearly_same"


class RelatedOut(Answer):
    """A memory on the same matter."""

    memory_id: str
    title: str


class DuplicateOut(RelatedOut):
    """A memory that may say the same already."""

    likeness: Likeness


class AlikeOut(Answer):
    """What a memory is like: one that may say the same, and at most three on the same matter."""

    memory_id: str
    duplicate: DuplicateOut | None = None
    related: list[RelatedOut] = Field(default_factory=list)


class SavedOut(Answer):
    """What a write led to. ``changed`` is false where the text already was so.

    After memory_save: ``related`` memories, a possible ``duplicate``, and ``missing_links`` that lead nowhere yet.
    """

    memory_id: str
    revision: int
    path: str
    warnings: list[str] = Field(default_factory=list)
    title: str
    slug: str
    scope: str
    project_id: str | None = None
    status: str = "active"
    changed: bool = True
    related: list[RelatedOut] = Field(default_factory=list)
    duplicate: DuplicateOut | None = None
    missing_links: list[str] = Field(default_factory=list)


class SavedManyOut(Answer):
    memories: list[SavedOut]


class DeletedOut(Answer):
    """A receipt that names every place that was cleaned. History stays until an administrator purges it."""

    memory_id: str
    revision: int
    title: str
    cleaned: list[str]
    warnings: list[str] = Field(default_factory=list)


class MemoryItem(Answer):
    """A memory without its text, as lists show it."""

    memory_id: str
    title: str
    resource: str = "memory"
    kind: str = "note"
    note_type: str = ""
    summary: str = ""
    tags: list[str] = Field(default_factory=list)
    status: str = "active"
    scope: str
    project_id: str | None = None
    slug: str
    path: str
    revision: int
    created_at: datetime
    updated_at: datetime


class MemoryOut(MemoryItem):
    """A memory with its text. ``unsettled``: its file is being edited outside right now."""

    body: str
    thread: str = ""
    unsettled: bool = False
    warnings: list[str] = Field(default_factory=list)


class MemoryListOut(Answer):
    memories: list[MemoryItem]
    next_cursor: str = ""
    outside_changes_pending: bool = False


class WhyOut(Answer):
    """What ranked a hit: its parts add up to ``score``, except that exact hits come first.

    ``text`` is the share of the query's words that it holds (squared and weighed for the score), ``similarity`` the cosine of
    its nearest piece, ``closeness`` the same in standard deviations among texts of its language.
    """

    match: str
    words: list[str] = Field(default_factory=list)
    text: float = 0.0
    similarity: float | None = None
    closeness: float | None = None
    language: str = ""
    own: float | None = None
    neighbours: float = 0.0  # Borrowed from what was said just before and after it in its thread.
    thread: float = 0.0  # Borrowed from the best of its thread.
    shape: float = 0.0  # Below 0 for very short texts and for questions.
    first: str = ""  # Why it comes before all others, where it does.


class SearchHit(Answer):
    memory_id: str
    title: str
    excerpt: str
    marks: list[tuple[int, int]] = Field(default_factory=list)  # Where the matches stand in the excerpt.
    resource: str = "memory"
    kind: str = "note"
    tags: list[str] = Field(default_factory=list)
    status: str = "active"
    scope: str
    project_id: str | None = None
    path: str
    revision: int
    updated_at: datetime
    also: list[str] = Field(default_factory=list)  # Memories that say the same in other words, folded into this one.
    score: float | None = None
    why: WhyOut | None = None


class SearchOut(Answer):
    """One page of hits. ``complete`` is false where more or other hits may exist; ``reason`` then says why.

    ``mode`` is what was really searched by: text where no vectors could be had.
    """

    results: list[SearchHit]
    complete: bool
    mode: str = "text"
    reason: str | None = None
    next_cursor: str = ""


class RevisionItem(Answer):
    revision: int
    action: str
    title: str
    status: str
    path: str
    actor: str
    origin: str
    reason: str = ""
    warning: str = ""
    scope_version: int
    operation_id: str
    at: datetime


class HistoryOut(Answer):
    memory_id: str
    title: str
    current: int
    revisions: list[RevisionItem]
    next_cursor: str = ""


class RevisionOut(RevisionItem):
    memory_id: str
    scope: str
    resource: str = "memory"
    kind: str = "note"
    note_type: str = ""
    summary: str = ""
    tags: list[str] = Field(default_factory=list)
    body: str


class DifferenceOut(Answer):
    memory_id: str
    from_revision: int
    to_revision: int
    difference: str
    added: int
    removed: int
    truncated: bool = False


class CheckpointItem(Answer):
    checkpoint_id: str
    memory_id: str
    title: str
    important: bool
    scope: str
    project_id: str | None = None
    path: str
    revision: int
    created_at: datetime
    updated_at: datetime
    completed: str = ""
    reason: str = ""
    key_changes: str = ""
    verification: str = ""
    problems: str = ""
    solutions: str = ""
    next_steps: str = ""


class CheckpointOut(CheckpointItem):
    """A checkpoint. ``broken``: an outside edit took its headings away; the text is in ``body``."""

    body: str
    broken: bool = False
    warnings: list[str] = Field(default_factory=list)


class LatestCheckpointOut(Answer):
    checkpoint: CheckpointOut | None


class CheckpointListOut(Answer):
    checkpoints: list[CheckpointItem]
    next_cursor: str = ""


class TimelineChange(Answer):
    memory_id: str
    title: str
    resource: str
    action: str
    revision: int


class TimelineEntry(Answer):
    """One step of a scope: a commit with what it changed, or a checkpoint."""

    at: datetime
    entry: Literal["change", "checkpoint"]
    scope: str
    version: int
    operation: str
    operation_id: str
    actor: str
    origin: str
    reason: str = ""
    total: int
    changes: list[TimelineChange]


class TimelineOut(Answer):
    entries: list[TimelineEntry]
    next_cursor: str = ""


class IndexOut(Answer):
    """The index as a text, with how many memories it shows and how many it leaves out (those to 1,000 in a scope)."""

    text: str
    shown: int
    left_out: int


class LinkedMemory(Answer):
    """The other end of a link."""

    memory_id: str
    title: str
    resource: str
    kind: str
    status: str
    scope: str


class LinkTo(Answer):
    """A link as it is written, and the memory it leads to; null: there is none that you may see."""

    target: str
    memory: LinkedMemory | None


class LinksOut(Answer):
    """``is_whole``: these are all links, in both directions."""

    memory_id: str
    links_to: list[LinkTo]
    linked_from: list[LinkedMemory]
    is_whole: bool


class AlarmOut(Answer):
    scope: str
    decided: str
    files: int


class ScopeItem(Answer):
    """A scope and the state of its folder."""

    scope: str
    version: int
    policy: str
    memories: int
    checkpoints: int
    updated_at: datetime | None = None
    alarm: dict[str, Any] | None = None
    notices: list[dict[str, Any]] = Field(default_factory=list)
    scanned_at: datetime | None = None


class ScopeListOut(Answer):
    scopes: list[ScopeItem]


FolderText = Annotated[
    str, Field(description="Absolute path of a folder on the server.", min_length=1, max_length=2000)
]
JobRef = Annotated[str, Field(description="The job's id.", min_length=1, max_length=40)]
JobStateName = Annotated[
    Literal["any", "waiting", "running", "paused", "completed", "cancelled", "failed"],
    Field(description="Only jobs in this state."),
]
ForGood = Annotated[bool, Field(description="End it for good; otherwise job_resume goes on from there.")]


class JobReport(Answer):
    """One file that something is to be said of. ``code`` is stable, ``reason`` a sentence."""

    path: str
    code: str
    reason: str


class JobOut(Answer):
    """A job on many documents. ``imported`` counts new memories, in an export files; ``updated`` those changed, moved or deleted;
    ``reports`` holds the first 200."""

    job_id: str
    kind: str
    state: str
    folder: str
    scope: str
    project_id: str | None = None
    target: str = ""
    operation_id: str = ""
    total: int
    done: int
    imported: int
    updated: int
    unchanged: int
    skipped: int
    reported: int
    reports: list[JobReport] = Field(default_factory=list)
    error: str = ""
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None


class JobListOut(Answer):
    jobs: list[JobOut]
    next_cursor: str = ""

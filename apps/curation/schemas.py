"""The words of curation: what callers send, and how jobs and documents are answered."""

from typing import Annotated, Literal

from django.utils.translation import gettext
from pydantic import AfterValidator, BaseModel, Field

from apps.curation.templates import DOCUMENT_TYPES
from apps.operations.words import Moment

ScopeName = Annotated[Literal["project"], Field(description="What to curate; so far a workspace.")]
ModeName = Annotated[
    Literal["incremental", "full"],
    Field(description="incremental reads what changed since the last success, full reads everything again."),
]
StrategyName = Annotated[
    Literal["auto", "mcp", "all"], Field(description="Where sources come from; so far memories and checkpoints.")
]


def _known_type(name: str) -> str:
    if name and name not in DOCUMENT_TYPES:
        raise ValueError(gettext("This must be one of: {names}.").format(names=", ".join(DOCUMENT_TYPES)))
    return name


TypeName = Annotated[str, AfterValidator(_known_type), Field(min_length=1, max_length=80)]
_NAMES = ", ".join(DOCUMENT_TYPES)
DocumentTypes = Annotated[
    list[TypeName], Field(description=f"Documents to curate ({_NAMES}); left out: the default set.", max_length=40)
]
DefaultTypes = Annotated[
    list[TypeName],
    Field(description=f"The default set of documents ({_NAMES}); empty: all of the template.", max_length=40),
]
DocumentTypeName = Annotated[
    str,
    AfterValidator(_known_type),
    Field(description=f"Which document ({_NAMES}), together with project_id.", max_length=80),
]
WhyCurate = Annotated[str, Field(description="Why, for the history.", max_length=500)]
Force = Annotated[bool, Field(description="Curate although nothing changed.")]
PendingPolicy = Annotated[
    Literal["reuse", "reject", "replace"],
    Field(description="If a curation already waits: reuse it (default), reject (default if forced), or replace it."),
]
CurationJobRef = Annotated[str, Field(description="Id of a curation job.", max_length=40)]
JobOrNone = Annotated[str, Field(description="Id of a curation job; left out: all of it.", max_length=40)]
OriginalConfig = Annotated[bool, Field(description="Use the model connection of the first attempt, while it exists.")]
DocumentRef = Annotated[str, Field(description="Id, path or slug of a curated document.", max_length=900)]
OldDocumentRevision = Annotated[int, Field(description="A revision of it; left out: the newest.", ge=1, le=2**62)]
IncludeSources = Annotated[bool, Field(description="Whether to name the sources of the revision.")]
StateFilter = Annotated[
    Literal[
        "any",
        "queued",
        "collecting",
        "running",
        "waiting_dependency",
        "applying",
        "completed",
        "failed",
        "cancelled",
    ],
    Field(description="Only jobs in this state."),
]
TriggerFilter = Annotated[Literal["any", "manual"], Field(description="Only jobs with this trigger.")]
StartedAfter = Annotated[str, Field(description="Only jobs made after this date or time.", max_length=40)]
EnabledSwitch = Annotated[bool, Field(description="Whether AI curation is on. It needs a connected model.")]


class CurationRunOut(BaseModel):
    """A job that was made, or found waiting (``reused``). curation_status tells how far it is."""

    job_id: str
    state: str
    reused: bool
    scope: str
    project_id: str | None
    mode: str
    source_strategy: str
    document_types: list[str]


class Usage(BaseModel):
    """What the model has cost."""

    requests: int
    tokens_in: int
    tokens_out: int
    milliseconds: int


class AttemptOut(BaseModel):
    """One execution with the configuration that it really used."""

    number: int
    state: str
    connection: str
    connection_revision: int
    protocol: str
    model: str
    prompt_version: str
    schema_version: str
    error_code: str
    error: str
    started_at: Moment
    ended_at: Moment | None


class LeftOutSource(BaseModel):
    source_id: str
    title: str
    reason: str


class DocumentChange(BaseModel):
    document_id: str
    document_type: str
    title: str
    revision: int
    sources: int


class ConflictOut(BaseModel):
    statement: str
    source_ids: list[str]


class SecretFound(BaseModel):
    """Where something that looks like a secret stood; never what it was."""

    document: str
    rule: str
    line: int
    column: int
    confidence: str


class CurationJobOut(BaseModel):
    """A curation job. ``start_cursor`` and ``end_cursor`` are the changes it covers, the first one excluded."""

    job_id: str
    state: str
    phase: str
    scope: str
    project_id: str | None
    trigger: str
    triggers: int
    mode: str
    source_strategy: str
    document_types: list[str]
    reason: str
    forced: bool
    cancel_requested: bool
    attempt: int
    retries: int
    next_retry_at: Moment | None
    batch: int
    batches: int
    seconds_waited: int
    start_cursor: int
    end_cursor: int
    sources_read: int
    sources_skipped: int
    uncovered: list[LeftOutSource]
    result: str
    documents_created: int
    documents_updated: int
    documents_unchanged: int
    documents: list[DocumentChange]
    change_summary: str
    conflicts: list[ConflictOut]
    warnings: list[SecretFound]
    operation_id: str
    usage: Usage
    error_code: str
    error: str
    created_at: Moment
    updated_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    attempts: list[AttemptOut]


class CurationQueue(BaseModel):
    """``waiting`` counts jobs, ``merged_triggers`` the further requests that they answer."""

    waiting: int
    waiting_for_model: int
    running: int
    merged_triggers: int
    slots: int


class CurationStatusOut(BaseModel):
    """How curation is doing. ``jobs`` are those that wait or run; ``job`` is the one that was asked for."""

    enabled: bool
    model: str
    queue: CurationQueue
    jobs: list[CurationJobOut]
    job: CurationJobOut | None = None
    last_success_at: Moment | None = None


class CurationHistoryOut(BaseModel):
    jobs: list[CurationJobOut]
    next_cursor: str


class DocumentItem(BaseModel):
    """A curated document without its text. ``stale``: something it was made of is gone; ``edited``: by a person since."""

    document_id: str
    document_type: str
    title: str
    scope: str
    project_id: str | None
    path: str
    revision: int
    updated_at: Moment
    source_count: int
    stale: bool
    edited: bool
    model: str
    prompt_version: str
    job_id: str | None


class DocumentListOut(BaseModel):
    documents: list[DocumentItem]


class DocumentSource(BaseModel):
    """A source as the document was made of it. ``state`` is current, changed or gone."""

    source_id: str
    resource: str
    title: str
    revision: int
    state: Literal["current", "changed", "gone"]


class DocumentOut(DocumentItem):
    """A curated document. ``current_revision`` is the newest one; ``revision`` the one whose text this is."""

    current_revision: int
    body: str
    sources: list[DocumentSource] = Field(default_factory=list)


class CurationSettingsOut(BaseModel):
    """``enabled`` is what was chosen; ``active`` is false as long as no model is connected."""

    enabled: bool
    active: bool
    model_configured: bool
    document_types: list[str]
    known_document_types: list[str]
    revision: int
    updated_at: Moment | None
    updated_by: str

"""What the server says of itself: what it can do, and how it is doing."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from apps.llm.schemas import ConnectionState
from apps.memories.schemas import MemoryItem
from apps.operations.words import Moment
from apps.search.vectors.state import SemanticState

LatestLimit = Annotated[
    int, Field(ge=0, le=50, description="Most of the latest memories, checkpoints and jobs to show.")
]
State = Literal["ok", "warning", "failed", "off"]


class Named(BaseModel):
    id: str
    name: str


class CuratedType(BaseModel):
    document_type: str
    path: str
    title: str


class FeatureOut(BaseModel):
    """A switch. One that is off is neutral; ``reason`` says why and, where it can be, how it is switched on."""

    on: bool
    reason: str = ""


class SemanticOut(FeatureOut):
    """``on`` while questions are answered by meaning; text search works in every state."""

    state: SemanticState


class Features(BaseModel):
    curation: FeatureOut
    memory_git: FeatureOut
    semantic_search: SemanticOut
    text_search: FeatureOut


class ToolsetOut(BaseModel):
    """``tokens`` is what its tools/list costs in every conversation, estimated from above."""

    name: str
    tools: int
    tokens: int


class ModelConnection(BaseModel):
    state: ConnectionState


class CapabilitiesOut(BaseModel):
    """Everything this server can do now. ``begin_with`` works whatever is switched on."""

    server: str
    version: str
    curation_enabled: bool
    memory_git_enabled: bool
    features: Features
    model_connection: ModelConnection
    begin_with: list[str]
    advice: str
    workspace_types: list[Named]
    memory_spaces: list[Named]
    curated_document_types: list[CuratedType]
    source_adapters: list[str]
    languages: list[str]
    toolset: str
    toolsets: list[ToolsetOut]
    limits: dict[str, int]
    operations: dict[str, list[str]]


class EndingLine(BaseModel):
    """Where one kind of thing goes. ``text`` says it as a sentence."""

    what: Literal[
        "memories", "archived", "checkpoints", "curated", "trash", "attributed", "tokens", "people", "names", "history"
    ]
    count: int
    goes: Literal["deleted", "moved", "stays", "revoked", "rebound", "freed", "leads_on"]
    text: str


class Renamed(BaseModel):
    """A document that gets another slug where it goes; the old one keeps leading to it."""

    memory_id: str
    title: str
    slug: str


class EndingPreview(BaseModel):
    """What a deletion or a merging would do. ``obstacles`` are why it would be refused now; ``documents`` is how many change."""

    subject: Named
    into: Named | None
    documents: int
    at_once: bool = Field(
        description="Whether the call itself does it; else a job does, and job_get tells how far it is."
    )
    lines: list[EndingLine]
    renamed: list[Renamed] = Field(description="The first 50.")
    obstacles: list[str]


class BellsReleased(BaseModel):
    released: int


class HealthPart(BaseModel):
    part: str
    name: str
    state: State
    detail: str


class HealthOut(BaseModel):
    """``state`` is the worst of the parts; a part that is off counts as well."""

    state: Literal["ok", "degraded", "failed"]
    version: str
    parts: list[HealthPart]


class Counts(BaseModel):
    """``tokens`` is null for callers who may not know of them."""

    memories: int
    checkpoints: int
    curated: int
    archived: int
    deleted: int
    workspaces: int
    memory_spaces: int
    tokens: int | None


class Storage(BaseModel):
    database_bytes: int
    free_bytes: int


class Queue(BaseModel):
    """Work that waits: bells of the worker, files to be made durable, files that could not be written."""

    bells: int
    files_waiting: int
    files_blocked: int


class LatestCheckpoint(BaseModel):
    checkpoint_id: str
    title: str
    important: bool
    completed: str
    scope: str
    project_id: str | None
    created_at: datetime


class WorkspaceLine(BaseModel):
    project_id: str
    name: str
    workspace_type: str
    memories: int
    last_activity: Moment | None


class JobLine(BaseModel):
    job_id: str
    kind: str
    state: str
    scope: str
    done: int
    total: int
    error: str
    updated_at: Moment


class Attention(BaseModel):
    """What a person should look at. ``subject`` is the scope or file it is about."""

    what: Literal["alarm", "notice", "blocked_file", "failed_job"]
    scope: str
    subject: str
    text: str


class DashboardOut(BaseModel):
    """How the server is doing, as far as the caller may see it."""

    version: str
    health: HealthOut
    counts: Counts
    queue: Queue | None
    storage: Storage | None
    attention: list[Attention]
    workspaces: list[WorkspaceLine]
    latest_memories: list[MemoryItem]
    latest_checkpoints: list[LatestCheckpoint]
    jobs: list[JobLine]
    outside_changes_pending: bool

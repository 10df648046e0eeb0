"""The words of the context room: what an agent reads first, its prompt, and how its client is set up."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

LEAST_TOKENS, MOST_TOKENS = 300, 50_000

TokenBudget = Annotated[
    int,
    Field(
        ge=LEAST_TOKENS, le=MOST_TOKENS, description="Most tokens of the whole answer; left out: the server's default."
    ),
]
PromptLanguage = Annotated[str, Field(max_length=20, description="en or zh-hans; left out: yours.")]
ConnectorQuery = Annotated[str, Field(max_length=2000, description="What to look for, in words or as a question.")]
FoundId = Annotated[str, Field(min_length=1, max_length=900, description="The id of a result of search.")]
ClientName = Annotated[
    Literal["claude-code", "cursor", "codex", "vscode", "http", "stdio"],
    Field(description="The client to set up; http is plain HTTP, stdio the bridge for clients that start programs."),
]


class WorkspaceContext(BaseModel):
    """Where the caller works. Without a workspace the ids are null and ``guidance`` tells how to find one."""

    project_id: str | None
    name: str | None
    workspace_type: str | None
    guidance: str


class ProfileContext(BaseModel):
    profile_id: str
    name: str


class CurationContext(BaseModel):
    """How far the curated documents reach. ``changes_since`` counts what came after them, to 1,000 at most."""

    state: Literal["off", "on"]
    covers_until: datetime | None = None
    changes_since: int | None = None


class CuratedItem(BaseModel):
    """A curated document. Where ``complete`` is false the text is its beginning; memory_get reads all of it.

    ``stale``: something it was made of is gone since, so that some of it may hold no more.
    """

    memory_id: str
    title: str
    scope: str
    revision: int
    updated_at: datetime
    complete: bool
    stale: bool
    text: str


class CheckpointContext(BaseModel):
    """Where work stopped. ``fields`` holds what the checkpoint says, empty fields left out."""

    checkpoint_id: str
    title: str
    revision: int
    created_at: datetime
    important: bool
    complete: bool
    fields: dict[str, str]


class ContextMemory(BaseModel):
    """A memory. Where ``complete`` is false the text is its summary or beginning; memory_get reads all of it."""

    memory_id: str
    title: str
    kind: str
    scope: str
    revision: int
    updated_at: datetime
    complete: bool
    text: str


class ContextChange(BaseModel):
    """A document that changed and is not in this answer otherwise: put away, deleted, or left out."""

    at: datetime
    change: str
    memory_id: str
    title: str
    revision: int


class LeftOut(BaseModel):
    """How many there are beyond this answer (each counted to 1,000 at most in a scope), and how to get at them."""

    curated: int = 0
    memories: int = 0
    changes: int = Field(default=0, description="Of the newest; the memories among them count under memories too.")
    shortened: int = 0
    how: str = ""


class ContextOut(BaseModel):
    """What to read first, within a token budget: the most settled and the nearest first, nothing twice.

    ``index`` names further memories, one line each.
    """

    workspace: WorkspaceContext
    profile: ProfileContext
    curation: CurationContext
    curated: list[CuratedItem]
    checkpoint: CheckpointContext | None
    memories: list[ContextMemory]
    changes: list[ContextChange]
    index: str
    left_out: LeftOut
    outside_changes_pending: bool
    tokens: int


class AgentPromptOut(BaseModel):
    """The prompt, ready to put into an agent's instructions."""

    language: str
    text: str
    tokens: int


class Snippet(BaseModel):
    """A text to paste; ``place`` is the file it belongs into, or the terminal."""

    place: str
    text: str


class ClientConfigOut(BaseModel):
    """How one client is connected. The token stands as a placeholder."""

    client: str
    name: str
    explanation: str
    snippets: list[Snippet]
    mcp_url: str
    api_url: str
    token_placeholder: str


class ConnectorHit(BaseModel):
    id: str
    title: str
    url: str


class ConnectorHits(BaseModel):
    """What was found, best first, in the shape that ChatGPT asks for."""

    results: list[ConnectorHit]


class ConnectorText(BaseModel):
    """One document in the shape that ChatGPT asks for; ``metadata`` holds texts only."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]

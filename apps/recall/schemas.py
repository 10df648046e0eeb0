"""The words of recall: what a client sends with each message, and what it lays beside it."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

MOST_IDS = 1_000

Message = Annotated[str, Field(description="The user's message, as typed.", max_length=1_000_000)]
SessionId = Annotated[str, Field(description="Your id of the conversation.", min_length=1, max_length=200)]
MessageId = Annotated[str, Field(description="Your id of the message, to release it by.", max_length=200)]
MessageIds = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=200)]],
    Field(description="Messages that left the transcript; empty for all of the session.", max_length=MOST_IDS),
]
ExcludedIds = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=40)]],
    Field(description="Memories you hold already.", max_length=MOST_IDS),
]
IsSubagent = Annotated[bool, Field(description="A subagent asks: it gets nothing.")]
Silence = Literal["", "OFF", "SUBAGENT", "OUT_OF_TIME", "STORE_BUSY", "FAILED"]


class RecalledMemory(BaseModel):
    """``complete``: the block holds the whole text. ``alike``: so many others say the same and are left out."""

    memory_id: str
    title: str
    kind: str
    scope: str
    revision: int
    updated_at: datetime
    score: float
    complete: bool
    alike: int
    contradicts: list[str] = Field(
        description="Recalled memories that say otherwise; the newer one is likelier to hold."
    )


class LinkedSummary(BaseModel):
    memory_id: str
    title: str
    summary: str


class RecallOut(BaseModel):
    """``block`` goes beside the message as it is; it is empty where nothing fits, which is the usual case.

    ``silence`` says why nothing could be looked for; empty where it was.
    """

    block: str
    count: int
    memories: list[RecalledMemory]
    linked: list[LinkedSummary]
    silence: Silence


class ReleasedOut(BaseModel):
    session_id: str
    released: int = Field(description="So many memories may be recalled in this session again.")

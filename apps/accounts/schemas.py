"""Words of tokens and what is answered about them."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from apps.operations.caller import Right
from apps.operations.words import Moment

Toolset = Literal["agent", "full", "connector"]

TokenId = Annotated[str, Field(min_length=1, max_length=40, description="The token's id, as token_list names it.")]
TokenIds = Annotated[
    list[TokenId], Field(min_length=0, max_length=200, description="Ids of tokens to bind to the memory space.")
]
TokenName = Annotated[str, Field(min_length=1, max_length=120, description="What you will recognise the token by.")]
TokenProfile = Annotated[
    str, Field(min_length=1, max_length=64, description="The memory space it works in. Default: shared.")
]
TokenProject = Annotated[
    str,
    Field(min_length=1, max_length=40, description="Id of the one workspace it may reach. Left out: every workspace."),
]
TokenToolset = Annotated[
    Toolset,
    Field(
        description="Which tools it lists: agent, the few of daily work; full, every tool; connector, ChatGPT's two."
    ),
]
TokenRights = Annotated[
    list[Right], Field(min_length=1, max_length=3, description="What it may do. Default: read and write.")
]
ExpiresDays = Annotated[int, Field(ge=1, le=3650, description="Days until it expires. Left out: never.")]
WithRevoked = Annotated[bool, Field(description="Whether to list revoked tokens too.")]
Replace = Annotated[
    bool, Field(description="Whether tokens bound to this memory space so far and not named now go back to shared.")
]


class TokenState(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class TokenOut(BaseModel):
    token_id: str
    name: str
    hint: str = Field(description="The token's first characters.")
    state: TokenState
    profile_id: str
    project_id: str | None
    toolset: str
    rights: list[Right]
    made_by: str
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    last_used_at: Moment | None = Field(description="To the minute.")


class TokenMade(TokenOut):
    token: str = Field(description="The token itself. It is shown this once.")


class TokenList(BaseModel):
    tokens: list[TokenOut]


class SessionOut(BaseModel):
    """Who is signed in, and in whose memory space they work."""

    name: str
    rights: list[Right]
    profile_id: str
    profiles: list[str] = Field(description="The memory spaces this session may choose.")
    zone: str
    language: str
    must_change_password: bool


class SignIn(BaseModel):
    name: str = Field(min_length=1, max_length=150, description="The name to sign in with.")
    password: str = Field(min_length=1, max_length=1000, description="The password.")


class PasswordChange(BaseModel):
    old: str = Field(max_length=1000, description="The password you have.")
    new: str = Field(max_length=1000, description="The password you want.")


class ProfileChoice(BaseModel):
    profile_id: str = Field(min_length=1, max_length=64, description="The memory space to work in from now on.")

"""Words of memory spaces and what is answered about them."""

from typing import Annotated

from pydantic import BaseModel, Field

from apps.operations.words import Moment

# A profile's id names a folder and ends a scope key: ASCII, no capitals that a file system could confuse.
ProfileId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$",
        description="The memory space's id: lower-case letters, digits, hyphens.",
    ),
]
ProfileName = Annotated[
    str, Field(min_length=1, max_length=120, description="The memory space's name, as people read it.")
]
ProfileDescription = Annotated[str, Field(max_length=1000, description="Whose habits these are.")]
ProfileEnabled = Annotated[
    bool,
    Field(description="Whether sessions may choose it and new tokens may be bound to it. shared is always enabled."),
]
BoundToken = Annotated[
    str, Field(min_length=1, max_length=40, description="Id of a token to bind to this memory space as well.")
]
WithDisabled = Annotated[bool, Field(description="Whether to list disabled memory spaces too.")]


class ProfileToken(BaseModel):
    token_id: str
    name: str


class ProfileOut(BaseModel):
    profile_id: str
    name: str
    description: str
    enabled: bool
    tokens: list[ProfileToken]
    changes: int = Field(description="How often its own memories changed.")
    last_changed_at: Moment | None
    created_at: Moment
    updated_at: Moment


class ProfileList(BaseModel):
    profiles: list[ProfileOut]

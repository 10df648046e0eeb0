"""The words of the mirror: what callers send about a Git server, and how it is answered."""

from typing import Annotated

from pydantic import BaseModel, Field

from apps.memory_git.remotes.probing import State
from apps.operations.words import Moment

ConnectionName = Annotated[str, Field(min_length=1, max_length=120, description="What you call it. Default: its host.")]
RemoteUrl = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="Address of the repository, as git clone takes it; with {repo} where there is one per workspace.",
    ),
]
UserName = Annotated[str, Field(max_length=200, description="User name at the server; over SSH often git.")]
Secret = Annotated[
    str,
    Field(
        max_length=4000,
        description="Token or password; null or empty: none. Left out: the stored one stays. Never shown again.",
    ),
]
PrivateKey = Annotated[
    str,
    Field(
        max_length=20_000,
        description="Private SSH key (Ed25519, ECDSA or RSA), whole; null or empty: none. Never shown again.",
    ),
]
Passphrase = Annotated[str, Field(max_length=1000, description="Passphrase of the SSH key. Never shown again.")]
ProxyUrl = Annotated[
    str,
    Field(max_length=500, description="HTTP proxy for https, such as http://user:password@proxy:3128. Never shown."),
]
HostKeys = Annotated[
    list[Annotated[str, Field(max_length=120)]],
    Field(
        max_length=10, description="Fingerprints of the SSH server's keys to trust, as git_connection_get shows them."
    ),
]
Authorities = Annotated[
    str, Field(max_length=100_000, description="Certificates (PEM) to trust besides the system's; empty: none.")
]
RemoteBranch = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$", description="Default branch at the server.")
]
AllowWriteTest = Annotated[
    bool, Field(description="Whether a test may push one temporary branch of its own and delete it again.")
]
AllowCreation = Annotated[bool, Field(description="Whether a first push may create the repository at the server.")]
ConnectionEnabled = Annotated[bool, Field(description="Whether it is used. Off: nothing is pushed or asked.")]
TestNow = Annotated[bool, Field(description="Whether to test it right away, as git_connection_test does.")]
ExpectedRevision = Annotated[
    int, Field(ge=0, le=2**53, description="The revision you read; refused if it is another now. Default: any.")
]
BindUrl = Annotated[
    str, Field(max_length=500, description="Another address at the same server; empty: the connection's own.")
]


class CapabilityOut(BaseModel):
    state: State
    code: str = Field("", description="The stable code of what went wrong.")
    message: str = ""
    hint: str = ""
    detail: str = ""
    milliseconds: int | None = None
    at: str = ""


class RemoteProblem(BaseModel):
    code: str
    message: str
    hint: str


class HostKeyOut(BaseModel):
    fingerprint: str = Field(description="Kind and fingerprint, as ssh-keygen shows it.")
    trusted: bool


class GitConnectionOut(BaseModel):
    """The connection without its secrets. ``configured`` is false where there is none; that is no fault."""

    configured: bool
    connection_id: str
    revision: int
    name: str
    url: str
    mode: str
    transport: str
    user_name: str
    credential_storage: str
    has_secret: bool
    has_private_key: bool
    has_passphrase: bool
    has_proxy: bool
    host_keys: list[str]
    authorities: str
    branch: str
    allow_write_test: bool
    allow_push_to_create: bool
    enabled: bool
    capabilities: dict[str, CapabilityOut]
    shown_host_keys: list[HostKeyOut] = Field(description="What the SSH server showed at the last test.")
    tested_url: str
    error: RemoteProblem | None
    tested_at: Moment | None
    succeeded_at: Moment | None
    repositories: int = Field(description="How many local repositories are mirrored through it.")


class SyncOut(BaseModel):
    """How a repository stands towards its remote after the try."""

    repository_id: str
    status: str
    remote_url: str
    commit: str
    pushed_commit: str
    behind: int
    waiting: int = Field(description="Operations that wait to be committed.")
    push_to_create: str
    error: RemoteProblem | None
    pushed_at: Moment | None
    next_try_at: Moment | None

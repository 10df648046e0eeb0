"""The words of Memory Git: what callers send, and how repositories, commits and versions are answered."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from apps.base.text import clean_line
from apps.operations.words import Moment

RepositoryId = Annotated[str, Field(description="Id of a memory repository.", min_length=1, max_length=40)]
RepositoryOrAll = Annotated[str, Field(description="Id of a memory repository; left out: all of them.", max_length=40)]
CommitRef = Annotated[str, Field(description="A commit: at least 7 characters of its id.", pattern="^[0-9a-f]{7,40}$")]
CommitOrNewest = Annotated[
    str, Field(description="A commit; left out or current: the newest one.", pattern="^([0-9a-f]{7,40}|current|)$")
]
ResourceId = Annotated[
    str,
    Field(description="Id, path or slug of a memory, checkpoint or curated document.", min_length=1, max_length=900),
]
ResourceOrAll = Annotated[
    str, Field(description="Id, path or slug of a document; left out: all of them.", max_length=900)
]
OperatorFilter = Annotated[str, Field(description="Only commits by this name.", max_length=120)]
OriginFilter = Annotated[
    Literal["", "user", "agent", "external", "curation", "git", "system"],
    Field(description="Only commits of this kind of caller."),
]
KindFilter = Annotated[str, Field(description="Only this operation, such as memory_save.", max_length=80)]
Since = Annotated[str, Field(description="Only commits from this date or time on.", max_length=40)]
Until = Annotated[str, Field(description="Only commits up to this date or time.", max_length=40)]
GitSwitch = Annotated[bool, Field(description="Whether Memory Git is on.")]
StrategyName = Annotated[
    Literal["single", "per_workspace"],
    Field(description="One repository for everything, or one for each workspace, memory space and the library."),
]
BranchName = Annotated[
    str, Field(description="The branch of new repositories.", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$")
]
AuthorName = Annotated[
    str, AfterValidator(clean_line), Field(description="Who commits are by.", min_length=1, max_length=120)
]
AuthorEmail = Annotated[
    str, Field(description="Their mail address.", pattern=r"^[^\s<>@]{1,90}@[^\s<>@]{1,100}$", max_length=200)
]
DeedRef = Annotated[str, Field(description="Id of a Git job.", max_length=40)]
PlanDigest = Annotated[str, Field(description="The plan's digest, as it was shown.", min_length=1, max_length=64)]
NewRepositoryScope = Annotated[
    str, Field(description="global, shared, library, or a key such as project/<id>.", max_length=80)
]


class GitSettingsOut(BaseModel):
    """What is chosen. ``preparing`` is true until the commit of the switching on is made."""

    enabled: bool
    strategy: str
    branch: str
    author_name: str
    author_email: str
    preparing: bool
    problem: str
    enabled_at: Moment | None
    updated_at: Moment | None
    updated_by: str


class RepositoryOut(BaseModel):
    """One repository. Without a remote, the fields about it are empty; that is no fault."""

    repository_id: str
    name: str
    mode: str
    scope: str
    root: str
    branch: str
    status: str
    error_code: str
    error: str
    commit: str
    commits: int
    waiting: int
    worktree: Literal["clean", "uncommitted", "outside_changes", "none"] = Field(
        description="How the folder stands to the newest commit: outside_changes are edits that were not taken in yet."
    )
    remote_url: str
    push_to_create: str
    pushed_commit: str
    pushed_at: Moment | None
    behind: int
    remote_reachable: bool | None
    created_at: Moment
    archived_at: Moment | None


class RepositoryListOut(BaseModel):
    enabled: bool
    strategy: str
    repositories: list[RepositoryOut]


class RepositoryStatusOut(BaseModel):
    """How Memory Git is. ``state`` is disabled where it was never switched on: neutral, not a fault."""

    state: str
    enabled: bool
    strategy: str
    preparing: bool
    waiting: int
    oldest_waiting_at: Moment | None
    repositories: list[RepositoryOut]
    jobs: list["GitDeedOut"]


class GitDeedOut(BaseModel):
    """A job on whole repositories: how far it is, and what came of it."""

    job_id: str
    kind: str
    state: str
    repository_id: str
    done: int
    total: int
    result: dict[str, object]
    error_code: str
    error: str
    created_at: Moment
    finished_at: Moment | None


class CommitItem(BaseModel):
    commit: str
    repository_id: str
    operation_id: str
    kind: str
    subject: str
    operator: str
    origin: str
    job_id: str
    scopes: list[str]
    changes: int
    change: str  # Of the document asked for.
    path: str
    revision: int
    at: Moment


class CommitListOut(BaseModel):
    commits: list[CommitItem]
    next_cursor: str


class FileDifference(BaseModel):
    """One document. ``difference`` is empty where the answer would become too long; ask for the document alone then."""

    path: str
    resource_id: str
    change: str
    added: int
    removed: int
    difference: str
    truncated: bool


class CommitOut(CommitItem):
    parent: str
    message: str
    files: list[FileDifference]
    more_files: int


class RepositoryDiffOut(BaseModel):
    repository_id: str
    from_commit: str
    to_commit: str
    files: list[FileDifference]
    more_files: int


class VersionOut(BaseModel):
    """A document as it was at a commit."""

    resource_id: str
    commit: str
    repository_id: str
    resource: str
    scope: str
    path: str
    revision: int
    title: str
    kind: str
    note_type: str
    summary: str
    tags: list[str]
    body: str
    document: str
    at: Moment


RepositoryStatusOut.model_rebuild()


class SnapshotChange(BaseModel):
    change: Literal["changed", "created", "archived", "unarchived", "deleted"]
    resource_id: str
    title: str
    scope: str
    path: str = Field(description="Where it would lie; of a deleted one, where it lies now.")


class SnapshotPreview(BaseModel):
    """What restoring a snapshot would do now. ``obstacles`` are why it would be refused."""

    repository_id: str
    commit: str
    subject: str
    at: Moment
    changed: int = Field(description="Documents that get another text or place.")
    created: int = Field(description="Documents that lie there again.")
    archived: int
    unarchived: int
    deleted: int = Field(description="Documents that were not there then. Their history stays.")
    exact: bool = Field(description="False where very many differ: then files are counted, a moved one twice.")
    documents: list[SnapshotChange] = Field(description="The first 100, those that would be deleted first.")
    skipped_scopes: list[str] = Field(description="Of deleted workspaces and spaces: they do not come back by it.")
    waiting: int = Field(description="Operations that are not committed yet; what they changed is not counted.")
    obstacles: list[str]


class PlannedRepository(BaseModel):
    root: str
    name: str
    scopes: list[str]
    commits: int
    to_archive: bool


class MigrationPlanOut(BaseModel):
    """What a change of strategy would do. With obstacles it would be refused."""

    strategy: str
    wanted: str
    digest: str
    replaces: list[str]
    makes: list[PlannedRepository]
    obstacles: list[str]
    notes: list[str]

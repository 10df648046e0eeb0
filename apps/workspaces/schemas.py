"""Words of workspaces and what is answered about them."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from apps.base.text import DEVICE_NAMES, fold
from apps.operations.words import Moment

TEMPLATE_DOCUMENTS = 40

# A token can be bound to a workspace and a workspace named by its slug, hence one word for both.
ProjectId = Annotated[
    str, Field(min_length=1, max_length=80, description="The workspace's id or slug, as project_list names it.")
]
ProjectName = Annotated[
    str, Field(min_length=1, max_length=200, description="The workspace's name, as people read it.")
]
ProjectSlug = Annotated[
    str,
    Field(
        min_length=1, max_length=80, description="A readable name for addresses; it never changes. Default: from name."
    ),
]
ProjectDescription = Annotated[str, Field(max_length=2000, description="What is worked on here.")]
ExternalKey = Annotated[
    str,
    Field(
        max_length=200, description="Your own system's key of it, such as a ticket project or a folder path; unique."
    ),
]
GitRemote = Annotated[
    str,
    Field(max_length=1000, description="Address of its Git repository in any spelling; credentials in it are dropped."),
]
GitBranch = Annotated[str, Field(max_length=250, description="Its usual Git branch.")]
TypeOfWorkspace = Literal["development", "office", "study", "research", "personal", "general"]
TypeWanted = Annotated[
    TypeOfWorkspace,
    Field(
        description="What is worked on; it chooses default documents and prompts and restricts nothing."
        " Left out: development with a Git remote, else general."
    ),
]
TypeListed = Annotated[TypeOfWorkspace, Field(description="Only workspaces of this type.")]
Archived = Annotated[
    bool, Field(description="Whether it is put away: lists leave it out, reads go on, writes are refused.")
]
ArchivedListed = Annotated[
    Literal["no", "yes", "any"], Field(description="Whether to list workspaces in use, those put away, or both.")
]
TextListed = Annotated[
    str, Field(max_length=200, description="Only workspaces with this text in name, slug, description, key or remote.")
]
Revision = Annotated[
    int, Field(ge=1, le=2**31 - 1, description="The revision you read; the change is refused if there is a newer one.")
]


class TemplateDocument(BaseModel):
    """One document that curation keeps for a workspace (D-16)."""

    model_config = ConfigDict(extra="forbid")

    document_type: str = Field(
        min_length=1, max_length=60, pattern=r"^[a-z][a-z0-9_]*$", description="Its type, such as overview; unique."
    )
    title: str = Field(min_length=1, max_length=200, description="Its title.")
    path: str = Field(min_length=4, max_length=200, description="Its path below curated/, such as overview.md; unique.")
    purpose: str = Field(max_length=1000, description="What it is for.")
    guidance: str = Field(default="", max_length=4000, description="How it should be written.")

    @field_validator("path")
    @classmethod
    def a_markdown_file_below_curated(cls, path: str) -> str:
        parts = PurePosixPath(path).parts
        sound = (
            path.endswith(".md")
            and "/".join(parts) == path
            and not path.startswith("/")
            and not re.search(r'[\\<>:"|?*\x00-\x1f\x7f]', path)
            and all(_is_sound_name(part) for part in parts)
        )
        if not sound:
            raise ValueError(_("This must be a relative path of a Markdown file, such as guides/overview.md."))
        return path


def _is_sound_name(part: str) -> bool:
    stem = part.split(".")[0]
    return not part.startswith(".") and part == part.strip(" ") and stem != "" and fold(stem) not in DEVICE_NAMES


def _each_once(documents: list[TemplateDocument]) -> list[TemplateDocument]:
    for what in ("document_type", "path"):
        named = [fold(getattr(document, what)) for document in documents]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ValueError(
                _("{what} must be unique, but {twice} stands there twice.").format(what=what, twice=twice[0])
            )
    return documents


Template = Annotated[
    list[TemplateDocument],
    Field(
        min_length=1,
        max_length=TEMPLATE_DOCUMENTS,
        description="Documents that curation keeps here instead of the type's own. null: the type's own.",
    ),
    AfterValidator(_each_once),
]


class ProjectOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    project_id: str
    slug: str
    name: str
    description: str
    external_key: str | None
    git_remote: str | None
    git_branch: str | None
    workspace_type: TypeOfWorkspace
    template: list[TemplateDocument] | None
    archived: bool
    revision: int
    created_at: Moment
    updated_at: Moment


class ProjectResolved(ProjectOut):
    created: bool = Field(description="Whether this call made the workspace.")


class ProjectPage(BaseModel):
    projects: list[ProjectOut]
    next_cursor: str | None

from typing import Any
from urllib.parse import unquote

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.errors import Invalid
from apps.base.ids import new_id
from apps.base.text import clean_line, nfc, slug_for, with_suffix
from apps.base.transactions import short_transaction
from apps.changes.models import Change
from apps.changes.services import record
from apps.operations.caller import Caller, Right
from apps.operations.operation import UNCHANGED, Effect, operation
from apps.workspaces.errors import BoundElsewhere, ProjectChanged, ProjectTaken
from apps.workspaces.models import Project, WorkspaceType
from apps.workspaces.remotes import display_remote, normalise_remote
from apps.workspaces.schemas import (
    Archived,
    ExternalKey,
    GitBranch,
    GitRemote,
    ProjectDescription,
    ProjectId,
    ProjectName,
    ProjectOut,
    ProjectResolved,
    ProjectSlug,
    Revision,
    Template,
    TypeWanted,
)
from apps.workspaces.selectors import (
    ID_PREFIX,
    by_identity,
    check_reach,
    described,
    facts_of,
    living,
    project_for,
    remote_key_of,
)


@operation(needs=Right.WRITE, answers=ProjectOut, effect=Effect.ADDS)
def project_create(
    caller: Caller,
    *,
    name: ProjectName,
    slug: ProjectSlug | None = None,
    description: ProjectDescription = "",
    external_key: ExternalKey | None = None,
    git_remote: GitRemote | None = None,
    git_branch: GitBranch | None = None,
    workspace_type: TypeWanted | None = None,
    template: Template | None = None,
) -> ProjectOut:
    """Make a workspace. A slug, external key or Git remote that another one has is refused."""
    if caller.project_id is not None:
        raise BoundElsewhere()
    fields = _fields(
        name=name,
        description=description,
        external_key=external_key,
        git_remote=git_remote,
        git_branch=git_branch,
        workspace_type=workspace_type,
        template=template,
    )
    with short_transaction():
        if slug and Project.objects.filter(slug=slug_for(slug)).exists():
            raise ProjectTaken(field="slug")
        _check_free(fields)
        return described(_made(caller, slug or fields["name"], fields))


@operation(needs=Right.WRITE, answers=ProjectResolved, effect=Effect.ADDS, repeatable=True)
def project_resolve_or_create(
    caller: Caller,
    *,
    name: ProjectName | None = None,
    slug: ProjectSlug | None = None,
    external_key: ExternalKey | None = None,
    git_remote: GitRemote | None = None,
    git_branch: GitBranch | None = None,
    description: ProjectDescription = "",
    workspace_type: TypeWanted | None = None,
    template: Template | None = None,
) -> ProjectResolved:
    """Find the workspace you are in, or make it: call this first in every session, with the Git remote if there is one.

    The first known one of slug, external key and Git remote decides; without any of them the name does. What is found
    stays as it is: only a new workspace takes the other arguments. Called twice or by two agents at once, it is one
    workspace.
    """
    identity = {"slug": slug, "external_key": external_key, "git_remote": git_remote}
    if not any(identity.values()):
        if not name:
            raise Invalid(fields={"name": _("Name the workspace by name, slug, external key or Git remote.")})
        identity["slug"] = name
    if found := _found(caller, identity):
        return _resolved(found, created=False)
    fields = _fields(
        name=name or slug or _name_in(git_remote) or external_key,
        description=description,
        external_key=external_key,
        git_remote=git_remote,
        git_branch=git_branch,
        workspace_type=workspace_type,
        template=template,
    )
    with short_transaction():
        # Another agent may have made it since: this transaction holds the only writer, so now it is certain.
        if found := _found(caller, identity):
            return _resolved(found, created=False)
        return _resolved(_made(caller, slug or fields["name"], fields), created=True)


@operation(needs=Right.WRITE, answers=ProjectOut, effect=Effect.CHANGES)
def project_update(
    caller: Caller,
    *,
    project_id: ProjectId,
    revision: Revision | None = None,
    name: ProjectName = UNCHANGED,
    description: ProjectDescription = UNCHANGED,
    external_key: ExternalKey | None = UNCHANGED,
    git_remote: GitRemote | None = UNCHANGED,
    git_branch: GitBranch | None = UNCHANGED,
    workspace_type: TypeWanted = UNCHANGED,
    template: Template | None = UNCHANGED,
    archived: Archived = UNCHANGED,
) -> ProjectOut:
    """Change a workspace: what you leave out stays as it is, null takes away. Id, slug and folder never change.

    With the revision you read, a change made meanwhile by somebody else is not written over.
    """
    given = {
        "name": name,
        "description": description,
        "external_key": external_key,
        "git_remote": git_remote,
        "git_branch": git_branch,
        "workspace_type": workspace_type,
        "template": template,
    }
    fields = _fields(**{field: value for field, value in given.items() if value is not UNCHANGED})
    with short_transaction():
        project = project_for(caller, project_id)
        if revision is not None and revision != project.revision:
            raise ProjectChanged(given=revision, current=project.revision)
        if archived is not UNCHANGED and archived != (project.archived_at is not None):
            fields["archived_at"] = clock.now() if archived else None
        _check_free(fields, but=project)
        return described(_changed(caller, project, fields))


@operation(needs=Right.WRITE, answers=ProjectOut, effect=Effect.CHANGES, repeatable=True)
def project_archive(caller: Caller, *, project_id: ProjectId) -> ProjectOut:
    """Put a workspace away: lists leave it out, reads go on, writes are refused until project_unarchive."""
    return _put(caller, project_id, away=True)


@operation(needs=Right.WRITE, answers=ProjectOut, effect=Effect.CHANGES, repeatable=True)
def project_unarchive(caller: Caller, *, project_id: ProjectId) -> ProjectOut:
    """Take a workspace out of the archive: it takes changes again."""
    return _put(caller, project_id, away=False)


def _put(caller: Caller, project_id: str, *, away: bool) -> ProjectOut:
    with short_transaction():
        project = project_for(caller, project_id)
        if away is (project.archived_at is not None):
            return described(project)
        return described(_changed(caller, project, {"archived_at": clock.now() if away else None}))


def end(caller: Caller, project: Project, *, merged_into: Project | None = None) -> None:
    """Take a workspace away for everybody, inside the caller's transaction; its row stays, since history speaks of it.

    Its names are free again, unless it went into another one: then they lead there.
    """
    now = clock.now()
    fields: dict[str, Any] = {"deleted_at": now, "archived_at": project.archived_at or now, "merged_into": merged_into}
    if merged_into is None:
        fields |= {"slug": project.pk, "external_key": None, "git_remote_key": None}  # No slug looks like an id.
    _changed(caller, project, fields, "workspace.merged" if merged_into else "workspace.deleted")


def _fields(**given: Any) -> dict[str, Any]:
    """Columns from arguments: one line each, no credentials, the default type where none is named (WS-011)."""
    fields = dict(given)
    if "name" in fields:
        fields["name"] = clean_line(fields["name"] or "")
        if not fields["name"]:
            raise Invalid(fields={"name": _("This is required.")})
    if "description" in fields:
        fields["description"] = nfc(fields["description"])
    if "external_key" in fields:
        fields["external_key"] = clean_line(fields["external_key"] or "") or None
    if "git_branch" in fields:
        fields["git_branch"] = clean_line(fields["git_branch"] or "")
    if "git_remote" in fields:
        remote = fields["git_remote"]
        fields["git_remote_key"] = remote_key_of(remote) if remote else None
        fields["git_remote"] = display_remote(remote) if remote else ""
    if "workspace_type" in fields and fields["workspace_type"] is None:
        has_remote = bool(fields.get("git_remote"))
        fields["workspace_type"] = WorkspaceType.DEVELOPMENT if has_remote else WorkspaceType.GENERAL
    if fields.get("template") is not None:
        fields["template"] = [document.model_dump() for document in fields["template"]]
    return fields


def _found(caller: Caller, identity: dict[str, str | None]) -> Project | None:
    project = by_identity(**identity)
    check_reach(caller, project)
    return project


def _check_free(fields: dict[str, Any], *, but: Project | None = None) -> None:
    for column, field in (("external_key", "external_key"), ("git_remote_key", "git_remote")):
        value = fields.get(column)
        if value is None:
            continue
        holder = Project.objects.filter(**{column: value}).exclude(pk=but.pk if but else "").first()
        if holder is None:
            continue
        if but is None or living(holder) != but:
            raise ProjectTaken(field=field)
        Project.objects.filter(pk=holder.pk).update(**{column: None})  # It was merged into this one, and gives it up.


def _made(caller: Caller, wanted_slug: str, fields: dict[str, Any]) -> Project:
    now = clock.now()
    project = Project.objects.create(
        id=new_id(ID_PREFIX), slug=_free_slug(wanted_slug), created_at=now, updated_at=now, **fields
    )
    _record(caller, project, "workspace.created")
    return project


def _changed(caller: Caller, project: Project, fields: dict[str, Any], kind: str = "workspace.updated") -> Project:
    changes = {field: value for field, value in fields.items() if getattr(project, field) != value}
    if not changes:
        return project
    for field, value in changes.items():
        setattr(project, field, value)
    project.revision += 1
    project.updated_at = clock.now()
    project.save(update_fields=[*changes, "revision", "updated_at"])
    _record(caller, project, kind)
    return project


def _free_slug(wanted: str) -> str:
    """The slug for a name; with a number behind it where another workspace has it."""
    slug = slug_for(wanted)
    number = 1
    while Project.objects.filter(slug=with_suffix(slug, number)).exists():
        number += 1
    return with_suffix(slug, number)


def _record(caller: Caller, project: Project, kind: str) -> None:
    change = Change(
        kind=kind,
        scope_key=f"project/{project.pk}",
        resource="project",
        stable_id=project.pk,
        revision=project.revision,
        origin=caller.origin,
        actor=caller.name,
        profile=caller.profile,
        at=project.updated_at,
    )
    record([change])


def _name_in(git_remote: str | None) -> str | None:
    """The repository's own name: the last part of its address."""
    if not git_remote:
        return None
    return unquote(normalise_remote(git_remote).rpartition("/")[2])


def _resolved(project: Project, *, created: bool) -> ProjectResolved:
    return ProjectResolved.model_validate({**facts_of(project), "created": created})

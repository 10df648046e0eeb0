"""Deeds that end a workspace or a memory space: what would go where, then the deed itself, as a job.

A few documents are done in the call itself; more are left to the worker, and the answer is the job to look at.
"""

from collections.abc import Mapping
from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field

from apps.base.errors import Denied, Invalid, MemRelayError
from apps.instance.endings import AT_ONCE, Ending, obstacles
from apps.instance.schemas import EndingPreview
from apps.instance.workspaces_jobs import sources_of
from apps.memories.jobs import run_here
from apps.memories.models import FolderJob
from apps.memories.schemas import JobOut, RequestId
from apps.memories.scopes import global_scope, project_scope
from apps.memories.services.jobs import job_before, start_on_scope
from apps.memories.transfer.running import described
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.operation import Effect, operation
from apps.profiles.errors import ProfileInUse, ProfileNotFound, SharedStays
from apps.profiles.models import Profile
from apps.profiles.schemas import ProfileId
from apps.profiles.selectors import enabled_profile
from apps.workspaces.errors import WorkspaceArchived
from apps.workspaces.models import Project
from apps.workspaces.schemas import ProjectId
from apps.workspaces.selectors import project_for

Into = Annotated[
    str, Field(min_length=1, max_length=80, description="Id or slug of the workspace that everything moves into.")
]
MigrateTo = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$",
        description="The memory space that its sources, tokens and people go to.",
    ),
]


@operation(needs=Right.ADMINISTER, answers=EndingPreview)
def workspace_delete_preview(caller: Caller, *, project_id: ProjectId) -> EndingPreview:
    """Read what project_delete would do with a workspace: what goes where, and what is in the way."""
    return _deletion(project_for(caller, project_id)).preview(caller)


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.DESTROYS)
def project_delete(caller: Caller, *, project_id: ProjectId, request_id: RequestId = "") -> JobOut:
    """Delete a workspace: its documents go as memory_delete takes them, its tokens are revoked, its names are free again.

    History stays and can be read. A large workspace is a job: job_get tells how far it is, job_stop stops it.
    workspace_delete_preview tells before what goes where.
    """
    arguments = {"project_id": project_id}
    if again := job_before(caller, "project_delete", request_id, arguments):
        return described(again, caller.zone)
    project = project_for(caller, project_id)
    return _done(caller, _deletion(project), "project_delete", f"Delete {project.name}", arguments, request_id)


@operation(needs=Right.ADMINISTER, answers=EndingPreview)
def workspace_merge_preview(caller: Caller, *, project_id: ProjectId, into: Into) -> EndingPreview:
    """Read what project_merge would do: what goes where, which documents get another slug, and what is in the way."""
    return _merging(project_for(caller, project_id), _target(caller, project_id, into)).preview(caller)


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.DESTROYS)
def project_merge(caller: Caller, *, project_id: ProjectId, into: Into, request_id: RequestId = "") -> JobOut:
    """Move everything of one workspace into another and end the first: ids and history go along, old names lead on.

    Memories and checkpoints move; a slug that is taken gets a number, the old one keeps leading to it. Tokens are bound to the
    other workspace. Curated documents are not moved, the other workspace has its own. workspace_merge_preview tells before.
    """
    arguments = {"project_id": project_id, "into": into}
    if again := job_before(caller, "project_merge", request_id, arguments):
        return described(again, caller.zone)
    project, target = project_for(caller, project_id), _target(caller, project_id, into)
    if target.archived_at is not None:
        raise WorkspaceArchived(project_id=target.pk)
    reason = f"Merge {project.name} into {target.name}"
    return _done(caller, _merging(project, target), "project_merge", reason, arguments, request_id)


@operation(needs=Right.ADMINISTER, answers=EndingPreview)
def usage_profile_delete_preview(
    caller: Caller, *, profile_id: ProfileId, migrate_to: MigrateTo | None = None
) -> EndingPreview:
    """Read what usage_profile_delete would do with a memory space: what goes where, and what is in the way."""
    profile, target = _profiles(caller, profile_id, migrate_to)
    return _leaving(profile, target).preview(caller)


@operation(needs=Right.ADMINISTER, answers=JobOut, effect=Effect.DESTROYS)
def usage_profile_delete(
    caller: Caller, *, profile_id: ProfileId, migrate_to: MigrateTo | None = None, request_id: RequestId = ""
) -> JobOut:
    """Delete a memory space. One that has sources needs migrate_to: they, its tokens and its people go there.

    Without sources its tokens and people go to shared. shared itself stays.
    """
    arguments = {"profile_id": profile_id, "migrate_to": migrate_to}
    if again := job_before(caller, "usage_profile_delete", request_id, arguments):
        return described(again, caller.zone)
    profile, target = _profiles(caller, profile_id, migrate_to)
    if target is None and (sources := sources_of(profile.pk).count()):
        raise ProfileInUse(profile_id=profile.pk, sources=sources)
    reason = f"Delete the memory space {profile.name}"
    return _done(caller, _leaving(profile, target), "usage_profile_delete", reason, arguments, request_id)


def _deletion(project: Project) -> Ending:
    return Ending(project, project_scope(project.pk))


def _merging(project: Project, into: Project) -> Ending:
    return Ending(project, project_scope(project.pk), into, project_scope(into.pk))


def _leaving(profile: Profile, to: Profile | None) -> Ending:
    return Ending(profile, global_scope(profile.pk), to, global_scope(to.pk) if to else "")


def _target(caller: Caller, project_id: str, into: str) -> Project:
    target = project_for(caller, into)
    if target == project_for(caller, project_id):
        raise Invalid(fields={"into": _("This is the workspace itself; name another one.")})
    return target


def _profiles(caller: Caller, profile_id: str, migrate_to: str | None) -> tuple[Profile, Profile | None]:
    if caller.project_id is not None:
        raise Denied(_("A connection bound to one workspace does not administer memory spaces."), verb="administer")
    if profile_id == SHARED_PROFILE:
        raise SharedStays()
    profile = Profile.objects.filter(pk=profile_id).first()
    if profile is None:
        raise ProfileNotFound(profile_id=profile_id)
    if migrate_to == profile_id:
        raise Invalid(fields={"migrate_to": _("This is the memory space itself; name another one.")})
    return profile, enabled_profile(migrate_to) if migrate_to else None


def _done(
    caller: Caller, ending: Ending, name: str, reason: str, arguments: Mapping[str, str | None], request_id: str
) -> JobOut:
    """The job, done already where there is little to do."""
    _refuse(obstacles(ending))
    at_once = ending.documents <= AT_ONCE
    job = start_on_scope(
        caller,
        name,
        FolderJob.MERGE if ending.target_key else FolderJob.DELETE,
        ending.scope_key,
        target_key=ending.target_key,
        reason=reason,
        arguments=arguments,
        request_id=request_id,
        by_bell=not at_once,
    )
    if at_once and job.state == FolderJob.State.WAITING:
        run_here(job.pk)
        job = FolderJob.objects.select_related("operation").get(pk=job.pk)
    return described(job, caller.zone)


def _refuse(errors: list[MemRelayError]) -> None:
    for error in errors:
        raise error

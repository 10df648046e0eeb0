from collections.abc import Callable

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from apps.base.errors import Invalid
from apps.base.paging import cursor_of, position_of
from apps.base.text import clean_line, nfc, slug_for
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.operations.reach import WorkspaceMismatch
from apps.operations.words import Cursor, PageLimit
from apps.workspaces.errors import NothingMatches, ProjectNotFound
from apps.workspaces.models import Project
from apps.workspaces.remotes import same_remote_key
from apps.workspaces.schemas import (
    ArchivedListed,
    ExternalKey,
    GitRemote,
    ProjectId,
    ProjectOut,
    ProjectPage,
    ProjectSlug,
    TextListed,
    TypeListed,
)

ID_PREFIX = "prj"  # No slug holds an underscore, so that an id and a slug never look alike.
LIVING = f"SELECT id FROM {Project._meta.db_table} WHERE deleted_at IS NULL"  # noqa: S608 - a name of ours
FIND = {column: f"{LIVING} AND {column} = %s" for column in ("id", "slug")}


def project_for(caller: Caller, project_id: str) -> Project:
    """The only door to a workspace, by its id or slug.

    A bound connection reaches its own alone; any other one is refused alike, whether it exists or not.
    """
    if caller.project_id is not None:
        own = Project.objects.filter(pk=caller.project_id, deleted_at=None).first()
        if own is None or not (_is_called(own, project_id) or by_name(project_id) == own):
            raise WorkspaceMismatch()
        return own
    project = by_name(project_id)
    if project is None:
        raise ProjectNotFound(project=project_id)
    return project


def project_id_of_call(caller: Caller, named: str | None) -> str | None:
    """The id of the workspace a call is about: the connection's, else the one it names by id or slug (D-22).

    Every save asks this, and nothing but the id: a twentieth of what ``project_for`` costs.
    """
    if not named or named == caller.project_id:
        return caller.project_id
    if caller.project_id is not None:
        return project_for(caller, named).pk
    column, value = ("id", named) if named.startswith(f"{ID_PREFIX}_") else ("slug", slug_for(named))
    with connection.cursor() as cursor:
        row = cursor.execute(FIND[column], [value]).fetchone()
    return str(row[0]) if row else project_for(caller, named).pk


def projects_for(caller: Caller) -> QuerySet[Project]:
    """The workspaces a caller sees: all of them, or the one its connection is bound to (D-08b)."""
    living = Project.objects.filter(deleted_at=None)
    return living if caller.project_id is None else living.filter(pk=caller.project_id)


def by_name(name: str) -> Project | None:
    """The workspace with this id or slug."""
    if name.startswith(f"{ID_PREFIX}_"):
        return living(Project.objects.filter(pk=name).first())
    return living(Project.objects.filter(slug=slug_for(name)).first())


def living(project: Project | None) -> Project | None:
    """The workspace itself; one that was merged leads to the one it went into, one that was deleted nowhere."""
    seen: set[str] = set()
    while project is not None and project.deleted_at is not None:
        seen.add(project.pk)
        project = None if project.merged_into_id in seen else project.merged_into
    return project


def by_identity(*, slug: str | None, external_key: str | None, git_remote: str | None) -> Project | None:
    """The workspace that the first known one of these names."""
    lookups: list[Callable[[], QuerySet[Project]]] = []
    if slug:
        lookups.append(lambda: Project.objects.filter(slug=slug_for(slug)))
    if external_key and (key := clean_line(external_key)):
        lookups.append(lambda: Project.objects.filter(external_key=key))
    if git_remote:
        remote_key = remote_key_of(git_remote)
        lookups.append(lambda: Project.objects.filter(git_remote_key=remote_key))
    return next((project for lookup in lookups if (project := living(lookup().first()))), None)


def remote_key_of(git_remote: str) -> str:
    """What two spellings of one remote have in common. Raises ``Invalid`` where it is no address."""
    try:
        return same_remote_key(git_remote)
    except ValueError as error:
        raise Invalid(fields={"git_remote": _("This is no address of a Git repository.")}) from error


@operation(needs=Right.READ, answers=ProjectPage)
def project_list(
    caller: Caller,
    *,
    workspace_type: TypeListed | None = None,
    archived: ArchivedListed = "no",
    text: TextListed = "",
    limit: PageLimit = 50,
    cursor: Cursor = "",
) -> ProjectPage:
    """List workspaces by name: their ids, types, remotes and templates."""
    projects = projects_for(caller).order_by("name", "pk")
    if workspace_type:
        projects = projects.filter(workspace_type=workspace_type)
    if archived != "any":
        projects = projects.filter(archived_at__isnull=archived == "no")
    if text:
        projects = projects.filter(_holding(nfc(text)))
    if cursor:
        name, project_id = position_of(cursor, str, str)
        projects = projects.filter(Q(name__gt=name) | Q(name=name, pk__gt=project_id))
    page = list(projects[: limit + 1])
    more = len(page) > limit
    page = page[:limit]
    return ProjectPage(
        projects=[described(project) for project in page],
        next_cursor=cursor_of(page[-1].name, page[-1].pk) if more else None,
    )


@operation(needs=Right.READ, answers=ProjectOut)
def project_get(caller: Caller, *, project_id: ProjectId) -> ProjectOut:
    """Read one workspace, by its id or slug."""
    return described(project_for(caller, project_id))


@operation(needs=Right.READ, answers=ProjectOut)
def project_resolve(
    caller: Caller,
    *,
    project_id: ProjectId | None = None,
    slug: ProjectSlug | None = None,
    external_key: ExternalKey | None = None,
    git_remote: GitRemote | None = None,
) -> ProjectOut:
    """Find the workspace you are in, by whatever you know of it: id, slug, external key or Git remote in any spelling.

    The first of these that is known decides. Nothing is made; project_resolve_or_create makes what is missing.
    """
    if project_id is not None:
        return described(project_for(caller, project_id))
    if slug or external_key or git_remote:
        return described(_resolved(caller, by_identity(slug=slug, external_key=external_key, git_remote=git_remote)))
    if caller.project_id is not None:
        return described(project_for(caller, caller.project_id))
    raise Invalid(fields={"project_id": _("Name the workspace by id, slug, external key or Git remote.")})


def _resolved(caller: Caller, project: Project | None) -> Project:
    check_reach(caller, project)
    if project is None:
        raise NothingMatches()
    return project


def check_reach(caller: Caller, project: Project | None) -> None:
    """Refuse what a bound connection names besides its own workspace, whether it exists or not."""
    if caller.project_id is not None and (project is None or project.pk != caller.project_id):
        raise WorkspaceMismatch()


def described(project: Project) -> ProjectOut:
    return ProjectOut.model_validate(facts_of(project))


def facts_of(project: Project) -> dict[str, object]:
    """What every answer about a workspace says."""
    return {
        "project_id": project.pk,
        "slug": project.slug,
        "name": project.name,
        "description": project.description,
        "external_key": project.external_key,
        "git_remote": project.git_remote or None,
        "git_branch": project.git_branch or None,
        "workspace_type": project.workspace_type,
        "template": project.template,
        "archived": project.archived_at is not None,
        "revision": project.revision,
        "created_at": project.created_at,
        "updated_at": project.updated_at,
    }


def _is_called(project: Project, name: str) -> bool:
    return name == project.pk or (not name.startswith(f"{ID_PREFIX}_") and slug_for(name) == project.slug)


def _holding(text: str) -> Q:
    fields = ("name", "slug", "description", "external_key", "git_remote")
    found = Q()
    for field in fields:
        found |= Q(**{f"{field}__icontains": text})
    return found

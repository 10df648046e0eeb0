"""What the end of a workspace or a memory space would lead to: counted, and told as sentences."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import McpToken, User
from apps.base.errors import MemRelayError
from apps.curation.models import AT_WORK, CurationJob
from apps.curation.work import scope_lease
from apps.instance.errors import WorkUnderWay
from apps.instance.schemas import EndingLine, EndingPreview, Named, Renamed
from apps.instance.workspaces_jobs import attributed_elsewhere, living, profile_of
from apps.leases.errors import ScopeBusy
from apps.leases.selectors import exclusive_lease_on, is_held
from apps.memories.models import Alias, FolderJob, Memory, Resource, Status
from apps.memories.services.jobs import UNDER_WAY
from apps.operations.caller import SHARED_PROFILE, Caller
from apps.profiles.errors import ProfileInUse
from apps.profiles.models import Profile
from apps.workspaces.errors import WorkspaceArchived
from apps.workspaces.models import Project

AT_ONCE = 200  # Documents that are dealt with in the call itself: about a second.
RENAMED = 50


@dataclass(frozen=True)
class Ending:
    """A workspace or a memory space that ends, and the one that everything moves into, if there is one."""

    subject: Project | Profile
    scope_key: str
    into: Project | Profile | None = None
    target_key: str = ""

    @property
    def scope_keys(self) -> list[str]:
        return [key for key in (self.scope_key, self.target_key) if key]

    @cached_property
    def attributed(self) -> int:
        """Documents elsewhere that count as the memory space's own."""
        return attributed_elsewhere(profile_of(self.scope_key)).count()

    @property
    def documents(self) -> int:
        return living(self.scope_key).count() + self.attributed

    def preview(self, caller: Caller) -> EndingPreview:
        return EndingPreview(
            subject=Named(id=self.subject.pk, name=self.subject.name),
            into=Named(id=self.into.pk, name=self.into.name) if self.into else None,
            documents=self.documents,
            at_once=self.documents <= AT_ONCE,
            lines=[line for line in _lines(self) if line.count],
            renamed=_renamed(self),
            obstacles=[str(error) for error in [*obstacles(self), *_more_obstacles(self)]],
        )


def obstacles(ending: Ending) -> list[MemRelayError]:
    """Why it would be refused now: somebody works on one of the scopes as a whole, or a job is under way there."""
    found: list[MemRelayError] = [
        ScopeBusy(scope=key, work=lease.kind) for key in ending.scope_keys if (lease := exclusive_lease_on(key))
    ]
    kind = FolderJob.MERGE if ending.target_key else FolderJob.DELETE
    under_way = FolderJob.objects.filter(state__in=UNDER_WAY)
    touching = under_way.filter(scope_key__in=ending.scope_keys) | under_way.filter(target_key__in=ending.scope_keys)
    same = {"kind": kind, "scope_key": ending.scope_key, "target_key": ending.target_key}
    others = touching.exclude(**same).order_by("created_at").values_list("pk", flat=True)
    curations = [
        job_id
        for key in ending.scope_keys
        if is_held(scope_lease(key))
        for job_id in CurationJob.objects.filter(scope_key=key, state__in=AT_WORK).values_list("pk", flat=True)
    ]
    if job_ids := [*others[:10], *curations]:
        found.append(WorkUnderWay(job_ids=", ".join(job_ids)))
    return found


def _more_obstacles(ending: Ending) -> Iterator[MemRelayError]:
    if isinstance(ending.into, Project) and ending.into.archived_at is not None:
        yield WorkspaceArchived(project_id=ending.into.pk)
    if isinstance(ending.subject, Profile) and ending.into is None and ending.documents:
        yield ProfileInUse(profile_id=ending.subject.pk, sources=ending.documents)


def _lines(ending: Ending) -> Iterator[EndingLine]:
    yield from _documents(ending)
    yield from _profile_lines(ending) if isinstance(ending.subject, Profile) else _workspace_lines(ending)
    revisions = _count_revisions(ending.scope_key)
    yield EndingLine(
        what="history",
        count=revisions,
        goes="stays",
        text=ngettext("{count} revision stays readable.", "{count} revisions stay readable.", revisions).format(
            count=revisions
        ),
    )


def _documents(ending: Ending) -> Iterator[EndingLine]:
    rows = Memory.objects.filter(scope=ending.scope_key).order_by().values_list("resource", "status")
    counted = {(resource, status): count for resource, status, count in rows.annotate(count=Count("pk"))}
    memories = counted.get((Resource.MEMORY, Status.ACTIVE), 0)
    archived = sum(count for (_resource, status), count in counted.items() if status == Status.ARCHIVED)
    checkpoints = counted.get((Resource.CHECKPOINT, Status.ACTIVE), 0)
    curated = counted.get((Resource.CURATED, Status.ACTIVE), 0)
    trash = sum(count for (_resource, status), count in counted.items() if status == Status.DELETED)
    if ending.into:
        name = ending.into.name
        yield _line("memories", memories, "moved", _("Memories move to {name}.").format(name=name))
        yield _line(
            "archived", archived, "moved", _("Archived memories move to the archive of {name}.").format(name=name)
        )
        yield _line("checkpoints", checkpoints, "moved", _("Checkpoints move to {name}.").format(name=name))
        yield _line(
            "curated", curated, "deleted", _("Curated documents are deleted; {name} has its own.").format(name=name)
        )
    else:
        yield _line("memories", memories, "deleted", _("Memories go to the trash."))
        yield _line("archived", archived, "deleted", _("Archived memories go to the trash."))
        yield _line("checkpoints", checkpoints, "deleted", _("Checkpoints go to the trash."))
        yield _line("curated", curated, "deleted", _("Curated documents go to the trash."))
    yield _line("trash", trash, "stays", _("What is in the trash stays there and cannot be restored any more."))


def _workspace_lines(ending: Ending) -> Iterator[EndingLine]:
    project = ending.subject
    assert isinstance(project, Project)  # noqa: S101
    tokens = McpToken.objects.filter(project_id=project.pk, revoked_at=None).count()
    names = sum(bool(name) for name in (project.slug, project.external_key, project.git_remote_key))
    if ending.into:
        name = ending.into.name
        yield _line("tokens", tokens, "rebound", _("Tokens bound to it are bound to {name}.").format(name=name))
        yield _line("names", names, "leads_on", _("Its names and its Git remote lead to {name}.").format(name=name))
    else:
        yield _line("tokens", tokens, "revoked", _("Tokens bound to it are revoked."))
        yield _line("names", names, "freed", _("Its names and its Git remote are free for a new workspace."))


def _profile_lines(ending: Ending) -> Iterator[EndingLine]:
    space = ending.subject.pk
    into = ending.into or Profile.objects.get(pk=SHARED_PROFILE)
    tokens = McpToken.objects.filter(profile_id=space).count()
    people = User.objects.filter(profile_id=space).count()
    sentence = _("Documents in workspaces that count as its own count as those of {name}.").format(name=into.name)
    yield _line("attributed", ending.attributed, "moved" if ending.into else "stays", sentence)
    yield _line("tokens", tokens, "rebound", _("Tokens bound to it are bound to {name}.").format(name=into.name))
    yield _line("people", people, "rebound", _("People who work in it work in {name}.").format(name=into.name))


def _line(what: str, count: int, goes: str, text: str) -> EndingLine:
    return EndingLine.model_validate({"what": what, "count": count, "goes": goes, "text": text})


def _count_revisions(scope_key: str) -> int:
    return Memory.objects.filter(scope=scope_key).aggregate(count=Count("revisions"))["count"] or 0


def _renamed(ending: Ending) -> list[Renamed]:
    """Documents whose slug another one has where they go."""
    if not ending.target_key:
        return []
    taken = Memory.objects.filter(scope=ending.target_key).values("slug_key")
    old = Alias.objects.filter(scope=ending.target_key).values("slug_key")
    moving = living(ending.scope_key).exclude(resource=Resource.CURATED)
    colliding = (moving.filter(slug_key__in=taken) | moving.filter(slug_key__in=old)).order_by("pk")
    columns = ("stable_id", "title", "slug")
    return [
        Renamed(memory_id=key, title=title, slug=slug) for key, title, slug in colliding.values_list(*columns)[:RENAMED]
    ]

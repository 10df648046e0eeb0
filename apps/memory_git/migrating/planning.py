"""What a change of strategy would do: which repositories are made, what stands in the way (GIT-015)."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from apps.memories.models import Scope
from apps.memory_git.committing.baseline import scopes_by_root
from apps.memory_git.deeds import UNFINISHED
from apps.memory_git.errors import NestedRepository
from apps.memory_git.models import CommitScope, GitConnection, GitDeed, MemoryRepository, RepositoryStatus, Strategy
from apps.memory_git.remotes.addresses import UnusableAddress, parse
from apps.memory_git.repository import local
from apps.memory_git.repository.repositories import name_for, own_folders
from apps.memory_git.repository.roots import folder_of_root
from apps.memory_git.switch import chosen
from apps.workspaces.models import Project


@dataclass(frozen=True)
class Planned:
    """A repository that will be made."""

    root: str
    scope_keys: list[str]
    name: str
    commits: int
    to_archive: bool = False  # Of a deleted workspace.


@dataclass
class Plan:
    current: str
    wanted: str
    sources: list[MemoryRepository]
    targets: list[Planned]
    obstacles: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def digest(self) -> str:
        """Changes with what would be done, not with what is saved meanwhile."""
        told: list[object] = [self.current, self.wanted, sorted(row.pk for row in self.sources), self.obstacles]
        told.append(sorted((one.root, one.name) for one in self.targets))
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:32]


def plan_for(wanted: str) -> Plan:
    """Look, without changing anything."""
    current = chosen().strategy
    sources = list(MemoryRepository.objects.filter(archived_at=None).order_by("root"))
    plan = Plan(current, wanted, sources, _targets(wanted, sources))
    plan.obstacles += _obstacles(plan)
    plan.notes += _notes(plan)
    return plan


def _targets(wanted: str, sources: list[MemoryRepository]) -> list[Planned]:
    if wanted == Strategy.SINGLE:
        scope_keys = list(Scope.objects.order_by("key").values_list("key", flat=True))
        operations = {row.position for row in sources}
        return [Planned("", scope_keys, name_for(wanted, ""), sum(operations))] if sources else []
    deleted = set(Project.objects.exclude(deleted_at=None).values_list("pk", flat=True))
    found = []
    for root, keys in sorted(scopes_by_root(wanted).items()):
        commits = CommitScope.objects.filter(scope_key__in=keys, commit__repository__in=sources, commit__listed=True)
        is_gone = keys[0].partition("/")[2] in deleted
        found.append(Planned(root, keys, name_for(wanted, keys[0]), commits.count(), is_gone))
    return found


def _obstacles(plan: Plan) -> list[str]:
    found = []
    for row in plan.sources:
        if row.status == RepositoryStatus.LOCAL_ERROR:
            found.append(_("The repository {name} is not in order: {error}").format(name=row.name, error=row.error))
        elif not local.exists(folder_of_root(row.root)):
            found.append(_("The repository {name} is not where it should be.").format(name=row.name))
    memories = Path(settings.MEMORIES_FOLDER)
    for target in plan.targets:
        try:
            local.refuse_nested(folder_of_root(target.root), memories, own=own_folders())
        except NestedRepository as nested:
            found.append(str(nested))
    under_way = GitDeed.objects.filter(state__in=UNFINISHED).exclude(kind="migration").first()
    if under_way is not None:
        found.append(_("Another Git job is under way: {job_id}.").format(job_id=under_way.pk))
    return sorted(set(found))


def _notes(plan: Plan) -> list[str]:
    notes = [_("The repositories as they are now move to the archive folder; nothing of them is lost.")]
    connection = GitConnection.objects.filter(enabled=True).first()
    if connection is not None and not _serves(connection.url, plan.wanted):
        notes.append(
            _("The address of the Git connection is for the other strategy: nothing is pushed until you enter another.")
        )
    return notes


def _serves(url: str, strategy: str) -> bool:
    try:
        address = parse(url, plain_http=True, file_roots=(Path("/"),))
    except UnusableAddress:
        return False
    return address.mode == strategy

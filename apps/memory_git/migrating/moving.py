"""The other strategy: histories are made anew beside the old ones, then change places with them, or nothing changes (GIT-016).

Everything slow happens while the old repositories still lie where they lay. The moves are written down before the first of
them; until the one transaction that makes the new rows count, they are undone, by this attempt or by the next (GIT-017).
"""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.base import clock
from apps.base.faults import fault
from apps.base.ids import new_id
from apps.base.transactions import short_transaction
from apps.memories.models import LogicalOperation, Scope, ScopeCommit
from apps.memory_git.committing.outbox import UNFINISHED
from apps.memory_git.deeds import note
from apps.memory_git.errors import PlanChanged, RepositoryBroken, StrategyUnchanged
from apps.memory_git.leasing import all_scopes, whole
from apps.memory_git.migrating.entering import enter
from apps.memory_git.migrating.planning import Plan, Planned, plan_for
from apps.memory_git.migrating.rewriting import Part, Target, commit_in, join, split
from apps.memory_git.models import (
    GitCommit,
    GitDeed,
    GitSettings,
    GitSyncJob,
    MemoryRepository,
    Strategy,
)
from apps.memory_git.repository import local
from apps.memory_git.repository.archiving import move_folder
from apps.memory_git.repository.opening import sound
from apps.memory_git.repository.repositories import identity
from apps.memory_git.repository.roots import archive_folder, folder_of_root, prefix_in, root_of
from apps.memory_git.restoring.snapshots import catch_up
from apps.memory_git.switch import chosen


def run(deed: GitDeed) -> dict[str, Any]:
    """Change the strategy as it was confirmed."""
    wanted = str(deed.arguments["strategy"])
    with whole(all_scopes(), work="git migration"):
        _go_back(deed, wanted)
        if chosen().strategy == wanted:
            if not deed.journal.get("moves"):
                raise StrategyUnchanged(strategy=wanted)
            return _result(deed, wanted)  # An attempt before this one had come to the end.
        plan = plan_for(wanted)
        if plan.digest != deed.arguments["digest"] or plan.obstacles:
            raise PlanChanged()
        for repository in plan.sources:
            catch_up(repository)
            repository.refresh_from_db()
        note(deed, done=0, total=sum(repository.position for repository in plan.sources))
        try:
            _carry_out(deed, plan)
        except BaseException:
            _go_back(deed, wanted)
            raise
    return _result(deed, wanted)


def _carry_out(deed: GitDeed, plan: Plan) -> None:
    made = [(one, _row_for(one, plan)) for one in plan.targets]
    note(deed, new=[row.pk for _one, row in made])
    for one, row in made:
        _build(deed, plan, one, row)
    moves = [(folder_of_root(row.root) / local.GIT, archive_folder(row.pk) / local.GIT) for row in plan.sources]
    moves += [(_staged(row) / local.GIT, _home(one, row) / local.GIT) for one, row in made]
    note(deed, moves=[[str(source), str(target)] for source, target in moves])
    with ExitStack() as stack:
        for row in plan.sources:
            stack.enter_context(local.locked(folder_of_root(row.root)))
        for source, target in moves:
            move_folder(source, target)
            fault("git-moving")
        for one, row in made:
            if not one.to_archive:
                local.write_manifest(_home(one, row))
        _make_it_count(plan, made)


def _row_for(one: Planned, plan: Plan) -> MemoryRepository:
    """Entered as archived, so that nothing takes it for the repository of its root before it is."""
    row = MemoryRepository(
        id=new_id("repo"),
        mode=plan.wanted,
        scope_key="" if plan.wanted == Strategy.SINGLE else one.scope_keys[0],
        root=one.root,
        name=one.name,
        branch=chosen().branch,
        archived_at=clock.now(),
    )
    row.save(force_insert=True)
    return row


def _build(deed: GitDeed, plan: Plan, one: Planned, row: MemoryRepository) -> None:
    """One new repository beside the old ones, with the rows of its commits, which do not count yet."""
    folder = _staged(row)
    shutil.rmtree(folder, ignore_errors=True)
    local.make(folder, row.branch)
    with ExitStack() as stack:
        stack.enter_context(local.locked(folder))
        repo = stack.enter_context(local.opened(folder))
        target = Target(local.staging(repo))
        parts = []
        for source in plan.sources:
            stack.enter_context(sound(source))
            old = stack.enter_context(local.opened(folder_of_root(source.root)))
            rows = _commits(source)
            if plan.wanted == Strategy.PER_WORKSPACE:
                commits = [commit for _number, commit in rows]
                split(old, local.staging(old), commits, one.root, one.scope_keys[0], target)
            else:
                parts.append(Part(source.root, old, local.staging(old), rows))
        if parts:
            join(parts, target)
        target.staging.store_all()
        target.staging.make_durable()
        if target.tip is not None:
            _check(plan, one, target)
            local.move_branch(repo, row.branch, None, target.tip, identity(), "Change of strategy")
    enter(row, target.made)
    note(deed, done=deed.done + len(target.made))


def _commits(source: MemoryRepository) -> list[tuple[int, GitCommit]]:
    """Its commits in their order, each with the closing number of its operation, or of the one before it."""
    rows = GitCommit.objects.filter(repository=source, listed=True).prefetch_related("scopes").order_by("position")
    numbers = dict(
        LogicalOperation.objects.filter(pk__in=rows.exclude(operation_id="").values("operation_id")).values_list(
            "pk", "closing_number"
        )
    )
    found, number = [], 0
    for commit in rows:
        number = max(number, numbers.get(commit.operation_id) or 0)
        found.append((number, commit))
    return found


def _check(plan: Plan, one: Planned, target: Target) -> None:
    """The newest tree holds, byte for byte, what the old ones hold of these scopes."""
    for source in plan.sources:
        if not source.head:
            continue
        with local.opened(folder_of_root(source.root)) as old:
            objects = local.staging(old)
            tree = bytes(commit_in(old, source.head).tree)
            for scope_key in one.scope_keys:
                if plan.wanted == Strategy.SINGLE and source.scope_key != scope_key:
                    continue
                before = _in(objects, tree, prefix_in(source.root, scope_key))
                after = _in(target.staging, target.tree, prefix_in(one.root, scope_key))
                if before != after:
                    raise RepositoryBroken(name=one.name, problem=_("the new history does not end with what is there"))


def _in(objects: Any, tree: bytes | None, prefix: str) -> dict[bytes, tuple[int, bytes]]:
    folder = objects.entry(tree, prefix.rstrip("/").encode()) if prefix else tree
    entries = dict(objects.folder(folder))
    for name in local.MANIFEST:
        entries.pop(name.encode(), None)
    return entries


def _make_it_count(plan: Plan, made: Sequence[tuple[Planned, MemoryRepository]]) -> None:
    """The moment of the change: one transaction."""
    now = clock.now()
    with short_transaction():
        GitSettings.objects.filter(pk=1).update(strategy=plan.wanted, updated_at=now)
        old = [row.pk for row in plan.sources]
        MemoryRepository.objects.filter(pk__in=old).update(archived_at=now, remote_url="", connection=None)
        GitCommit.objects.filter(repository__in=old).update(listed=False)
        for one, row in made:
            GitCommit.objects.filter(repository=row).update(listed=True)
            if not one.to_archive:
                MemoryRepository.objects.filter(pk=row.pk).update(archived_at=None)
        _lead_jobs_on(plan.wanted)


def _lead_jobs_on(strategy: str) -> None:
    """What was queued meanwhile, for workspaces and open operations, goes to the new roots."""
    for job in GitSyncJob.objects.filter(state__in=UNFINISHED):
        scopes = list(
            ScopeCommit.objects.filter(operation=job.operation_id).values_list("scope_id", flat=True).distinct()
        )
        if not scopes and Scope.objects.filter(pk=job.subject_id).exists():
            scopes = [job.subject_id]
        roots = {root_of(strategy, scope_key) for scope_key in scopes}
        job.delete()
        for root in sorted(roots):
            if not GitSyncJob.objects.filter(operation=job.operation_id, root=root).exists():
                GitSyncJob.objects.create(
                    operation_id=job.operation_id,
                    root=root,
                    subject_id=job.subject_id,
                    action=job.action,
                    created_at=job.created_at,
                )


def _go_back(deed: GitDeed, wanted: str) -> None:
    """Undo what an attempt began and did not finish: moves in reverse, new folders, rows that never counted."""
    if chosen().strategy == wanted:
        return
    for source, target in reversed(deed.journal.get("moves", [])):
        if not Path(source).exists():
            move_folder(Path(target), Path(source))
    for pk in deed.journal.get("new", []):
        row = MemoryRepository.objects.filter(pk=pk).first()
        if row is None:
            continue
        shutil.rmtree(_staged(row), ignore_errors=True)
        GitCommit.objects.filter(repository=row).delete()
        row.delete()
    if deed.journal:
        note(deed, moves=[], new=[])


def _result(deed: GitDeed, wanted: str) -> dict[str, Any]:
    shutil.rmtree(_building(), ignore_errors=True)
    return {"strategy": wanted, "repositories": len(deed.journal.get("new", [])), "commits": deed.done}


def _building() -> Path:
    return Path(settings.STATE_FOLDER) / "git-archive" / "building"


def _staged(row: MemoryRepository) -> Path:
    return _building() / row.pk


def _home(one: Planned, row: MemoryRepository) -> Path:
    return archive_folder(row.pk) if one.to_archive else folder_of_root(one.root)

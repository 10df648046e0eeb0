"""Changing the strategy: the plan to look at, and the deed that carries it out."""

from apps.memory_git.deeds import start
from apps.memory_git.errors import PlanChanged, StrategyUnchanged
from apps.memory_git.migrating.planning import plan_for
from apps.memory_git.models import GitDeed
from apps.memory_git.schemas import GitDeedOut, MigrationPlanOut, PlanDigest, PlannedRepository, StrategyName
from apps.memory_git.selectors.jobs import deed_out
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature
from apps.operations.operation import Effect, operation


@operation(needs=Right.ADMINISTER, answers=MigrationPlanOut)
def memory_repository_migrate_plan(caller: Caller, *, strategy: StrategyName) -> MigrationPlanOut:
    """Read what changing the strategy would do: which repositories are made with which histories, and what is in the way."""
    plan = plan_for(strategy)
    return MigrationPlanOut(
        strategy=plan.current,
        wanted=plan.wanted,
        digest=plan.digest,
        replaces=[row.name for row in plan.sources],
        makes=[
            PlannedRepository(
                root=one.root, name=one.name, scopes=one.scope_keys, commits=one.commits, to_archive=one.to_archive
            )
            for one in plan.targets
        ],
        obstacles=plan.obstacles,
        notes=plan.notes,
    )


@operation(needs=Right.ADMINISTER, answers=GitDeedOut, effect=Effect.CHANGES, feature=Feature.MEMORY_GIT)
def memory_repository_migrate(caller: Caller, *, strategy: StrategyName, digest: PlanDigest) -> GitDeedOut:
    """Change the strategy as memory_repository_migrate_plan showed it. Every commit goes along; a failure leaves all as it was.

    While it lasts, writes are answered SCOPE_BUSY. The answer is a job: git_job_get tells how far it is.
    """
    if chosen().strategy == strategy:
        raise StrategyUnchanged(strategy=strategy)
    plan = plan_for(strategy)
    if plan.digest != digest or plan.obstacles:
        raise PlanChanged(obstacles=plan.obstacles)
    deed: GitDeed = start(caller, "migration", {"strategy": strategy, "digest": digest})
    return deed_out(deed)

"""Switching Memory Git on and off, and how it is set up."""

from typing import Any

from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.bells import hurry
from apps.base.errors import Invalid
from apps.base.transactions import short_transaction
from apps.memory_git.deeds import start
from apps.memory_git.errors import StrategyNeedsPlan
from apps.memory_git.models import GitDeed, GitSettings, GitSyncJob, JobState, MemoryRepository
from apps.memory_git.schemas import (
    AuthorEmail,
    AuthorName,
    BranchName,
    GitSettingsOut,
    GitSwitch,
    StrategyName,
)
from apps.memory_git.selectors.settings import settings_out
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.operation import UNCHANGED, Effect, operation


@operation(needs=Right.ADMINISTER, answers=GitSettingsOut, effect=Effect.CHANGES, repeatable=True)
def git_settings_update(
    caller: Caller,
    *,
    enabled: GitSwitch = UNCHANGED,
    strategy: StrategyName = UNCHANGED,
    branch: BranchName = UNCHANGED,
    author_name: AuthorName = UNCHANGED,
    author_email: AuthorEmail = UNCHANGED,
) -> GitSettingsOut:
    """Switch Memory Git on or off, and say who its commits are by. Switching it off keeps every repository and its history.

    The first switching on makes one commit of everything there is, a later one makes one of what changed meanwhile; the
    worker does that. Once there are repositories, memory_repository_migrate changes the strategy.
    """
    wanted = {"strategy": strategy, "branch": branch, "author_name": author_name, "author_email": author_email}
    wanted = {name: value for name, value in wanted.items() if value is not UNCHANGED}
    with short_transaction():
        row = chosen()
        _refuse_late(row, wanted)
        was_on = row.enabled
        for name, value in wanted.items():
            setattr(row, name, value)
        if enabled is not UNCHANGED:
            row.enabled = enabled
        row.revision, row.updated_at, row.updated_by = row.revision + 1, clock.now(), caller.name[:120]
        if row.enabled and not was_on:
            row.enabled_at = row.updated_at
        row.save()
        if row.enabled and not was_on:
            _begin(caller)
        if was_on and not row.enabled:
            _end()
    hurry()
    return settings_out()


def _refuse_late(row: GitSettings, wanted: dict[str, Any]) -> None:
    """What repositories were made with stays: another strategy needs a plan, another branch a new repository."""
    if not MemoryRepository.objects.exists():
        return
    if wanted.get("strategy", row.strategy) != row.strategy:
        raise StrategyNeedsPlan(strategy=row.strategy)
    if wanted.get("branch", row.branch) != row.branch:
        raise Invalid(
            fields={"branch": _("The repositories have this branch already: {name}.").format(name=row.branch)}
        )


def _begin(caller: Caller) -> None:
    """Writes leave outbox rows from this transaction on; the baseline takes in what was before."""
    if not GitDeed.objects.filter(kind="baseline", state__in=(GitDeed.State.WAITING, GitDeed.State.RUNNING)).exists():
        start(caller, "baseline", {})


def _end() -> None:
    """No new commits (GIT-005): what still waited is made up for by the commit of the next switching on."""
    GitSyncJob.objects.filter(state__in=(JobState.PENDING, JobState.COMMITTING, JobState.FAILED)).update(
        state=JobState.CANCELLED, finished_at=clock.now()
    )

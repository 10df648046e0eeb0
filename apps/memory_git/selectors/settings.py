"""Whether Memory Git is on, and how it is set up."""

from apps.memory_git.deeds import UNFINISHED
from apps.memory_git.models import (
    GitDeed,
)
from apps.memory_git.schemas import (
    GitSettingsOut,
)
from apps.memory_git.switch import chosen
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation


@operation(needs=Right.READ, answers=GitSettingsOut)
def git_settings_get(caller: Caller) -> GitSettingsOut:
    """Read whether Memory Git is on, its strategy, and who its commits are by."""
    return settings_out()


def settings_out() -> GitSettingsOut:
    row = chosen()
    deed = GitDeed.objects.filter(kind="baseline").order_by("-created_at").first()
    failed = deed is not None and deed.state == GitDeed.State.FAILED
    return GitSettingsOut(
        enabled=row.enabled,
        strategy=row.strategy,
        branch=row.branch,
        author_name=row.author_name,
        author_email=row.author_email,
        preparing=bool(row.enabled and deed and deed.state in UNFINISHED),
        problem=deed.error if deed and row.enabled and (failed or deed.error) and deed.state != "completed" else "",
        enabled_at=row.enabled_at,
        updated_at=row.updated_at if row.revision else None,
        updated_by=row.updated_by,
    )

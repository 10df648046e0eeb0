"""What happens here inside another room's transaction: the outbox row of a write (GIT-054). Rows only."""

from collections.abc import Sequence

from django.db import connection, transaction

from apps.base import clock
from apps.base.bells import hurry
from apps.base.ids import new_id
from apps.changes.models import Change
from apps.memories.ledger.operations import mark_closed
from apps.memories.models import LogicalOperation
from apps.memory_git.models import GitDeed, Strategy
from apps.memory_git.repository.roots import root_of
from apps.memory_git.switch import strategy_if_on

ABOUT_SCOPES = ("project", "profile")
ENDINGS = ("workspace.deleted", "workspace.merged", "profile.deleted")
_QUEUE = """
    INSERT INTO memory_git_gitsyncjob
        (operation_id, root, subject_id, action, state, "commit", attempts, error_code, created_at)
    VALUES (%s, %s, %s, %s, 'pending', '', 0, '', %s)
    ON CONFLICT (operation_id, root) DO NOTHING
"""


def queue_commit(changes: Sequence[Change]) -> None:
    """One row for each operation and repository; nothing at all while Git is off (GIT-002)."""
    strategy = strategy_if_on() if changes else ""
    if not strategy:
        return
    seen: set[tuple[str, str]] = set()
    for change in changes:
        root = root_of(strategy, change.scope_key)
        is_about_scope = change.resource in ABOUT_SCOPES
        operation_id = _described(change) if is_about_scope else change.operation_id
        if not operation_id or (operation_id, root) in seen:
            continue
        seen.add((operation_id, root))
        subject = change.scope_key if is_about_scope else change.stable_id
        if change.kind in ENDINGS and strategy == Strategy.PER_WORKSPACE:
            _leave_to_archive(change, root)
        with connection.cursor() as cursor:
            cursor.execute(_QUEUE, [operation_id, root, subject, change.kind, change.at])
    if seen:
        transaction.on_commit(hurry, robust=True)


def _described(change: Change) -> str:
    """A changed workspace or memory space has no operation of the ledger; its manifest's commit needs one all the same."""
    now = clock.to_milliseconds(clock.now())
    operation = LogicalOperation(
        id=new_id("op"),
        name=change.kind.replace(".", "_")[:80],
        actor=change.actor,
        origin=change.origin,
        profile=change.profile,
        opened_at=now,
    )
    mark_closed(operation, now)
    operation.save(force_insert=True)
    return operation.pk


def _leave_to_archive(change: Change, root: str) -> None:
    """The repository of what has ended moves away once its last commit is made (GIT-065)."""
    GitDeed.objects.create(
        id=new_id("git"),
        kind="archive",
        arguments={"root": root, "scope_key": change.scope_key},
        actor=change.actor,
        profile=change.profile,
    )

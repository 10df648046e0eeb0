"""The road itself: check, record, write out."""

from collections.abc import Sequence

from apps.base.faults import fault
from apps.memories.ledger.changes import Arrive, Baggage, Depart
from apps.memories.ledger.deed import Change, Committed, Deed, Part, Within
from apps.memories.ledger.outside import settle
from apps.memories.ledger.record import record
from apps.memories.ledger.writeout import write_out
from apps.memories.models import FileIntent, Memory
from apps.operations.caller import Caller

FILE_PENDING = "file_pending"


def commit(caller: Caller, scope_key: str, changes: Sequence[Change], deed: Deed) -> Committed:
    """Change one scope. When this returns, the rows are durable and the files written."""
    return commit_parts(caller, [Part(scope_key, changes)], deed)[0]


def commit_parts(caller: Caller, parts: Sequence[Part], deed: Deed) -> list[Committed]:
    """Change several scopes in one transaction, one commit in each."""
    for part in parts:
        _check_files(part)
    fault("before-record")
    done = record(caller, parts, deed)
    fault("after-record")
    for committed in _new_files_first(done):
        pending = set(write_out(committed.commit.scope_id, committed.intents)) if committed.intents else set()
        for outcome in committed.outcomes:
            if outcome.changed and outcome.memory.path in pending:
                outcome.warnings.append(FILE_PENDING)
        fault("between-files")
    return done


def move(
    caller: Caller,
    memory: Memory,
    to: str,
    *,
    revision: int | None = None,
    reason: str = "",
    within: Within | None = None,
) -> Committed:
    """Move a memory into another scope: one transaction with two commits (L-14)."""
    baggage = Baggage()
    parts = [
        Part(memory.scope_id, [Depart(memory_id=memory.stable_id, revision=revision, baggage=baggage)]),
        Part(to, [Arrive(baggage=baggage, reason=reason)]),
    ]
    return commit_parts(caller, parts, Deed("memory_move", reason=reason, within=within))[1]


def _check_files(part: Part) -> None:
    """Step 1: an outside edit of a memory that is about to change becomes a revision first.

    A change that names a revision then meets the conflict in step 2; one that does not is applied to the adopted text.
    """
    ids = [memory_id for change in part.changes if (memory_id := getattr(change, "memory_id", ""))]
    if not ids:
        return
    for memory in Memory.objects.filter(stable_id__in=ids, scope=part.scope_key):
        settle(memory)


def _new_files_first(done: Sequence[Committed]) -> list[Committed]:
    """Files appear in the new scope before they go from the old one, so that at no moment there is none (L-10)."""
    if len(done) < 2:
        return list(done)
    return sorted(done, key=lambda item: all(intent.action == FileIntent.DELETE for intent in item.intents))

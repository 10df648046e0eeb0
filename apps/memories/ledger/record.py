"""Step 2 of the road: everything one deed changes, written in one short transaction."""

from collections.abc import Sequence
from datetime import datetime

from apps.base import clock
from apps.base.faults import fault
from apps.base.rows import insert_rows
from apps.base.transactions import short_transaction
from apps.leases.held import Held, exclusive_key
from apps.leases.selectors import refuse_if_busy
from apps.memories.errors import HeadConflict, ReviewNeeded
from apps.memories.ledger import heads
from apps.memories.ledger.deed import Committed, Part, Within
from apps.memories.ledger.operations import mark_closed, new_operation
from apps.memories.ledger.recording import Recording
from apps.memories.models import LogicalOperation
from apps.operations.caller import Caller, Origin

REVIEWED = "reviewed"
# Changes somebody wants. The server's own go on in a workspace that was put away: no edit made outside may be lost.
ASKED = frozenset({Origin.USER, Origin.AGENT, Origin.CURATION})


def record(
    caller: Caller,
    parts: Sequence[Part],
    *,
    name: str,
    reason: str = "",
    operation: LogicalOperation | None = None,
    expected_head: int | None = None,
    within: Within | None = None,
    reviewed: bool = False,
    held: Sequence[Held] = (),
) -> list[Committed]:
    """Write the rows of a deed. Without ``operation`` the deed is one logical operation, closed at once.

    ``within`` runs last in the same transaction (L-13): receipts, job rows and cursors move with the write or not at all.
    ``held`` are the exclusive leases of whoever works on a scope as a whole: who holds them passes (L-15).
    """
    with short_transaction():
        now = clock.to_milliseconds(clock.now())  # As documents carry it: a rebuild finds the very times of the rows.
        owner = operation or new_operation(caller, name, reason, now)
        if operation is None:
            mark_closed(owner, now)
            insert_rows([owner])
        done = [_record_part(caller, part, owner, reason, now, expected_head, reviewed, held) for part in parts]
        if within:
            within(done)
        fault("inside-record")
    return done


def _record_part(
    caller: Caller,
    part: Part,
    operation: LogicalOperation,
    reason: str,
    now: datetime,
    expected_head: int | None,
    reviewed: bool,
    held: Sequence[Held],
) -> Committed:
    scope, is_new = heads.scope_row(part.scope_key)
    refuse_if_busy(part.scope_key, held=next((own for own in held if own.key == exclusive_key(scope.key)), None))
    if caller.origin in ASKED:
        heads.refuse_if_put_away(part.scope_key)
    if scope.policy == REVIEWED and not reviewed:
        raise ReviewNeeded(scope=scope.key)
    if expected_head is not None and scope.version != expected_head:
        raise HeadConflict(current=scope.version, given=expected_head)
    recording = Recording(caller, scope, operation, reason, now, len(part.changes))
    if is_new:
        recording.intents.write_scope_file()
    outcomes = [change.apply(recording) for change in part.changes]
    recording.store()
    return Committed(recording.commit, operation, outcomes, recording.intents.rows)

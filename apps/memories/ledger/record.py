"""Step 2 of the road: everything one deed changes, written in one short transaction."""

from collections.abc import Sequence
from datetime import datetime

from apps.base import clock
from apps.base.faults import fault
from apps.base.rows import insert_rows
from apps.base.transactions import short_transaction
from apps.leases.held import exclusive_key
from apps.leases.selectors import refuse_if_busy
from apps.memories.errors import HeadConflict, ReviewNeeded
from apps.memories.ledger import heads
from apps.memories.ledger.deed import Committed, Deed, Part
from apps.memories.ledger.operations import mark_closed, new_operation
from apps.memories.ledger.recording import Recording
from apps.memories.models import LogicalOperation
from apps.operations.caller import Caller, Origin

REVIEWED = "reviewed"
# Changes somebody wants. The server's own go on in a workspace that was put away: no edit made outside may be lost.
ASKED = frozenset({Origin.USER, Origin.AGENT, Origin.CURATION})


def record(caller: Caller, parts: Sequence[Part], deed: Deed) -> list[Committed]:
    """Write the rows of a deed."""
    with short_transaction():
        now = clock.to_milliseconds(clock.now())  # As documents carry it: a rebuild finds the very times of the rows.
        operation = deed.operation or _whole_operation(caller, deed, now)
        done = [_record_part(caller, part, deed, operation, now) for part in parts]
        if deed.within:
            deed.within(done)
        fault("inside-record")
    return done


def _whole_operation(caller: Caller, deed: Deed, now: datetime) -> LogicalOperation:
    """The operation of a deed that is done with this transaction."""
    operation = new_operation(caller, deed.name, deed.reason, now)
    mark_closed(operation, now)
    insert_rows([operation])
    return operation


def _record_part(caller: Caller, part: Part, deed: Deed, operation: LogicalOperation, now: datetime) -> Committed:
    scope, is_new = heads.scope_row(part.scope_key)
    refuse_if_busy(part.scope_key, held=next((own for own in deed.held if own.key == exclusive_key(scope.key)), None))
    if caller.origin in ASKED:
        heads.refuse_if_put_away(part.scope_key)
    if scope.policy == REVIEWED and not deed.reviewed:
        raise ReviewNeeded(scope=scope.key)
    if deed.expected_head is not None and scope.version != deed.expected_head:
        raise HeadConflict(current=scope.version, given=deed.expected_head)
    recording = Recording(caller, scope, operation, deed.reason, now, len(part.changes))
    if is_new:
        recording.intents.write_scope_file()
    outcomes = [change.apply(recording) for change in part.changes]
    recording.store()
    return Committed(recording.commit, operation, outcomes, recording.intents.rows)

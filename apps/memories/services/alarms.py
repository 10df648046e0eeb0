"""What a person decides after the scan has stopped in red (L-11)."""

from typing import Annotated, Literal

from pydantic import Field

from apps.memories import store
from apps.memories.doors import scope_for
from apps.memories.errors import OutsideAlarm
from apps.memories.ledger import commit
from apps.memories.ledger.changes import Delete, Rewrite, WriteScopeFile
from apps.memories.ledger.record import Change
from apps.memories.models import Memory, Scope, Status
from apps.memories.schemas import AlarmOut, ScopeRef
from apps.memories.scopes import file_of
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation

BATCH = 200
Decision = Annotated[
    Literal["restore_files", "accept_deletions"],
    Field(description="restore_files writes the missing files anew; accept_deletions deletes their memories."),
]


@operation(needs=Right.ADMINISTER, answers=AlarmOut, effect=Effect.DESTROYS)
def scope_alarm_decide(caller: Caller, *, scope: ScopeRef, decision: Decision) -> AlarmOut:
    """Decide what happens to memories whose files vanished: write the files anew, or delete the memories too."""
    key = scope_for(caller, scope)
    if not Scope.objects.filter(key=key, alarm__isnull=False).exists():
        raise OutsideAlarm(scope=key)
    missing = _missing(key)
    changes: list[Change] = [
        Rewrite(memory_id=stable_id)
        if decision == "restore_files"
        else Delete(memory_id=stable_id, any_resource=True, write=False, action="vanished")
        for stable_id in missing
    ]
    changes.append(WriteScopeFile())
    for start in range(0, len(changes), BATCH):
        commit(caller, key, changes[start : start + BATCH], name="scope_alarm_decide", reason=decision)
    Scope.objects.filter(key=key).update(alarm=None, outside_pending=False)
    return AlarmOut(scope=key, decided=decision, files=len(missing))


def _missing(scope_key: str) -> list[str]:
    rows = Memory.objects.filter(scope=scope_key).exclude(status=Status.DELETED).values_list("stable_id", "path")
    return [stable_id for stable_id, path in rows if store.signature(file_of(scope_key, path)) is None]

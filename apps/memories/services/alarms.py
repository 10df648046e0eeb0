"""What a person decides after the scan has stopped in red (L-11)."""

from typing import Annotated, Literal

from pydantic import Field

from apps.memories import store
from apps.memories.doors import scope_for
from apps.memories.errors import OutsideAlarm
from apps.memories.ledger import Change, Deed, Rewrite, Vanish, WriteScopeFile, commit
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
        else Vanish(memory_id=stable_id, seen_revision=revision)
        for stable_id, revision in missing
    ]
    changes.append(WriteScopeFile())
    for start in range(0, len(changes), BATCH):
        commit(caller, key, changes[start : start + BATCH], Deed("scope_alarm_decide", reason=decision))
    Scope.objects.filter(key=key).update(alarm=None, outside_pending=False)
    return AlarmOut(scope=key, decided=decision, files=len(missing))


def _missing(scope_key: str) -> list[tuple[str, int]]:
    """Ids and revisions of living memories without a file."""
    rows = Memory.objects.filter(scope=scope_key).exclude(status=Status.DELETED)
    return [
        (stable_id, revision)
        for stable_id, path, revision in rows.values_list("stable_id", "path", "revision")
        if store.signature(file_of(scope_key, path)) is None
    ]

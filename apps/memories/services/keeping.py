"""Putting memories away, bringing them back, and moving them."""

from django.utils.translation import gettext as _

from apps.base.errors import Invalid
from apps.memories.doors import memory_for, scope_for
from apps.memories.errors import WrongResource
from apps.memories.ledger import Archive, Change, Deed, Delete, Restore, Unarchive, Within, commit, move
from apps.memories.models import Memory, Resource
from apps.memories.schemas import AnyRevision, DeletedOut, MemoryRef, ProjectRef, Reason, RequestId, SavedOut, ScopeRef
from apps.memories.services.deeds import first_saved, once, saved, subject_of
from apps.operations import receipts
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation

CLEANED = ["row", "text_index", "vectors", "links", "file"]


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES, repeatable=True)
def memory_archive(
    caller: Caller, *, memory_id: MemoryRef, revision: AnyRevision = 0, reason: Reason = "", request_id: RequestId = ""
) -> SavedOut:
    """Put a memory away: search leaves it out, its text and history stay."""
    memory = _memory(caller, memory_id, request_id)
    change = Archive(memory_id=memory.stable_id, revision=revision or None, reason=reason)
    return _keep(caller, memory, change, "memory_archive", request_id, reason, subject=memory)


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES, repeatable=True)
def memory_unarchive(
    caller: Caller, *, memory_id: MemoryRef, revision: AnyRevision = 0, reason: Reason = "", request_id: RequestId = ""
) -> SavedOut:
    """Take a memory out of the archive, back to where it was."""
    memory = _memory(caller, memory_id, request_id)
    change = Unarchive(memory_id=memory.stable_id, revision=revision or None, reason=reason)
    return _keep(caller, memory, change, "memory_unarchive", request_id, reason, subject=memory)


@operation(needs=Right.WRITE, answers=DeletedOut, effect=Effect.DESTROYS)
def memory_delete(
    caller: Caller, *, memory_id: MemoryRef, revision: AnyRevision = 0, reason: Reason = "", request_id: RequestId = ""
) -> DeletedOut:
    """Delete a memory from files and search. memory_restore brings it back; its history stays."""
    if request_id and (again := _deleted_before(caller, memory_id, revision, request_id)):
        return again
    memory = _memory(caller, memory_id)
    change = Delete(memory_id=memory.stable_id, revision=revision or None, reason=reason)

    def do(within: Within | None) -> DeletedOut:
        done = commit(caller, memory.scope_id, [change], Deed("memory_delete", reason=reason, within=within))
        return _deleted(done.outcomes[0].memory, done.outcomes[0].warnings)

    arguments = {"memory_id": memory_id, "revision": revision}
    return once(
        caller,
        "memory_delete",
        request_id,
        arguments,
        DeletedOut,
        do,
        lambda done: _deleted(done[0].outcomes[0].memory, []),
    )


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES)
def memory_restore(
    caller: Caller, *, memory_id: MemoryRef, reason: Reason = "", request_id: RequestId = ""
) -> SavedOut:
    """Bring a deleted or archived memory back."""
    memory = memory_for(caller, memory_id, deleted=True)
    change: Change = Restore(memory_id=memory.stable_id, reason=reason)
    if memory.status == "archived":
        change = Unarchive(memory_id=memory.stable_id, reason=reason)
    return _keep(caller, memory, change, "memory_restore", request_id, reason)


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES)
def memory_move(
    caller: Caller,
    *,
    memory_id: MemoryRef,
    to_scope: ScopeRef = "",
    to_project_id: ProjectRef = "",
    revision: AnyRevision = 0,
    reason: Reason = "",
    request_id: RequestId = "",
) -> SavedOut:
    """Move a memory to another scope; id and history go along, the old name keeps leading to it."""
    if not to_scope and not to_project_id:
        raise Invalid(fields={"to_scope": _("Say where to: to_scope or to_project_id.")})
    memory = _memory(caller, memory_id, request_id)
    to = scope_for(caller, to_scope, to_project_id)

    def do(within: Within | None) -> SavedOut:
        if to == memory.scope_id:
            raise Invalid(fields={"to_scope": _("The memory is there already.")})
        done = move(caller, memory, to, revision=revision or None, reason=reason, within=within)
        return saved(done.outcomes[0])

    arguments = {"memory_id": memory.stable_id, "to": to, "revision": revision}
    return once(caller, "memory_move", request_id, arguments, SavedOut, do, first_saved, subject=memory)


def _memory(caller: Caller, memory_id: str, request_id: str = "") -> Memory:
    memory = subject_of(caller, memory_id, request_id)
    if memory.resource != Resource.MEMORY:
        raise WrongResource(memory_id=memory.stable_id, resource=memory.resource)
    return memory


def _keep(
    caller: Caller,
    memory: Memory,
    change: Change,
    name: str,
    request_id: str,
    reason: str,
    subject: Memory | None = None,
) -> SavedOut:
    def do(within: Within | None) -> SavedOut:
        done = commit(caller, memory.scope_id, [change], Deed(name, reason=reason, within=within))
        return saved(done.outcomes[0])

    arguments = {"memory_id": memory.stable_id, "revision": getattr(change, "revision", None)}
    return once(caller, name, request_id, arguments, SavedOut, do, first_saved, subject=subject)


def _deleted(memory: Memory, warnings: list[str]) -> DeletedOut:
    return DeletedOut(
        memory_id=memory.stable_id, revision=memory.revision, title=memory.title, cleaned=CLEANED, warnings=warnings
    )


def _deleted_before(caller: Caller, memory_id: str, revision: int, request_id: str) -> DeletedOut | None:
    """A repeat finds the memory gone already: its receipt answers, not MEMORY_NOT_FOUND."""
    receipt = receipts.find(caller, "memory_delete", request_id, {"memory_id": memory_id, "revision": revision})
    if receipt is None:
        return None
    answer = DeletedOut.model_validate(receipt.answer)
    memory_for(caller, answer.memory_id, deleted=True)
    return answer

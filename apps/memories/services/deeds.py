"""What all writes share: once per request id, and one shape of answer."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.db import IntegrityError
from pydantic import BaseModel

from apps.base.errors import MemRelayError
from apps.memories.doors import memory_for
from apps.memories.errors import MemoryUnknown, WrongResource
from apps.memories.ledger import Committed, Outcome, Within
from apps.memories.models import Memory, Resource, Status
from apps.memories.schemas import SavedOut
from apps.operations import receipts
from apps.operations.caller import Caller

AnswerT = TypeVar("AnswerT", bound=BaseModel)
NOTHING: Mapping[str, Any] = {}


def once(
    caller: Caller,
    name: str,
    request_id: str,
    arguments: Mapping[str, Any],
    answers: type[AnswerT],
    do: Callable[[Within | None], AnswerT],
    answer_of: Callable[[list[Committed]], AnswerT],
    *,
    subject: Memory | None = None,
) -> AnswerT:
    """Do a deed, or answer again what it led to the first time.

    The receipt is stored in the deed's own transaction. Of two calls at once with the same id, one does the deed and
    the other answers with its receipt. ``subject`` is the memory it is about, which may be deleted by the time of a
    repeat: the receipt still answers, a new deed does not find it.
    """
    if not request_id:
        return do(None)
    if receipt := receipts.find(caller, name, request_id, arguments):
        return _again(caller, receipt.answer, answers)

    def keep(done: list[Committed]) -> None:
        receipts.keep(caller, name, request_id, arguments, answer_of(done).model_dump(mode="json"))

    if subject is not None and subject.status == Status.DELETED:
        raise MemoryUnknown(memory_id=subject.stable_id)
    try:
        return do(keep)
    except (IntegrityError, MemRelayError):
        # A title that is taken, a revision that has passed: by this very deed perhaps, done by the other call.
        receipt = receipts.find(caller, name, request_id, arguments)
        if receipt is None:
            raise
        return _again(caller, receipt.answer, answers)


def _again(caller: Caller, stored: Any, answers: type[AnswerT]) -> AnswerT:
    """A replayed answer shows only what the caller may still see (L-20)."""
    answer = answers.model_validate(stored)
    for told in (answer, *getattr(answer, "memories", ())):
        if memory_id := getattr(told, "memory_id", ""):
            memory_for(caller, memory_id, deleted=True)
    return answer


def subject_of(caller: Caller, memory_id: str, request_id: str) -> Memory:
    """The memory a deed is about; for one that may be a repeat, also where it was deleted since (``once`` knows)."""
    return memory_for(caller, memory_id, deleted=bool(request_id))


def saved(outcome: Outcome, known: Mapping[str, Any] = NOTHING) -> SavedOut:
    """``known``: what is told beside the deed."""
    memory = outcome.memory
    return SavedOut.model_construct(
        memory_id=memory.stable_id,
        revision=memory.revision,
        path=memory.path,
        warnings=outcome.warnings,
        title=memory.title,
        slug=memory.slug,
        scope=memory.scope_id,
        project_id=memory.project_id,
        status=memory.status,
        changed=outcome.changed,
        related=known.get("related", []),
        duplicate=known.get("duplicate"),
        missing_links=known.get("missing_links", []),
    )


def first_saved(done: list[Committed]) -> SavedOut:
    return saved(done[-1].outcomes[0])


def own_memory(memory: Memory) -> Memory:
    """Curated documents are changed by curation, whoever asks (L-17)."""
    if memory.resource == Resource.CURATED:
        raise WrongResource(memory_id=memory.stable_id, resource=memory.resource)
    return memory

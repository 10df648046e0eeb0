"""Checkpoints: where work stands, in fixed fields."""

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field

from apps.base import clock
from apps.base.days import local
from apps.base.errors import Invalid
from apps.memories import checkpoint_text
from apps.memories.doors import scope_for
from apps.memories.ledger import Create, Deed, IfExists, Within, commit
from apps.memories.models import Resource
from apps.memories.schemas import CheckpointField, Important, ProjectRef, RequestId, SavedOut, ScopeRef, Title
from apps.memories.services.deeds import first_saved, once, saved
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.secrets.detection import refuse_new_secrets


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.ADDS)
def checkpoint_save(
    caller: Caller,
    *,
    title: Title | None = None,
    completed: Annotated[CheckpointField, Field(description="What is done.")] = "",
    reason: Annotated[CheckpointField, Field(description="Why it was done.")] = "",
    key_changes: Annotated[CheckpointField, Field(description="What changed, decisions too.")] = "",
    verification: Annotated[CheckpointField, Field(description="What was tested, with results.")] = "",
    problems: Annotated[CheckpointField, Field(description="What is open or broken.")] = "",
    solutions: Annotated[CheckpointField, Field(description="What solved which problem.")] = "",
    next_steps: Annotated[CheckpointField, Field(description="What to do next.")] = "",
    important: Important = False,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    request_id: RequestId = "",
) -> SavedOut:
    """Save where the work stands, so that the next session goes on from there. Fields are Markdown; at least one."""
    scope_key = scope_for(caller, scope, project_id)
    fields = {
        "completed": completed,
        "reason": reason,
        "key_changes": key_changes,
        "verification": verification,
        "problems": problems,
        "solutions": solutions,
        "next_steps": next_steps,
    }
    if not any(text.strip() for text in fields.values()):
        raise Invalid(fields={"completed": _("A checkpoint needs at least one of its fields.")})
    name = title or f"Checkpoint {local(clock.now(), caller.zone):%Y-%m-%d %H:%M}"
    body = checkpoint_text.render(fields)
    refuse_new_secrets("", f"{name}\n{body}")
    change = Create(
        title=name,
        body=body.encode(),
        resource=Resource.CHECKPOINT,
        important=important,
        if_exists=IfExists.NEW,
        action="save",
    )

    def do(within: Within | None) -> SavedOut:
        return saved(commit(caller, scope_key, [change], Deed("checkpoint_save", within=within)).outcomes[0])

    arguments = {"scope": scope_key, "title": title, "important": important, **fields}
    return once(caller, "checkpoint_save", request_id, arguments, SavedOut, do, first_saved)

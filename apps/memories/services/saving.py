"""New memories."""

from apps.base.text import nfc
from apps.memories.doors import scope_for
from apps.memories.errors import PathRefused
from apps.memories.ledger import Create, IfExists, commit
from apps.memories.schemas import (
    Body,
    IfExistsName,
    KindName,
    NewMemories,
    NewMemory,
    NoteTypeName,
    PathText,
    ProjectRef,
    RequestId,
    SavedManyOut,
    SavedOut,
    ScopeRef,
    Summary,
    Tags,
    Title,
)
from apps.memories.services.deeds import Within, first_saved, once, saved
from apps.memories.slugs import safe_path_reason
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.secrets.detection import refuse_new_secrets


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.ADDS)
def memory_save(
    caller: Caller,
    *,
    title: Title,
    body: Body,
    kind: KindName = "note",
    tags: Tags = [],  # noqa: B006 - read, never changed
    summary: Summary = "",
    note_type: NoteTypeName = "",
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    path: PathText = "",
    request_id: RequestId = "",
    if_exists: IfExistsName = IfExists.REFUSE,
) -> SavedOut:
    """Save a new memory. An existing title is never overwritten: the call is refused with its id."""
    scope_key = scope_for(caller, scope, project_id)
    item = NewMemory.model_construct(
        title=title, body=body, kind=kind, tags=tags, summary=summary, note_type=note_type, path=path
    )
    change = _create(item, if_exists)

    def do(within: Within | None) -> SavedOut:
        return saved(commit(caller, scope_key, [change], name="memory_save", within=within).outcomes[0])

    arguments = {"scope": scope_key, "if_exists": if_exists.value, **item.model_dump()}
    return once(caller, "memory_save", request_id, arguments, SavedOut, do, first_saved)


@operation(needs=Right.WRITE, answers=SavedManyOut, effect=Effect.ADDS)
def memory_save_many(
    caller: Caller,
    *,
    memories: NewMemories,
    project_id: ProjectRef = "",
    scope: ScopeRef = "",
    request_id: RequestId = "",
    if_exists: IfExistsName = IfExists.REFUSE,
) -> SavedManyOut:
    """Save many new memories as one deed: all of them or, if one is refused, none."""
    scope_key = scope_for(caller, scope, project_id)
    changes = [_create(item, if_exists) for item in memories]

    def do(within: Within | None) -> SavedManyOut:
        done = commit(caller, scope_key, changes, name="memory_save_many", within=within)
        return SavedManyOut(memories=[saved(outcome) for outcome in done.outcomes])

    arguments = {"scope": scope_key, "if_exists": if_exists.value, "memories": [item.model_dump() for item in memories]}
    return once(
        caller,
        "memory_save_many",
        request_id,
        arguments,
        SavedManyOut,
        do,
        lambda done: SavedManyOut(memories=[saved(outcome) for outcome in done[0].outcomes]),
    )


def _create(item: NewMemory, if_exists: IfExists) -> Create:
    refuse_new_secrets("", "\n".join([item.title, item.summary, *item.tags, item.body]))
    return Create(
        title=item.title,
        body=item.body.encode(),
        kind=item.kind,
        note_type=item.note_type,
        summary=item.summary,
        tags=list(dict.fromkeys(item.tags)),
        path=sound_path(item.path) if item.path else None,
        if_exists=if_exists,
    )


def sound_path(path: str) -> str:
    """A caller's own path, inside ``memories/``; in NFC, so that both Unicode forms name one file. Raises ``PathRefused``."""
    path = nfc(path)
    if reason := safe_path_reason(path):
        raise PathRefused(path=path, reason=reason)
    top = path.partition("/")[0]
    if top in ("checkpoints", "curated", "archive"):
        raise PathRefused(path=path, reason=f"the folder {top} is kept for other documents.")
    return path if top == "memories" and "/" in path else f"memories/{path}"

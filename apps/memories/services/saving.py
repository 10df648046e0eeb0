"""New memories."""

from typing import Any

from django.conf import settings

from apps.base.text import nfc
from apps.memories.doors import scope_for, scopes_around
from apps.memories.errors import PathRefused
from apps.memories.ledger import Committed, Create, Deed, IfExists, Within, commit
from apps.memories.links import key_of, links
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
    ThreadName,
    Title,
)
from apps.memories.selectors.likeness import Text, alike
from apps.memories.selectors.links import Names
from apps.memories.services.deeds import once, saved
from apps.memories.slugs import safe_path_reason
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.secrets.detection import refuse_new_secrets

MOST_LINKS = 50  # Looked up for the answer; the links themselves are all kept.


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
    thread: ThreadName = "",
) -> SavedOut:
    """Save a new memory. An existing title is never overwritten: the call is refused with its id."""
    scope_key = scope_for(caller, scope, project_id)
    item = NewMemory.model_construct(
        title=title, body=body, kind=kind, tags=tags, summary=summary, note_type=note_type, path=path, thread=thread
    )
    change = _create(item, if_exists)
    known: dict[str, Any] = {}  # What is told beside the deed, in the receipt too.

    def do(within: Within | None) -> SavedOut:
        known.update(known_of(caller, scope_key, item))
        return told(commit(caller, scope_key, [change], Deed("memory_save", within=within)))

    def told(done: Committed) -> SavedOut:
        return saved(done.outcomes[0], known)

    arguments = {"scope": scope_key, "if_exists": if_exists.value, **item.model_dump()} if request_id else {}
    return once(caller, "memory_save", request_id, arguments, SavedOut, do, lambda done: told(done[-1]))


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
        done = commit(caller, scope_key, changes, Deed("memory_save_many", within=within))
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


def known_of(caller: Caller, scope_key: str, item: NewMemory) -> dict[str, Any]:
    """What is known already beside a new memory, looked up before the write: so it does not meet itself."""
    known: dict[str, Any] = {}
    if not caller.may(Right.READ):
        return known
    if missing := missing_links(caller, scope_key, item):
        known["missing_links"] = missing
    if settings.SAVE_RELATED:
        found = alike(Text(item.title, item.body, item.summary, item.tags), scopes_around(caller, scope_key))
        if found.related:
            known["related"] = found.related
        if found.duplicate:
            known["duplicate"] = found.duplicate
    return known


def missing_links(caller: Caller, scope_key: str, item: NewMemory) -> list[str]:
    """The targets of its links that lead nowhere yet: usually names of what somebody means to write."""
    if "[[" not in item.body:
        return []
    targets = list(dict.fromkeys(link.target for link in links(item.body)))[:MOST_LINKS]
    names = Names(caller, targets, [scope_key])
    own = {key_of(item.title), key_of(item.path)} if item.path else {key_of(item.title)}
    return [target for target in targets if key_of(target) not in own and names.of(target, scope_key) is None]


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
        thread=item.thread,
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

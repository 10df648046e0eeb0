"""Changes of a memory's text and of what it says of itself."""

from collections.abc import Mapping

from django.conf import settings
from django.utils.translation import gettext as _

from apps.base.errors import Invalid
from apps.memories import documents, edits
from apps.memories.checkpoint_text import parse as parse_checkpoint
from apps.memories.errors import WrongResource
from apps.memories.frontmatter import Value, write
from apps.memories.ledger import Deed, Edit, Revert, Transform, Within, commit
from apps.memories.models import Memory, Resource
from apps.memories.reading import newest_document
from apps.memories.schemas import (
    AnyRevision,
    Body,
    KindName,
    MemoryRef,
    NoteTypeName,
    OldRevision,
    Reason,
    Replacements,
    RequestId,
    RevisionNumber,
    SavedOut,
    SectionText,
    Summary,
    Tags,
    Title,
)
from apps.memories.services.deeds import first_saved, once, own_memory, saved, subject_of
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.secrets.detection import refuse_new_secrets


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES)
def memory_update(
    caller: Caller,
    *,
    memory_id: MemoryRef,
    revision: RevisionNumber,
    body: Body | None = None,
    replace: Replacements | None = None,
    section: SectionText | None = None,
    title: Title | None = None,
    summary: Summary | None = None,
    tags: Tags | None = None,
    kind: KindName | None = None,
    note_type: NoteTypeName | None = None,
    reason: Reason = "",
    request_id: RequestId = "",
) -> SavedOut:
    """Change a memory. Give the revision you read, and one of body, replace or section, and/or other fields.

    A replacement or heading that is not found, or found twice, changes nothing.
    """
    memory = own_memory(subject_of(caller, memory_id, request_id))
    given = {"body": body, "replace": replace, "section": section}
    chosen = [name for name, value in given.items() if value is not None]
    fields = _fields(title=title, summary=summary, tags=tags, kind=kind, note_type=note_type)
    if len(chosen) > 1 or not (chosen or fields):
        raise Invalid(fields={name: _("Give exactly one of body, replace and section.") for name in chosen or given})
    transform: Transform | None = None
    if body is not None:
        text = body.encode()
        transform = lambda document: documents.with_body(document, text)  # noqa: E731
    elif replace is not None:
        pairs = [(pair.old, pair.new) for pair in replace]
        transform = _over_body(lambda old: edits.apply_replacements(old, pairs))
    elif section is not None:
        transform = _over_body(lambda old: edits.replace_section(old, section.heading, section.body))
    change = Edit(
        memory_id=memory.stable_id,
        revision=revision,
        transform=transform,
        fields=fields,
        action="update",
        reason=reason,
    )
    arguments = {
        "memory_id": memory.stable_id,
        "revision": revision,
        "body": body,
        "replace": [pair.model_dump() for pair in replace] if replace is not None else None,
        "section": section.model_dump() if section is not None else None,
        "fields": fields,
    }
    return _edit(caller, memory, change, "memory_update", request_id, arguments)


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES)
def memory_append(
    caller: Caller, *, memory_id: MemoryRef, text: Body, reason: Reason = "", request_id: RequestId = ""
) -> SavedOut:
    """Add text at the end of a memory. Needs no revision: appends of several agents all stand."""
    memory = own_memory(subject_of(caller, memory_id, request_id))
    if memory.resource == Resource.CHECKPOINT:
        raise WrongResource(memory_id=memory.stable_id, resource=memory.resource)
    if not text.strip():
        raise Invalid(fields={"text": _("This must not be empty.")})
    change = Edit(
        memory_id=memory.stable_id,
        transform=_over_body(lambda old: edits.append(old, text)),
        action="append",
        reason=reason,
    )
    arguments = {"memory_id": memory.stable_id, "text": text}
    return _edit(caller, memory, change, "memory_append", request_id, arguments)


@operation(needs=Right.WRITE, answers=SavedOut, effect=Effect.CHANGES)
def memory_revert(
    caller: Caller,
    *,
    memory_id: MemoryRef,
    to_revision: OldRevision,
    revision: AnyRevision = 0,
    reason: Reason = "",
    request_id: RequestId = "",
) -> SavedOut:
    """Make an older text the newest revision; what came between stays in the history."""
    memory = own_memory(subject_of(caller, memory_id, request_id))
    change = Revert(memory_id=memory.stable_id, number=to_revision, revision=revision or None, reason=reason)
    arguments = {"memory_id": memory.stable_id, "to_revision": to_revision, "revision": revision}

    def do(within: Within | None) -> SavedOut:
        done = commit(caller, memory.scope_id, [change], Deed("memory_revert", reason=reason, within=within))
        return saved(done.outcomes[0])

    return once(caller, "memory_revert", request_id, arguments, SavedOut, do, first_saved, subject=memory)


def _edit(
    caller: Caller, memory: Memory, change: Edit, name: str, request_id: str, arguments: Mapping[str, object]
) -> SavedOut:
    def do(within: Within | None) -> SavedOut:
        _check(memory, change)
        done = commit(caller, memory.scope_id, [change], Deed(name, reason=change.reason, within=within))
        return saved(done.outcomes[0])

    return once(caller, name, request_id, arguments, SavedOut, do, first_saved, subject=memory)


def _check(memory: Memory, change: Edit) -> None:
    """Try the edit on the text as it is, outside the transaction: secrets, size, a checkpoint's headings.

    An outside edit of the last moment is not in it; the edit itself runs again inside the transaction.
    """
    before = newest_document(memory)
    if change.revision is not None and change.revision != memory.revision:
        return  # The transaction refuses it; a text that nobody edits needs no check.
    after = change.transform(before) if change.transform else before
    after = write(after, change.fields) if change.fields else after
    text = documents.body_text(after)
    refuse_new_secrets(before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))
    if len(text) > settings.BODY_CHARACTERS:
        raise Invalid(
            fields={"body": _("This must have at most {count} characters.").format(count=settings.BODY_CHARACTERS)}
        )
    if memory.resource == Resource.CHECKPOINT and parse_checkpoint(text).broken:
        raise Invalid(
            fields={"body": _("A checkpoint keeps its headings: ## Completed, ## Reason, ## Key changes and so on.")}
        )


def _over_body(change: edits.BodyEdit) -> Transform:
    """An edit of the body as one of the whole document."""
    return lambda document: documents.with_body(document, change(documents.body_of(document)))


def _fields(
    *, title: str | None, summary: str | None, tags: list[str] | None, kind: str | None, note_type: str | None
) -> dict[str, Value | None]:
    fields: dict[str, Value | None] = {}
    if title is not None:
        fields["title"] = title
    if summary is not None:
        fields["summary"] = summary or None
    if tags is not None:
        fields["tags"] = list(dict.fromkeys(tags)) or None
    if kind is not None:
        fields["kind"] = kind
    if note_type is not None:
        fields["note_type"] = note_type or None
    return fields

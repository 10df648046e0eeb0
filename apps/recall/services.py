"""Recalling and releasing. Whatever goes wrong here, the message it was asked for goes on its way."""

import logging
from collections.abc import Sequence

from django.conf import settings
from django.db import OperationalError

from apps.base.days import local
from apps.base.errors import Denied, MemRelayError
from apps.memories.doors import searched_scopes
from apps.memories.schemas import ProjectRef
from apps.memories.scopes import global_scope
from apps.operations.caller import SHARED_PROFILE, Caller, Right
from apps.operations.operation import Effect, operation
from apps.recall import sessions
from apps.recall.block import Block, Entry, Link, render
from apps.recall.choosing import Chosen, choose
from apps.recall.haste import Deadline, OutOfTime, in_haste, never_waiting
from apps.recall.linking import links_from
from apps.recall.schemas import (
    ExcludedIds,
    IsSubagent,
    LinkedSummary,
    Message,
    MessageId,
    MessageIds,
    RecalledMemory,
    RecallOut,
    ReleasedOut,
    SessionId,
    Silence,
)

log = logging.getLogger(__name__)


@operation(needs=Right.READ, answers=RecallOut, effect=Effect.ADDS)
def memory_recall(
    caller: Caller,
    *,
    message: Message,
    session_id: SessionId,
    message_id: MessageId = "",
    project_id: ProjectRef = "",
    exclude_ids: ExcludedIds = [],  # noqa: B006 - read, never changed
    subagent: IsSubagent = False,
) -> RecallOut:
    """Find what a user's message should bring to mind, ready to lay beside it. Usually that is nothing.

    A memory comes once in a session, until recall_release frees it. It must match in title, summary or tags. A failure is
    told in ``silence`` and never as an error: send the message all the same.
    """
    if not settings.RECALL:
        return _nothing("OFF")
    if subagent:
        return _nothing("SUBAGENT")
    by = Deadline(settings.RECALL_MILLISECONDS)
    try:
        return _recall(caller, message, session_id, message_id, project_id, exclude_ids, by)
    except OutOfTime:
        return _silent("OUT_OF_TIME", by, "its time was up")
    except OperationalError as error:
        busy = "locked" in str(error) or "busy" in str(error)
        return _silent("STORE_BUSY" if busy else "OUT_OF_TIME", by, str(error))
    except Denied:
        raise  # No failure of recall: the call names a workspace that its connection is not bound to (D-22).
    except MemRelayError as error:
        return _silent("FAILED", by, error.code)
    except Exception:
        # A defect of ours. Elsewhere it would answer 500; here a user waits to send a message (OHM-063).
        log.exception("Recall failed.")
        return _nothing("FAILED")


@operation(needs=Right.READ, answers=ReleasedOut, effect=Effect.CHANGES, repeatable=True)
def recall_release(caller: Caller, *, session_id: SessionId, message_ids: MessageIds = []) -> ReleasedOut:  # noqa: B006
    """Say which messages left a session's transcript (compaction): what was recalled with them may come again.

    Without message ids all of the session is meant.
    """
    released = sessions.release(sessions.owner_of(caller), session_id, message_ids)
    return ReleasedOut(session_id=session_id, released=released)


def _recall(
    caller: Caller,
    message: str,
    session_id: str,
    message_id: str,
    project_id: str,
    exclude_ids: Sequence[str],
    by: Deadline,
) -> RecallOut:
    owner = sessions.owner_of(caller)
    with in_haste(by):
        scope_keys = _scopes(caller, project_id)
        seen = sessions.delivered(owner, session_id)
        chosen = choose(message, scope_keys, owner=owner, seen=seen, held_back=exclude_ids, by=by)
        if not chosen:
            return _nothing()
        known = {*seen, *exclude_ids, *(one.memory.stable_id for one in chosen)}
        links = links_from(caller, [one.memory for one in chosen], scope_keys, known)
    by.check()
    block = _block(caller, chosen, links)
    with never_waiting(by):
        noted = sessions.deliver(owner, session_id, message_id, list(block.shown))
    if noted != block.shown.keys():  # Another call of the session was quicker.
        chosen = [one for one in chosen if one.memory.stable_id in noted]
        block = _block(caller, chosen, links)
    return _answer(caller, chosen, block)


def _scopes(caller: Caller, project_id: str) -> list[str]:
    """Where a search would look, less other people's own spaces: an administrator sees those, and needs none of them here."""
    near = (global_scope(caller.profile), global_scope(SHARED_PROFILE))
    keys = searched_scopes(caller, "", project_id)
    return [key for key in keys if key in near or not key.startswith("global/")]


def _block(caller: Caller, chosen: Sequence[Chosen], links: Sequence[Link]) -> Block:
    entries = [
        Entry(
            memory_id=one.memory.stable_id,
            title=one.memory.title,
            kind=one.memory.kind,
            place=one.memory.scope_id,
            updated_at=local(one.memory.updated_at, caller.zone),
            summary=one.memory.summary,
            body=one.body,
            clues=one.clues,
            alike=one.alike,
            differs=one.differs,
        )
        for one in chosen
    ]
    return render(entries, links, characters=settings.RECALL_CHARACTERS)


def _answer(caller: Caller, chosen: Sequence[Chosen], block: Block) -> RecallOut:
    shown = [one for one in chosen if one.memory.stable_id in block.shown]
    return RecallOut(
        block=block.text,
        count=len(shown),
        memories=[
            RecalledMemory(
                memory_id=one.memory.stable_id,
                title=one.memory.title,
                kind=one.memory.kind,
                scope=one.memory.scope_id,
                revision=one.memory.revision,
                updated_at=local(one.memory.updated_at, caller.zone),
                score=one.score,
                complete=block.shown[one.memory.stable_id],
                alike=one.alike,
                contradicts=list(one.differs),
            )
            for one in shown
        ],
        linked=[
            LinkedSummary(memory_id=link.memory_id, title=link.title, summary=link.summary) for link in block.linked
        ],
        silence="",
    )


def _nothing(silence: Silence = "") -> RecallOut:
    return RecallOut(block="", count=0, memories=[], linked=[], silence=silence)


def _silent(silence: Silence, by: Deadline, reason: str) -> RecallOut:
    taken = settings.RECALL_MILLISECONDS - by.left * 1000
    log.warning("Recall stayed silent after %.0f ms (%s): %s.", taken, silence, reason)
    return _nothing(silence)

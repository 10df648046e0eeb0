"""Steering the embedding of all memories."""

from apps.base.errors import Denied
from apps.memories.embedding import SearchStateOut, search_state
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation
from apps.search.embedding.client import wake
from apps.search.vectors import steering


@operation(needs=Right.ADMINISTER, answers=SearchStateOut, effect=Effect.CHANGES, repeatable=True)
def embedding_rebuild(caller: Caller) -> SearchStateOut:
    """Embed all memories anew in the background, as when vectors are not to be trusted. Search goes on meanwhile."""
    _refuse_the_bound(caller)
    steering.embed_anew()
    wake()
    return search_state(caller)


@operation(needs=Right.ADMINISTER, answers=SearchStateOut, effect=Effect.CHANGES, repeatable=True)
def embedding_stop(caller: Caller) -> SearchStateOut:
    """Let embedding rest, until embedding_resume. What is embedded already is found by its meaning, the rest by words."""
    _refuse_the_bound(caller)
    steering.rest()
    return search_state(caller)


@operation(needs=Right.ADMINISTER, answers=SearchStateOut, effect=Effect.CHANGES, repeatable=True)
def embedding_resume(caller: Caller) -> SearchStateOut:
    """Go on with embedding where it was stopped."""
    _refuse_the_bound(caller)
    steering.go_on()
    wake()
    return search_state(caller)


def _refuse_the_bound(caller: Caller) -> None:
    """It concerns all workspaces, so a connection that is bound to one may not."""
    if caller.project_id:
        raise Denied(verb=Right.ADMINISTER.value)

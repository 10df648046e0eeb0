"""Deeds on the server itself."""

from apps.base.errors import Denied
from apps.instance.schemas import BellsReleased
from apps.instance.serving.bells import release_bells
from apps.operations.caller import Caller, Right
from apps.operations.operation import Effect, operation


@operation(needs=Right.ADMINISTER, answers=BellsReleased, effect=Effect.CHANGES, repeatable=True)
def bell_release(caller: Caller) -> BellsReleased:
    """Offer work again that a worker took and never finished, without waiting for its hour to pass.

    What is still being worked on is not done twice: its lease says so.
    """
    if caller.project_id is not None:
        raise Denied(verb=Right.ADMINISTER.value)
    return BellsReleased(released=release_bells())

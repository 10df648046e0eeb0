"""What django-q2 calls by dotted path, and what the keeper asks for. May run twice, may be killed anywhere."""

from django.conf import settings

from apps.base.bells import ring
from apps.leases.held import slot_key
from apps.leases.selectors import is_held
from apps.leases.services import slot
from apps.memory_git.committing import commit_root, roots_waiting
from apps.memory_git.deeds import deeds_waiting, run_deed
from apps.memory_git.switch import is_enabled

WORK = "apps.memory_git.jobs.work"
SLOT = "git"


def work() -> None:
    """Do what waits, in the slot for Git; without a free one the keeper rings again (L-28)."""
    with slot(SLOT) as held:
        if held is not None:
            work_here()


def work_here() -> None:
    """Deeds first: what they change, commits come after."""
    while True:
        if waiting := deeds_waiting():
            run_deed(waiting[0])
        elif not any([commit_root(root) for root in _roots()]):
            return


def ring_for_waiting() -> str:
    """Ring if something waits and nobody is at it; answers whether by the path that was rung."""
    if not (deeds_waiting() or _roots()):
        return ""
    if all(is_held(slot_key(SLOT, number)) for number in range(settings.SLOTS[SLOT])):
        return ""
    ring(WORK)
    return WORK


def _roots() -> list[str]:
    return roots_waiting() if is_enabled() else []

"""What django-q2 calls by dotted path, and what the keeper asks for. May run twice, may be killed anywhere."""

import logging
import threading

from django.conf import settings
from django.db import connection

from apps.base.bells import ring
from apps.base.errors import MemRelayError
from apps.leases.held import slot_key
from apps.leases.selectors import is_held
from apps.leases.services import slot
from apps.memory_git.committing.outbox import roots_waiting
from apps.memory_git.committing.passes import commit_root
from apps.memory_git.deeds import SLOT, deeds_waiting, run_deed
from apps.memory_git.mirror.binding import due
from apps.memory_git.mirror.pushing import push_or_wait
from apps.memory_git.models import MemoryRepository
from apps.memory_git.repository.maintenance import grown, maintain
from apps.memory_git.switch import is_enabled

WORK = "apps.memory_git.jobs.work"
LOOK_SECONDS = 0.3  # While something is pushed, commits are looked for this often.
logger = logging.getLogger(__name__)


def work() -> None:
    """Do what waits, in the slot for Git; without a free one the keeper rings again (L-28)."""
    with slot(SLOT) as held:
        if held is not None:
            work_here(beside=True)


def work_here(*, beside: bool = False) -> None:
    """Deeds first: what they change, commits come after; then pushes, one at a time.

    ``beside``: a push has a thread of its own, so that a slow network holds up no commit. A deed waits for its end.
    """
    pushing: threading.Thread | None = None
    while True:
        is_pushing = pushing is not None and pushing.is_alive()
        if waiting := deeds_waiting():
            if pushing is not None:
                pushing.join()
            run_deed(waiting[0])
        elif any([commit_root(root) for root in _roots()]):
            continue
        elif pushing is not None and is_pushing:
            pushing.join(LOOK_SECONDS)
        elif behind := due():
            if beside:
                pushing = threading.Thread(target=_push_beside, args=(behind[0],), name="git push")
                pushing.start()
            else:
                push_or_wait(behind[0])
        elif large := grown():
            maintain_or_wait(large)
        else:
            return


def _push_beside(repository_id: str) -> None:
    try:
        push_or_wait(repository_id)
    finally:
        connection.close()  # The thread's own.


def maintain_or_wait(repository: MemoryRepository) -> None:
    """Pack what has grown. Where that fails it is tried again after as much growth; nothing else is held up."""
    try:
        maintain(repository)
    except MemRelayError:
        logger.exception("The repository %s could not be packed.", repository.name)
        MemoryRepository.objects.filter(pk=repository.pk).update(loose=0)


def ring_for_waiting() -> str:
    """Ring if something waits and nobody is at it; answers whether by the path that was rung."""
    if not (deeds_waiting() or _roots() or due()):
        return ""
    if all(is_held(slot_key(SLOT, number)) for number in range(settings.SLOTS[SLOT])):
        return ""
    ring(WORK)
    return WORK


def _roots() -> list[str]:
    return roots_waiting() if is_enabled() else []

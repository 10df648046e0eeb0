"""What django-q2 calls by dotted path, and what the keeper asks for every few seconds. May run twice, may be killed anywhere."""

from django.conf import settings
from django.db.models import Q

from apps.base import clock
from apps.base.bells import ring
from apps.curation.models import AT_WORK, PENDING, CurationJob, State
from apps.curation.running import run
from apps.curation.switch import is_enabled
from apps.curation.work import scope_lease
from apps.leases.held import slot_key
from apps.leases.selectors import is_held
from apps.leases.services import slot
from apps.llm.schemas import ConnectionState
from apps.llm.selectors import connection_state

RUN_CURATION_JOB = "apps.curation.jobs.run_curation_job"
SLOT = "curation"
LOOKED_AT = 50
WORTH_A_TRY = (ConnectionState.AVAILABLE, ConnectionState.CHECKING)


def run_curation_job(job_id: str) -> None:
    """Work on a job in a slot for curation; without a free one the keeper rings again (L-28)."""
    with slot(SLOT) as held:
        if held is None:
            return
        run(job_id)
    ring_for_waiting()


def ring_for_waiting() -> str:
    """Ring for the oldest job whose turn it is and that nobody works on, if there is a free slot. Answers its id.

    That finds jobs whose bell was lost, whose time to be tried again has come, and those whose process died.
    """
    due = _due()
    if not due or all(is_held(slot_key(SLOT, number)) for number in range(settings.SLOTS[SLOT])):
        return ""
    for job_id, scope_key in due:
        if not is_held(scope_lease(scope_key)):
            ring(RUN_CURATION_JOB, job_id)
            return job_id
    return ""


def waiting_for_model() -> int:
    """How many jobs wait until the model is back (``settings.DEPENDENCY_WAITERS``)."""
    return CurationJob.objects.filter(state=State.WAITING_DEPENDENCY).count()


def _due() -> list[tuple[str, str]]:
    """Those at work first: their process may have died."""
    jobs = CurationJob.objects.filter(state__in=(*AT_WORK, *PENDING))
    if not jobs.exists():
        return []
    is_time = Q(next_retry_at=None) | Q(next_retry_at__lte=clock.now())
    wanted = Q(state__in=AT_WORK)
    if is_enabled():
        wanted |= Q(state=State.QUEUED) & is_time
        if connection_state() in WORTH_A_TRY:
            wanted |= Q(state=State.WAITING_DEPENDENCY) & is_time
    rows = jobs.filter(wanted).order_by("created_at", "pk").values_list("pk", "scope_key", "state")
    found = sorted(rows[:LOOKED_AT], key=lambda row: row[2] not in AT_WORK)
    return [(job_id, scope_key) for job_id, scope_key, _state in found]

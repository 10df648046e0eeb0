"""What happens here inside another room's transaction."""

from apps.base.bells import ring
from apps.curation.jobs import RUN_CURATION_JOB
from apps.curation.models import CurationJob, State
from apps.llm.errors import BudgetReached


def model_is_back(dependency: str) -> None:
    """The endpoint answers again: whatever waited for it is queued. A cap that was reached stays reached."""
    waiting = CurationJob.objects.filter(state=State.WAITING_DEPENDENCY).exclude(error_code=BudgetReached.code)
    ids = list(waiting.order_by("created_at", "pk").values_list("pk", flat=True))
    if ids:
        waiting.filter(pk__in=ids).update(state=State.QUEUED, next_retry_at=None)
        ring(RUN_CURATION_JOB, ids[0])

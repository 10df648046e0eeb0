"""The state of the instance for its operator: health, queue, leases, tokens, storage, and what failed last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django_q.models import Failure

from apps.accounts.models import McpToken
from apps.base import clock
from apps.curation.models import CurationJob
from apps.instance.dashboard import dashboard_of
from apps.leases.models import Lease
from apps.leases.owners import owner_is_alive
from apps.llm.models import ModelCall
from apps.llm.selectors import curation_model_connection_status
from apps.memories.models import FolderJob
from apps.operations.caller import Caller
from apps.operations.features import Feature, is_on

LATEST = 8
RECENT = timedelta(days=1)


@dataclass(frozen=True)
class Trouble:
    """Something that failed, and where to look at it."""

    at: datetime
    what: str
    text: str
    url: str


def state_for(caller: Caller) -> dict[str, Any]:
    """Everything the first page shows. Figures come from indexes or small tables."""
    told = dashboard_of(caller, LATEST)
    return {
        "health": told.health,
        "counts": told.counts,
        "queue": told.queue,
        "storage": told.storage,
        "attention": told.attention,
        "jobs": FolderJob.objects.order_by("-created_at")[:LATEST],
        "tokens": token_counts(),
        "leases": held_leases(),
        "troubles": latest_troubles(),
        "curation_is_on": is_on(Feature.CURATION),
        "model": curation_model_connection_status(caller),
    }


def token_counts() -> dict[str, int]:
    now = clock.now()
    usable = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))
    counted: dict[str, int] = McpToken.objects.aggregate(
        active=Count("pk", filter=usable),
        used_lately=Count("pk", filter=usable & Q(last_used_at__gte=now - RECENT)),
        never_used=Count("pk", filter=usable & Q(last_used_at=None)),
        expired=Count("pk", filter=Q(revoked_at=None, expires_at__lte=now)),
        revoked=Count("pk", filter=Q(revoked_at__isnull=False)),
    )
    return counted


def held_leases() -> list[Lease]:
    """What is being worked on now. Dead owners' leases are free, whatever the row says."""
    rows = Lease.objects.exclude(owner="").order_by("-heartbeat_at")[: LATEST * 4]
    return [lease for lease in rows if owner_is_alive(lease.owner)][:LATEST]


def latest_troubles() -> list[Trouble]:
    """The newest of what failed, whatever room it belongs to."""
    found = [*_failed_jobs(), *_failed_curations(), *_failed_calls(), *_failed_bells()]
    return sorted(found, key=lambda trouble: trouble.at, reverse=True)[:LATEST]


def _failed_jobs() -> list[Trouble]:
    rows = FolderJob.objects.filter(state=FolderJob.State.FAILED).order_by("-updated_at")[:LATEST]
    return [
        Trouble(row.updated_at, row.get_kind_display(), row.error, _page("memories_folderjob", row.pk)) for row in rows
    ]


def _failed_curations() -> list[Trouble]:
    rows = CurationJob.objects.filter(state="failed").order_by("-updated_at")[:LATEST]
    return [
        Trouble(row.updated_at, _("AI curation"), row.error or row.error_code, _page("curation_curationjob", row.pk))
        for row in rows
    ]


def _failed_calls() -> list[Trouble]:
    rows = ModelCall.objects.exclude(outcome__in=[ModelCall.RUNNING, ModelCall.DONE]).order_by("-started_at")[:LATEST]
    return [Trouble(row.started_at, _("Model call"), row.outcome, _page("llm_modelcall", row.pk)) for row in rows]


def _failed_bells() -> list[Trouble]:
    rows = Failure.objects.order_by("-stopped")[:LATEST]
    return [Trouble(row.stopped, _("Job queue"), row.func, _page("django_q_failure", row.pk)) for row in rows]


def _page(model: str, key: Any) -> str:
    return reverse(f"admin:{model}_change", args=[key])

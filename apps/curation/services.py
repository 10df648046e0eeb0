"""Curation jobs: asked for, cancelled, tried again; and the switch. Each answers at once, a worker does the work."""

from django.db import IntegrityError
from django.utils.translation import gettext as _

from apps.base import clock
from apps.base.bells import ring
from apps.base.errors import Invalid
from apps.base.ids import new_id
from apps.base.transactions import short_transaction
from apps.changes.selectors import head
from apps.curation.errors import CurationPending, NotCancellable, NotRetryable, OriginalConfigGone
from apps.curation.jobs import RUN_CURATION_JOB, ring_for_waiting
from apps.curation.models import AT_WORK, FINAL, PENDING, CurationJob, CurationSettings, State
from apps.curation.running import cursor_of
from apps.curation.schemas import (
    CurationJobOut,
    CurationJobRef,
    CurationRunOut,
    CurationSettingsOut,
    DefaultTypes,
    DocumentTypes,
    EnabledSwitch,
    Force,
    ModeName,
    OriginalConfig,
    PendingPolicy,
    ScopeName,
    StrategyName,
    WhyCurate,
)
from apps.curation.selectors import described, job_for, settings_out
from apps.curation.switch import chosen
from apps.curation.templates import DocumentKind, kinds_named, template_for
from apps.curation.work import scope_lease
from apps.leases.selectors import is_held
from apps.llm.connections import current_row
from apps.llm.errors import ModelNotConfigured
from apps.llm.selectors import is_configured
from apps.memories.schemas import ProjectRef
from apps.memories.scopes import project_scope
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature
from apps.operations.operation import UNCHANGED, Effect, operation
from apps.workspaces.errors import WorkspaceArchived
from apps.workspaces.models import Project
from apps.workspaces.selectors import project_for


@operation(needs=Right.WRITE, answers=CurationRunOut, effect=Effect.ADDS, feature=Feature.CURATION)
def curation_run(
    caller: Caller,
    *,
    project_id: ProjectRef = "",
    scope: ScopeName = "project",
    mode: ModeName = "incremental",
    source_strategy: StrategyName = "auto",
    document_types: DocumentTypes | None = None,
    reason: WhyCurate = "",
    force: Force = False,
    pending_policy: PendingPolicy | None = None,
) -> CurationRunOut:
    """Curate a workspace's documents, as a job.

    curation_status tells how far it is. Where nothing changed since the last success the job ends without asking the
    model, unless forced.
    """
    project = _project(caller, project_id)
    if project.archived_at:
        raise WorkspaceArchived(project_id=project.pk)
    types = [kind.document_type for kind in kinds_named(document_types or chosen().document_types, _template(project))]
    asked = CurationJob(
        id=new_id("cur"),
        scope_key=project_scope(project.pk),
        project_id=project.pk,
        mode=mode,
        source_strategy=source_strategy,
        document_types=types,
        reason=reason,
        force=force,
        coalesce_key=f"{project_scope(project.pk)}:{mode}",
        actor=caller.name[:120],
        profile=caller.profile,
    )
    try:
        return _asked(asked, pending_policy or ("reject" if force else "reuse"))
    except IntegrityError:  # Two asked at once, and the other one was first: now it is there to be found.
        return _asked(asked, pending_policy or ("reject" if force else "reuse"))


@operation(needs=Right.WRITE, answers=CurationJobOut, effect=Effect.CHANGES, repeatable=True)
def curation_cancel(caller: Caller, *, job_id: CurationJobRef) -> CurationJobOut:
    """Cancel a curation that waits or has not written yet. Nothing of it stays; cancelling twice does no more."""
    with short_transaction():
        job = job_for(caller, job_id)
        if job.state == State.CANCELLED or job.cancel_requested:
            return described(job)
        if job.state in FINAL:
            raise NotCancellable(job_id=job_id, state=job.get_state_display())
        if job.state in PENDING or not is_held(scope_lease(job.scope_key)):
            _cancel(job)
        else:
            job.cancel_requested = True
            job.save(update_fields=["cancel_requested"])
    return described(job)


@operation(needs=Right.WRITE, answers=CurationJobOut, effect=Effect.CHANGES, feature=Feature.CURATION)
def curation_retry(
    caller: Caller, *, job_id: CurationJobRef, use_original_config: OriginalConfig = False
) -> CurationJobOut:
    """Try a failed or cancelled curation again with the same sources and documents, by the current model connection."""
    with short_transaction():
        job = job_for(caller, job_id)
        if job.state not in (State.FAILED, State.CANCELLED):
            raise NotRetryable(job_id=job_id, state=job.get_state_display())
        if other := _pending(job.scope_key, but=job.pk):
            raise CurationPending(job_id=other[0].pk)
        if use_original_config and not _has_original_config(job):
            raise OriginalConfigGone(job_id=job_id)
        job.attempts.filter(state="interrupted").update(state="failed")  # A person asks: interruptions count anew.
        job.state, job.retries, job.next_retry_at, job.finished_at = State.QUEUED, 0, None, None
        job.error_code = job.error = job.result = ""
        job.updated_at = clock.now()
        job.save()
        ring(RUN_CURATION_JOB, job.pk)
    return described(job)


@operation(needs=Right.ADMINISTER, answers=CurationSettingsOut, effect=Effect.CHANGES, repeatable=True)
def curation_settings_update(
    caller: Caller, *, enabled: EnabledSwitch = UNCHANGED, document_types: DefaultTypes = UNCHANGED
) -> CurationSettingsOut:
    """Switch AI curation on or off, and choose the documents it writes by default. What is left out stays as it is.

    It can be switched on once a model is connected. Switched off, no curation begins; what is there stays readable.
    """
    if enabled is True and not is_configured():
        raise ModelNotConfigured()
    with short_transaction():
        row = CurationSettings.objects.filter(pk=1).first() or CurationSettings()
        row.enabled = row.enabled if enabled is UNCHANGED else enabled
        row.document_types = row.document_types if document_types is UNCHANGED else list(dict.fromkeys(document_types))
        row.revision += 1
        row.updated_at, row.updated_by = clock.now(), caller.name[:120]
        row.save()
    ring_for_waiting()
    return settings_out()


def _project(caller: Caller, project_id: str) -> Project:
    named = project_id or caller.project_id
    if not named:
        raise Invalid(fields={"project_id": _("Name the workspace to curate.")})
    return project_for(caller, named)


def _template(project: Project) -> tuple[DocumentKind, ...]:
    return template_for(project.workspace_type)


def _asked(asked: CurationJob, policy: str) -> CurationRunOut:
    """The job that answers the request: a new one, or the one that waits already (CUR-074 to CUR-077)."""
    with short_transaction():
        waiting = _pending(asked.scope_key)
        if waiting and policy == "reject":
            raise CurationPending(job_id=waiting[0].pk)
        if waiting and policy == "reuse":
            best = next((job for job in waiting if job.mode in (asked.mode, "full")), waiting[0])
            _merged(best, asked)
            ring(RUN_CURATION_JOB, best.pk)
            return _run_out(best, reused=True)
        for job in waiting:
            _cancel(job, result="replaced")
        asked.start_cursor, asked.end_cursor = cursor_of(asked.scope_key), head()
        asked.save(force_insert=True)
        ring(RUN_CURATION_JOB, asked.pk)
    return _run_out(asked, reused=False)


def _pending(scope_key: str, *, but: str = "") -> list[CurationJob]:
    jobs = CurationJob.objects.filter(scope_key=scope_key, state__in=PENDING).exclude(pk=but)
    return list(jobs.order_by("created_at", "pk"))


def _merged(waiting: CurationJob, asked: CurationJob) -> None:
    """The waiting job does what is asked for as well; where the range begins and ends its attempt finds out."""
    both = {*waiting.document_types, *asked.document_types}
    waiting.document_types = [kind.document_type for kind in template_for("") if kind.document_type in both]
    if asked.mode == "full" and waiting.mode != "full":
        waiting.mode, waiting.coalesce_key = "full", asked.coalesce_key
    waiting.force = waiting.force or asked.force
    waiting.triggers += 1
    waiting.end_cursor = head()
    if waiting.state == State.QUEUED:
        waiting.next_retry_at = None  # Somebody waits for it: no further pause.
    waiting.updated_at = clock.now()
    waiting.save()


def cancel_all_of(scope_key: str) -> None:
    """Cancel what waits or works on a scope that ends, inside the caller's transaction."""
    for job in CurationJob.objects.filter(scope_key=scope_key, state__in=(*PENDING, *AT_WORK)):
        if job.state in AT_WORK and is_held(scope_lease(scope_key)):
            CurationJob.objects.filter(pk=job.pk).update(cancel_requested=True)
        else:
            _cancel(job)


def _cancel(job: CurationJob, *, result: str = "") -> None:
    now = clock.now()
    job.state, job.phase, job.result, job.cancel_requested = State.CANCELLED, "", result, False
    job.finished_at = job.updated_at = now
    job.save()
    job.attempts.filter(state="running").update(state="cancelled", ended_at=now)


def _has_original_config(job: CurationJob) -> bool:
    first = job.attempts.order_by("number").first()
    row = current_row()
    return first is not None and row is not None and row.revision == first.connection_revision


def _run_out(job: CurationJob, *, reused: bool) -> CurationRunOut:
    return CurationRunOut(
        job_id=job.pk,
        state=job.state,
        reused=reused,
        scope=job.scope_key,
        project_id=job.project_id,
        mode=job.mode,
        source_strategy=job.source_strategy,
        document_types=job.document_types,
    )

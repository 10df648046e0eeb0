"""Curation as callers read it: jobs, history, documents with their sources. Reading goes on while curation is off."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db.models import Count, F, Q, QuerySet, Sum
from django.utils.translation import gettext as _

from apps.base.days import bound
from apps.base.errors import Invalid
from apps.base.paging import cursor_of, position_of
from apps.curation.errors import DocumentUnknown, JobUnknown
from apps.curation.material import standing
from apps.curation.models import (
    AT_WORK,
    PENDING,
    CuratedDocument,
    CuratedSource,
    CurationAttempt,
    CurationCursor,
    CurationJob,
    State,
)
from apps.curation.schemas import (
    AttemptOut,
    CurationHistoryOut,
    CurationJobOut,
    CurationJobRef,
    CurationQueue,
    CurationSettingsOut,
    CurationStatusOut,
    DocumentChange,
    DocumentItem,
    DocumentListOut,
    DocumentOut,
    DocumentRef,
    DocumentSource,
    DocumentTypeName,
    IncludeSources,
    JobOrNone,
    OldDocumentRevision,
    StartedAfter,
    StateFilter,
    TriggerFilter,
    Usage,
)
from apps.curation.switch import chosen, is_enabled
from apps.curation.templates import DOCUMENT_TYPES, GENERAL
from apps.llm.selectors import connection_state, is_configured
from apps.memories import documents
from apps.memories.doors import memory_for, scope_for
from apps.memories.errors import MemoryUnknown, RevisionUnknown
from apps.memories.models import Memory, MemoryRevision, Resource, Status
from apps.memories.reading import current
from apps.memories.schemas import ProjectRef
from apps.memories.scopes import may_see, project_scope
from apps.operations.caller import Caller, Right
from apps.operations.operation import operation
from apps.operations.words import Cursor, PageLimit
from apps.workspaces.selectors import projects_for

MOST_JOBS, MOST_DOCUMENTS = 50, 500
TYPE_OF_PATH = {kind.path: kind.document_type for kind in GENERAL}
ORDER = {document_type: place for place, document_type in enumerate(DOCUMENT_TYPES)}


def job_for(caller: Caller, job_id: str) -> CurationJob:
    """The only door to a job. Raises ``JobUnknown`` where the caller may not see its scope."""
    job = CurationJob.objects.filter(pk=job_id).first()
    if job is None or not may_see(caller, job.scope_key):
        raise JobUnknown(job_id=job_id)
    return job


def document_for(caller: Caller, reference: str) -> Memory:
    """The only door to a document."""
    try:
        return memory_for(caller, reference, resources=(Resource.CURATED,))
    except MemoryUnknown:
        raise DocumentUnknown(document=reference) from None


@operation(needs=Right.READ, answers=CurationStatusOut)
def curation_status(caller: Caller, *, job_id: JobOrNone = "", project_id: ProjectRef = "") -> CurationStatusOut:
    """Say how a curation job is doing, or without job_id how curation as a whole is: queue, running jobs, model."""
    jobs = _jobs_of(caller, project_id)
    queue = _queue(jobs)
    shown = [] if job_id else list(jobs.filter(state__in=(*PENDING, *AT_WORK)).order_by("created_at", "pk")[:MOST_JOBS])
    success = jobs.filter(state=State.COMPLETED).order_by("-finished_at").values_list("finished_at", flat=True)
    return CurationStatusOut(
        enabled=is_enabled(),
        model=connection_state().value,
        queue=queue,
        jobs=[described(job) for job in shown],
        job=described(job_for(caller, job_id), attempts=True) if job_id else None,
        last_success_at=success.first(),
    )


@operation(needs=Right.READ, answers=CurationJobOut)
def curation_job_get(caller: Caller, *, job_id: CurationJobRef) -> CurationJobOut:
    """Read one curation job: phase, progress, sources, cost, attempts, error and what it wrote."""
    return described(job_for(caller, job_id), attempts=True)


@operation(needs=Right.READ, answers=CurationHistoryOut)
def curation_history(
    caller: Caller,
    *,
    project_id: ProjectRef = "",
    status: StateFilter = "any",
    trigger: TriggerFilter = "any",
    started_after: StartedAfter = "",
    limit: PageLimit = 20,
    cursor: Cursor = "",
) -> CurationHistoryOut:
    """List curation jobs, newest first: what each covered, wrote, left out and cost, with the model and prompt it used."""
    jobs = _jobs_of(caller, project_id)
    if status != "any":
        jobs = jobs.filter(state=status)
    if trigger != "any":
        jobs = jobs.filter(trigger=trigger)
    if since := bound(started_after, caller.zone, "started_after"):
        jobs = jobs.filter(created_at__gt=since)
    if cursor:
        stamp, key = position_of(cursor, str, str)
        jobs = _older(jobs, stamp, key)
    page = list(jobs.prefetch_related("attempts").order_by("-created_at", "-pk")[: limit + 1])
    last = page[limit - 1] if len(page) > limit else None
    return CurationHistoryOut(
        jobs=[described(job, attempts=True) for job in page[:limit]],
        next_cursor=cursor_of(last.created_at.isoformat(), last.pk) if last else "",
    )


@operation(needs=Right.READ, answers=DocumentListOut)
def curated_document_list(caller: Caller, *, project_id: ProjectRef = "") -> DocumentListOut:
    """List the curated documents of a workspace, or of all you see: when each was written, from how much, by which model."""
    rows = Memory.objects.filter(resource=Resource.CURATED, status=Status.ACTIVE)
    if project_id or caller.project_id:
        rows = rows.filter(scope=scope_for(caller, "project", project_id))
    else:
        rows = rows.filter(scope_id__in=_visible(caller))
    found = list(rows.order_by("scope_id", "path")[:MOST_DOCUMENTS])
    return DocumentListOut(documents=sorted(items(found), key=_in_order))


@operation(needs=Right.READ, answers=DocumentOut)
def curated_document_get(
    caller: Caller,
    *,
    document_id: DocumentRef = "",
    project_id: ProjectRef = "",
    document_type: DocumentTypeName = "",
    revision: OldDocumentRevision | None = None,
    include_sources: IncludeSources = False,
) -> DocumentOut:
    """Read a curated document: the newest text, or an older revision; with include_sources also what it was made of."""
    memory = _meant(caller, document_id, project_id, document_type)
    if revision is None or revision == memory.revision:
        read = current(memory)
        memory, document, number = read.memory, read.document, read.memory.revision
    else:
        document, number = _document_of(memory, revision), revision
    (item,) = items([memory])
    return DocumentOut(
        **{**item.model_dump(), "revision": number},
        current_revision=memory.revision,
        body=documents.body_text(document),
        sources=_sources(memory, number) if include_sources else [],
    )


@operation(needs=Right.READ, answers=CurationSettingsOut)
def curation_settings_get(caller: Caller) -> CurationSettingsOut:
    """Read whether AI curation is on, and which documents it writes by default."""
    return settings_out()


def settings_out() -> CurationSettingsOut:
    row = chosen()
    return CurationSettingsOut(
        enabled=row.enabled,
        active=is_enabled(),
        model_configured=is_configured(),
        document_types=row.document_types or list(DOCUMENT_TYPES),
        known_document_types=list(DOCUMENT_TYPES),
        revision=row.revision,
        updated_at=row.updated_at if row.revision else None,
        updated_by=row.updated_by,
    )


def described(job: CurationJob, *, attempts: bool = False) -> CurationJobOut:
    """A job as callers meet it."""
    return CurationJobOut(
        job_id=job.pk,
        scope=job.scope_key,
        forced=job.force,
        documents=[DocumentChange.model_validate(change) for change in job.changes],
        usage=Usage(**{name: getattr(job, name) for name in Usage.model_fields}),
        attempts=[_attempt(attempt) for attempt in job.attempts.all()] if attempts else [],
        **{name: getattr(job, name) for name in _PLAIN_FIELDS},
    )


_PLAIN_FIELDS = CurationJobOut.model_fields.keys() - {"job_id", "scope", "forced", "documents", "usage", "attempts"}


def _attempt(attempt: CurationAttempt) -> AttemptOut:
    names = AttemptOut.model_fields.keys() - {"connection"}
    return AttemptOut(connection=attempt.connection_name, **{name: getattr(attempt, name) for name in names})


def _visible(caller: Caller) -> list[str]:
    """The scopes of the workspaces that a caller sees."""
    return [project_scope(pk) for pk in projects_for(caller).values_list("pk", flat=True)]


def _jobs_of(caller: Caller, project_id: str) -> QuerySet[CurationJob]:
    if project_id or caller.project_id:
        return CurationJob.objects.filter(scope_key=scope_for(caller, "project", project_id))
    return CurationJob.objects.filter(scope_key__in=_visible(caller))


def _queue(jobs: QuerySet[CurationJob]) -> CurationQueue:
    pending = jobs.filter(state__in=PENDING)
    told = pending.aggregate(
        waiting=Count("pk"), triggers=Sum("triggers"), model=Count("pk", filter=Q(state=State.WAITING_DEPENDENCY))
    )
    return CurationQueue(
        waiting=told["waiting"],
        waiting_for_model=told["model"],
        running=jobs.filter(state__in=AT_WORK).count(),
        merged_triggers=(told["triggers"] or 0) - told["waiting"],
        slots=settings.SLOTS["curation"],
    )


def _older(jobs: QuerySet[CurationJob], stamp: str, key: str) -> QuerySet[CurationJob]:
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        raise Invalid(fields={"cursor": _("This is no cursor of this list.")}) from None
    return jobs.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=key))


def _meant(caller: Caller, document_id: str, project_id: str, document_type: str) -> Memory:
    if document_id:
        return document_for(caller, document_id)
    if not document_type:
        raise Invalid(fields={"document_id": _("Name a document, or a workspace and the type of its document.")})
    scope = scope_for(caller, "project", project_id)
    found = Memory.objects.filter(scope=scope, resource=Resource.CURATED, status=Status.ACTIVE)
    paths = [path for path, name in TYPE_OF_PATH.items() if name == document_type]
    memory = found.filter(Q(curated__document_type=document_type) | Q(path__in=paths)).first()
    if memory is None:
        raise DocumentUnknown(document=document_type)
    return memory


def _document_of(memory: Memory, revision: int) -> bytes:
    row = MemoryRevision.objects.filter(memory=memory, number=revision).first()
    if row is None:
        raise RevisionUnknown(memory_id=memory.stable_id, revision=revision)
    return bytes(row.document)


def items(memories: Iterable[Memory]) -> list[DocumentItem]:
    """Documents with what curation knows of them; one that it knows nothing of (rebuilt from files) is listed too."""
    memories = list(memories)
    known = {row.memory_id: row for row in CuratedDocument.objects.filter(memory__in=memories)}
    made_of = _made_of(known.values())
    gone = gone_sources(source for sources in made_of.values() for source in sources)
    return [_item(memory, known.get(memory.pk), made_of[memory.pk], gone) for memory in memories]


def gone_sources(ids: Iterable[str]) -> set[str]:
    """Those of these sources that nobody may read any more."""
    wanted = set(ids)
    there = Memory.objects.filter(stable_id__in=wanted, status=Status.ACTIVE, withheld=False)
    return wanted - set(there.values_list("stable_id", flat=True))


def stale_documents(memories: Iterable[Memory]) -> set[str]:
    """Ids of the documents that were made of something that is gone since."""
    return {item.document_id for item in items(memories) if item.stale}


def _item(memory: Memory, row: CuratedDocument | None, sources: list[str], gone: set[str]) -> DocumentItem:
    return DocumentItem(
        document_id=memory.stable_id,
        document_type=row.document_type if row else TYPE_OF_PATH.get(memory.path, ""),
        title=memory.title,
        scope=memory.scope_id,
        project_id=memory.project_id,
        path=memory.path,
        revision=memory.revision,
        updated_at=memory.updated_at,
        source_count=len(sources),
        stale=not gone.isdisjoint(sources),
        edited=row is not None and row.written_revision != memory.revision,
        model=row.model if row else "",
        prompt_version=row.prompt_version if row else "",
        job_id=row.job_id if row else None,
    )


def _made_of(rows: Iterable[CuratedDocument]) -> dict[int, list[str]]:
    """The sources of the text that curation wrote last, by document."""
    found: dict[int, list[str]] = defaultdict(list)
    sources = CuratedSource.objects.filter(document__in=list(rows), revision=F("document__written_revision"))
    for document, source in sources.values_list("document_id", "source_id"):
        found[document].append(source)
    return found


def _sources(memory: Memory, revision: int) -> list[DocumentSource]:
    """What this revision was made of; of a person's own revision, what the one before it was made of."""
    rows = CuratedSource.objects.filter(document_id=memory.pk, revision__lte=revision)
    newest = rows.order_by("-revision").values_list("revision", flat=True).first()
    made_of = list(rows.filter(revision=newest or 0).order_by("source_id"))
    there = standing(memory.scope_id, [row.source_id for row in made_of])
    return [_source(row, there.get(row.source_id)) for row in made_of]


def _source(row: CuratedSource, memory: Memory | None) -> DocumentSource:
    state = "gone" if memory is None else "current" if memory.revision == row.source_revision else "changed"
    return DocumentSource(
        source_id=row.source_id,
        resource=row.resource,
        title=memory.title if memory else "",
        revision=row.source_revision,
        state=state,
    )


def _in_order(item: DocumentItem) -> tuple[str, int, str]:
    return item.scope, ORDER.get(item.document_type, len(ORDER)), item.path


def success_cursors(scope_keys: Iterable[str]) -> dict[str, CurationCursor]:
    """Up to where the documents of these scopes know everything."""
    return {cursor.scope_key: cursor for cursor in CurationCursor.objects.filter(scope_key__in=list(scope_keys))}


def place_in_template(memory: Memory) -> tuple[int, str]:
    """Where a document stands among those of its workspace."""
    return ORDER.get(TYPE_OF_PATH.get(memory.path, ""), len(ORDER)), memory.path

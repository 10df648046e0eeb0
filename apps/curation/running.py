"""A job from its claim to its end: collect, ask, check, apply. Killed anywhere, it is begun anew by whoever finds it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.conf import settings

from apps.base import clock
from apps.base.errors import MemRelayError
from apps.base.faults import fault
from apps.base.transactions import outside_transactions, short_transaction
from apps.changes.selectors import head
from apps.curation.answers import SCHEMA_VERSION, Curation
from apps.curation.applying import Cited, Write, apply
from apps.curation.baseline import Baseline, baselines
from apps.curation.checking import Checked, Draft, checked
from apps.curation.errors import AnswerRejected, Cancelled, GaveUp
from apps.curation.language import OTHER, main_language
from apps.curation.material import changed_since, standing
from apps.curation.models import (
    AT_WORK,
    PENDING,
    CurationAttempt,
    CurationCursor,
    CurationJob,
    State,
)
from apps.curation.prompting import ANY, cost_of_documents, instructions_for, prompt_for
from apps.curation.prompts import PROMPT_VERSION
from apps.curation.switch import is_enabled
from apps.curation.templates import kinds_named, template_for
from apps.curation.work import MOST_WARNINGS, Work, scope_lease, usage_of
from apps.leases.errors import LeaseLost
from apps.leases.held import Held
from apps.leases.selectors import check_attempt
from apps.leases.services import holding
from apps.llm.calls import day_begins
from apps.llm.errors import Consequence, ModelContextTooLong, ModelError, ModelOutputInvalid
from apps.llm.port import ModelAnswer, ModelRequest, OpenConnection, Purpose, generate, open_connection, room_for
from apps.memories.errors import RevisionConflict
from apps.memories.scopes import project_scope
from apps.sources.gathering import gather
from apps.sources.material import Gathered, LeftOut, Source, Uncovered
from apps.workspaces.models import Project

PURPOSE = "curation"
RETRIES = 3  # Of a job, after its first attempt (D-13).
INTERRUPTIONS = 5
LOCAL_SECONDS = 30  # Until a local thing that was busy is looked at again.
MODEL_SECONDS = 60  # Until the keeper looks again at a job that waits; a recovered connection wakes it at once.
LEAST_SOURCES = 500  # Tokens of sources in a request, however large the documents are.
logger = logging.getLogger(__name__)


@outside_transactions
def run(job_id: str) -> bool:
    """Work on a job if there is something to do and nobody else does. False where it has to wait its turn."""
    job = CurationJob.objects.filter(pk=job_id).first()
    if job is None or not is_due(job):
        return False
    with holding(scope_lease(job.scope_key), kind="curation") as held:
        if held is None:
            return False
        try:
            work = _begin(job_id, held)
        except MemRelayError:
            logger.warning("The curation %s was taken over by another process.", job_id)
            return False
        if work is not None:
            _carried_out(work)
    return True


def is_due(job: CurationJob) -> bool:
    """Whether it is a job's turn. Switched off, none is begun; one at work is carried to its end all the same."""
    if job.state in PENDING:
        return is_enabled() and (job.next_retry_at is None or job.next_retry_at <= clock.now())
    return job.state in AT_WORK


def _begin(job_id: str, held: Held) -> Work | None:
    """Claim it: an attempt with a number of its own. None where nothing is left to do."""
    with short_transaction():
        check_attempt(held.key, held.attempt)
        job = CurationJob.objects.get(pk=job_id)
        if not is_due(job):
            return None
        now = clock.now()
        left = job.attempts.filter(state=CurationAttempt.State.RUNNING)
        left.update(state=CurationAttempt.State.INTERRUPTED, ended_at=now)
        if job.cancel_requested:  # Its process died before it could.
            job.state, job.cancel_requested, job.finished_at, job.updated_at = State.CANCELLED, False, now, now
            job.save()
            return None
        job.attempt += 1
        job.state, job.phase, job.started_at, job.updated_at = State.COLLECTING, "collecting", now, now
        job.next_retry_at, job.batch, job.batches, job.seconds_waited = None, 0, 0, 0
        job.error_code = job.error = ""
        job.warnings = []
        job.start_cursor = cursor_of(job.scope_key)
        job.end_cursor = head()
        job.save()
        attempt = job.attempts.create(number=job.attempt, prompt_version=PROMPT_VERSION, schema_version=SCHEMA_VERSION)
    return Work(job, attempt, held)


def cursor_of(scope_key: str) -> int:
    """Up to which change the scope's documents know everything; 0 before the first success."""
    return CurationCursor.objects.filter(pk=scope_key).values_list("sequence", flat=True).first() or 0


def _carried_out(work: Work) -> None:
    """One attempt, and what becomes of the job after it."""
    try:
        try:
            interrupted = work.job.attempts.filter(state=CurationAttempt.State.INTERRUPTED).count()
            if interrupted > INTERRUPTIONS:
                raise GaveUp(count=interrupted)
            _once(work)
        except MemRelayError as error:
            if isinstance(error, LeaseLost):
                raise
            logger.info("The curation %s ended its attempt %s: %s", work.job.pk, work.attempt.number, error.code)
            _put_down(work, error)
        except Cancelled:
            work.cancel()
    except LeaseLost:
        logger.warning("The curation %s was taken over by another process.", work.job.pk)


def _put_down(work: Work, error: MemRelayError) -> None:
    job, now = work.job, clock.now()
    consequence = error.consequence if isinstance(error, ModelError) else None
    if consequence is Consequence.PAUSE:
        work.wait(error, day_begins() + timedelta(days=1))
    elif consequence in (Consequence.WAIT, Consequence.CONFIGURE):
        work.wait(error, now + timedelta(seconds=MODEL_SECONDS))
    elif isinstance(error, AnswerRejected | ModelOutputInvalid | ModelContextTooLong | RevisionConflict):
        if job.retries < RETRIES:
            work.try_again(error, _next_try(now, job.retries), counts=True)
        else:
            work.fail(error)
    elif error.retryable:
        work.try_again(error, now + timedelta(seconds=LOCAL_SECONDS), counts=False)
    else:
        work.fail(error)


def _next_try(now: datetime, retries: int) -> datetime:
    return now + timedelta(seconds=settings.CURATION_RETRY_SECONDS * 2**retries)


def _once(work: Work) -> None:
    """The whole way once; a document that somebody edited meanwhile is read anew and curated once more (CUR-061)."""
    connection = open_connection()
    _snapshot(work, connection)
    try:
        _curated(work, connection)
    except RevisionConflict:
        work.enter(State.COLLECTING, "collecting", end_cursor=head())
        _curated(work, connection)


def _snapshot(work: Work, connection: OpenConnection) -> None:
    """What this attempt works with, whatever is saved meanwhile (CUR-024); the token is no part of it."""
    work.attempt.connection_revision, work.attempt.connection_name = connection.revision, connection.name
    work.attempt.protocol, work.attempt.model = connection.protocol, connection.text_model
    work.attempt.budgets = {
        "max_input_tokens": connection.max_input_tokens,
        "max_output_tokens": connection.max_output_tokens,
        "context_tokens": connection.context_tokens,
        "source_share": 1 / 2**work.job.retries,
    }
    work.attempt.save()


def _curated(work: Work, connection: OpenConnection) -> None:
    job = work.job
    kinds = kinds_named(job.document_types, template_for(_workspace_type(job)))
    before = baselines(job.scope_key, kinds)
    since = _since(job, before)
    if since is None:
        apply(work, [], model={}, told={})
        return
    folding = Folding(work, connection, before)
    folding.read(since)
    fault("after-model")
    work.enter(State.APPLYING, "applying")
    model = {"connection": connection.name, "model": connection.text_model, "prompt_version": PROMPT_VERSION}
    writes = [_write(draft, before, folding.cited) for draft in folding.drafts.values()]
    apply(work, writes, model=model, told=folding.told)


def _since(job: CurationJob, before: Sequence[Baseline]) -> int | None:
    """From which change on to read; None where nothing changed since the last success and nobody insists."""
    changed = changed_since(job.scope_key, job.start_cursor, job.end_cursor)
    if not (changed or job.force or job.mode == "full"):
        return None
    begins_anew = job.mode == "full" or not changed or not all(baseline.is_there for baseline in before)
    return 0 if begins_anew else job.start_cursor


def _workspace_type(job: CurationJob) -> str:
    if job.project_id is None or job.scope_key != project_scope(job.project_id):
        return ""
    return Project.objects.values_list("workspace_type", flat=True).filter(pk=job.project_id).first() or ""


class Folding:
    """The sources batch by batch, each over the documents that the batch before led to; written is what the last leaves.

    Every source of the range is read before anything is written, so that the cursor never passes one (CUR-064).
    """

    def __init__(self, work: Work, connection: OpenConnection, before: Sequence[Baseline]) -> None:
        self.work, self.connection = work, connection
        self.cited: dict[str, Cited] = {}
        self.slugs: dict[str, str] = {}
        self.drafts: dict[str, Draft] = {}
        self.told: dict[str, Any] = {"change_summary": "", "conflicts": [], "warnings": []}
        self.before = list(before)
        self.standing = [self._still_citing(baseline) for baseline in before]
        self.language: str | None = None

    def read(self, since: int) -> None:
        """Read the whole range and ask the model about each batch of it."""
        job, cursor, left_out = self.work.job, since, []
        for batch in count(1):
            gathered = gather(job.scope_key, since=cursor, until=job.end_cursor, budget_tokens=self._budget())
            cursor = gathered.cursor
            left_out += [told for told in gathered.uncovered if told.reason is not LeftOut.OVER_BUDGET]
            read = job.sources_read * (batch > 1) + len(gathered.sources)
            further = -(-gathered.waiting // max(1, len(gathered.sources)))
            self.told["warnings"] = [*self.told["warnings"], *gathered.redactions][:MOST_WARNINGS]
            self.work.enter(
                State.RUNNING,
                "asking",
                batch=batch,
                batches=batch + further,
                seconds_waited=0,
                sources_read=read,
                sources_skipped=len(left_out),
                uncovered=[_told(one) for one in left_out[:MOST_WARNINGS]],
            )
            removed = self._removed(gathered)
            if gathered.sources or removed:
                self._take(self._asked(gathered.sources, removed))
            if gathered.is_complete:
                return

    def _asked(self, sources: Sequence[Source], removed: Sequence[str]) -> Checked:
        self._know(sources)
        texts = [*(baseline.body for baseline in self.standing), *(source.text for source in sources)]
        self.language = self.language or main_language(texts)
        prompt = prompt_for(PROMPT_VERSION, self.standing, sources, removed, language=self.language, slugs=self.slugs)
        request = ModelRequest(
            Purpose(PURPOSE, self.work.job.scope_key, self.work.job.pk, PROMPT_VERSION),
            prompt.instructions,
            prompt.content,
            Curation,
            repair=True,
        )
        answer = generate(request, connection=self.connection, while_waiting=self.work.look_around)
        self._note_protocol(answer)
        self.work.note(phase="checking", **usage_of(self.work.job.pk))
        citable = {source.id for source in sources} | {one for baseline in self.standing for one in baseline.sources}
        return checked(
            answer.value,
            [baseline.kind for baseline in self.standing],
            {source: slug for source, slug in self.slugs.items() if source in citable},
            language=self.language,
            boundary=prompt.boundary.nonce,
        )

    def _take(self, told: Checked) -> None:
        self.drafts |= {draft.kind.document_type: draft for draft in told.drafts}
        self.standing = [self._as_drafted(baseline) for baseline in self.standing]
        self.told["change_summary"] = "\n".join(filter(None, [self.told["change_summary"], *told.change_summary]))
        self.told["conflicts"] = [*self.told["conflicts"], *told.conflicts][:MOST_WARNINGS]
        self.told["warnings"] = [*self.told["warnings"], *told.warnings][:MOST_WARNINGS]

    def _note_protocol(self, answer: ModelAnswer[Curation]) -> None:
        """The one that was really spoken, where the connection leaves it open."""
        self.work.attempt.protocol = answer.protocol
        self.work.attempt.save(update_fields=["protocol"])

    def _budget(self) -> int:
        """What a batch of sources may cost; half of it after each attempt that failed."""
        kinds = [baseline.kind for baseline in self.standing]
        instructions = instructions_for(PROMPT_VERSION, kinds, self.language or OTHER, ANY)
        room = room_for(self.connection, instructions, Curation) - cost_of_documents(self.standing)
        return max(LEAST_SOURCES, min(room, settings.SOURCE_TOKENS) // 2**self.work.job.retries)

    def _know(self, sources: Sequence[Source]) -> None:
        """From here on these may be cited."""
        self.cited |= {source.id: Cited(source.id, source.revision, source.kind) for source in sources}
        rows = standing(self.work.job.scope_key, [source.id for source in sources])
        self.slugs |= {source: row.slug for source, row in rows.items()}

    def _removed(self, gathered: Gathered) -> list[str]:
        """What the documents were made of and is gone, so that they stop telling it."""
        made_of = {source for baseline in self.before for source in baseline.sources}
        return [gone.id for gone in gathered.gone if gone.id in made_of]

    def _still_citing(self, baseline: Baseline) -> Baseline:
        """The document with those of its sources that are still there: no other may be cited again."""
        rows = standing(self.work.job.scope_key, baseline.sources)
        self.slugs |= {source: row.slug for source, row in rows.items()}
        kept = {source: revision for source, revision in baseline.sources.items() if source in rows}
        self.cited |= {source: Cited(source, kept[source], rows[source].resource) for source in kept}
        return replace(baseline, sources=kept)

    def _as_drafted(self, baseline: Baseline) -> Baseline:
        """The document as the next batch finds it."""
        draft = self.drafts.get(baseline.kind.document_type)
        if draft is None:
            return baseline
        sources = {source: self.cited[source].revision for source in draft.source_ids}
        return replace(baseline, title=draft.title, body=draft.body, sources=sources)


def _told(left_out: Uncovered) -> dict[str, str]:
    return {"source_id": left_out.id, "title": left_out.title, "reason": left_out.reason.value}


def _write(draft: Draft, before: Sequence[Baseline], cited: Mapping[str, Cited]) -> Write:
    baseline = next(each for each in before if each.kind == draft.kind)
    return Write(draft, baseline, [cited[source] for source in draft.source_ids])

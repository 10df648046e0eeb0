"""The apply: every document of a job in one operation of the ledger, and everything else in its transaction (L-13)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.base import clock
from apps.base.transactions import short_transaction
from apps.curation.baseline import Baseline
from apps.curation.checking import Draft
from apps.curation.models import CuratedDocument, CuratedSource, CurationCursor, CurationJob
from apps.curation.work import Work
from apps.memories import documents
from apps.memories.frontmatter import Value
from apps.memories.ledger import Change, Committed, Create, Deed, Edit, Outcome, Recording, Restore, commit
from apps.memories.models import Memory, Resource
from apps.memories.scopes import project_scope
from apps.operations.caller import ALL_RIGHTS, Caller, CallerKind, Origin
from apps.workspaces.models import Project

OPERATION = "curation_apply"


@dataclass(frozen=True)
class Cited:
    """A source as a document cites it."""

    source_id: str
    revision: int
    resource: str


@dataclass(frozen=True)
class Write:
    """One document to be written, over what was read of it."""

    draft: Draft
    baseline: Baseline
    sources: Sequence[Cited]

    @property
    def is_change(self) -> bool:
        """A text that is there already makes no revision (CUR-069)."""
        before = self.baseline
        return not before.is_there or (before.title, before.body.strip(), set(before.sources)) != (
            self.draft.title,
            self.draft.body.strip(),
            {cited.source_id for cited in self.sources},
        )


@dataclass(frozen=True, kw_only=True)
class CreateDocument(Create):
    """A first revision. The slug is kept for it (L-16), unless somebody had it before it was."""

    def apply(self, recording: Recording) -> Outcome:
        slug = recording.names.free_slug(self.slug or "", curated=True)
        return Create(**{**vars(self), "slug": slug}).apply(recording)


def curator(job: CurationJob) -> Caller:
    """Who writes: curation itself. A workspace's documents are everybody's, whoever asked for them."""
    return Caller("curation", CallerKind.JOB, Origin.CURATION, ALL_RIGHTS, project_id=job.project_id)


def apply(work: Work, writes: Sequence[Write], *, model: Mapping[str, str], told: Mapping[str, object]) -> None:
    """Write the documents and end the job, together or not at all. ``told`` are further fields of the job.

    Raises ``RevisionConflict`` where a document changed since it was read, ``LeaseLost`` or ``Cancelled`` where this
    attempt no longer counts.
    """
    changing = [write for write in writes if write.is_change]
    if not changing:
        with short_transaction():
            work.complete({**told, "result": "nothing_to_do", "documents_unchanged": len(writes)})
            _move_cursor(work.job)
        return
    job = work.job

    def within(done: list[Committed]) -> None:
        rows = {outcome.memory.path: outcome.memory for outcome in done[0].outcomes}
        written = [(write, rows[write.draft.kind.path]) for write in changing]
        changes = [_noted(work, write, memory, model) for write, memory in written]
        work.complete(
            {
                **told,
                "result": "applied",
                "changes": changes,
                "documents_created": sum(change["revision"] == 1 for change in changes),
                "documents_updated": sum(change["revision"] != 1 for change in changes),
                "documents_unchanged": len(writes) - len(changing),
                "operation_id": done[0].operation.pk,
            }
        )
        _move_cursor(job)

    steps = [step for write in changing for step in _steps(job, write, model)]
    reason = f"{job.mode} curation {job.pk}" + (f": {job.reason}" if job.reason else "")
    commit(curator(job), job.scope_key, steps, Deed(OPERATION, reason=reason, within=within))


def _steps(job: CurationJob, write: Write, model: Mapping[str, str]) -> list[Change]:
    draft, before = write.draft, write.baseline.memory
    keys = frontmatter_of(job, write, model)
    body = draft.body.encode()
    if before is None:
        create = CreateDocument(
            title=draft.title,
            body=body,
            resource=Resource.CURATED,
            path=draft.kind.path,
            slug=draft.kind.slug,
            extra=keys,
            action="curate",
        )
        return [create]

    def rewritten(document: bytes) -> bytes:
        return documents.with_body(document, body)

    edit = Edit(
        memory_id=before.stable_id,
        transform=rewritten,
        fields={**keys, "title": draft.title},
        revision=before.revision if write.baseline.is_there else before.revision + 1,
        action="curate",
    )
    return [edit] if write.baseline.is_there else [Restore(memory_id=before.stable_id), edit]


def frontmatter_of(job: CurationJob, write: Write, model: Mapping[str, str]) -> dict[str, Value | None]:
    """What CUR-034 to CUR-051 ask for beyond the keys that the ledger writes itself."""
    by_resource: dict[str, list[str]] = {Resource.MEMORY.value: [], Resource.CHECKPOINT.value: [], "file": []}
    for cited in write.sources:
        by_resource[cited.resource].append(cited.source_id)
    return {
        "scope": job.scope_key.partition("/")[0],
        "workspace_type": _workspace_type(job),
        "preference_context": "",
        "document_type": write.draft.kind.document_type,
        "source_memory_ids": by_resource[Resource.MEMORY.value],
        "source_checkpoint_ids": by_resource[Resource.CHECKPOINT.value],
        "source_file_ids": by_resource["file"],
        "source_git_commit": "",
        "model_connection": model["connection"],
        "model_name": model["model"],
        "prompt_version": model["prompt_version"],
        "curation_job_id": job.pk,
    }


def source_digest(sources: Sequence[Cited]) -> str:
    """One hash of what a document is made of: the same sources at the same revisions have the same one."""
    told = "\n".join(sorted(f"{cited.source_id}@{cited.revision}" for cited in sources))
    return hashlib.sha256(told.encode()).hexdigest()


def _workspace_type(job: CurationJob) -> str:
    if job.scope_key != project_scope(job.project_id or ""):
        return ""
    return Project.objects.values_list("workspace_type", flat=True).filter(pk=job.project_id).first() or ""


def _noted(work: Work, write: Write, memory: Memory, model: Mapping[str, str]) -> dict[str, object]:
    """The document's own row and its sources, in the transaction that wrote it."""
    document, _made = CuratedDocument.objects.update_or_create(
        memory=memory,
        defaults={
            "scope_key": work.job.scope_key,
            "document_type": write.draft.kind.document_type,
            "written_revision": memory.revision,
            "source_digest": source_digest(write.sources),
            "model": model["model"],
            "prompt_version": model["prompt_version"],
            "job": work.job,
            "updated_at": clock.now(),
        },
    )
    CuratedSource.objects.bulk_create(
        CuratedSource(
            document=document,
            revision=memory.revision,
            source_id=cited.source_id,
            source_revision=cited.revision,
            resource=cited.resource,
        )
        for cited in write.sources
    )
    return {
        "document_id": memory.stable_id,
        "document_type": write.draft.kind.document_type,
        "title": memory.title,
        "revision": memory.revision,
        "sources": len(write.sources),
    }


def _move_cursor(job: CurationJob) -> None:
    """Everything up to here is told. A cursor never moves back."""
    cursor, _made = CurationCursor.objects.get_or_create(scope_key=job.scope_key)
    if job.end_cursor >= cursor.sequence:
        cursor.sequence, cursor.job, cursor.moved_at = job.end_cursor, job, clock.now()
        cursor.save()

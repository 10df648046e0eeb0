"""Curation's own rows again from the documents' frontmatter, after a rebuild. Jobs and cursors do not come back."""

from collections.abc import Iterable

from apps.base.transactions import short_transaction
from apps.curation.applying import Cited, source_digest
from apps.curation.models import CuratedDocument, CuratedSource
from apps.curation.templates import DOCUMENT_TYPES
from apps.memories import frontmatter
from apps.memories.frontmatter import Metadata, NotUtf8
from apps.memories.models import Memory, Resource
from apps.memories.reading import newest_document


def recall_documents() -> int:
    """Make the rows of every curated document that says what it is; how many there were."""
    recalled = 0
    for memory in Memory.objects.filter(resource=Resource.CURATED, curated=None).order_by("pk"):
        with short_transaction():
            recalled += _recalled(memory)
    return recalled


def _recalled(memory: Memory) -> bool:
    try:
        told = frontmatter.read(newest_document(memory))
    except NotUtf8:
        return False
    kind = told.text("document_type")
    if kind not in DOCUMENT_TYPES or CuratedDocument.objects.filter(scope_key=memory.scope_id, document_type=kind):
        return False
    sources = list(_sources(told))
    document = CuratedDocument.objects.create(
        memory=memory,
        scope_key=memory.scope_id,
        document_type=kind,
        written_revision=memory.revision,
        source_digest=source_digest(sources),
        model=told.text("model_name")[:200],
        prompt_version=told.text("prompt_version")[:40],
        updated_at=memory.updated_at,
    )
    CuratedSource.objects.bulk_create(
        CuratedSource(
            document=document,
            revision=memory.revision,
            source_id=source.source_id,
            source_revision=source.revision,
            resource=source.resource,
        )
        for source in sources
    )
    return True


def _sources(told: Metadata) -> Iterable[Cited]:
    """The sources it names, at the revisions they have now: those of then stand in no file."""
    named = {
        source[:80]: resource
        for key, resource in (("source_memory_ids", "memory"), ("source_checkpoint_ids", "checkpoint"))
        for source in told.texts(key)
    }
    revisions = dict(Memory.objects.filter(stable_id__in=named).values_list("stable_id", "revision"))
    return (Cited(source, revisions.get(source, 0), resource) for source, resource in named.items())

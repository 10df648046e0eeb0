"""The documents as they are before a curation: what the model begins from, and what an apply compares with."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.base.text import fold
from apps.curation.models import CuratedDocument, CuratedSource
from apps.curation.templates import DocumentKind
from apps.memories import documents
from apps.memories.models import Memory, Status
from apps.memories.reading import current
from apps.secrets.detection import known_values
from apps.secrets.redaction import redact


@dataclass(frozen=True)
class Baseline:
    """One document, as it was read. Without ``memory`` it was never written."""

    kind: DocumentKind
    memory: Memory | None = None
    title: str = ""
    body: str = field(default="", repr=False)
    sources: dict[str, int] = field(default_factory=dict)  # Their revisions, by id.

    @property
    def is_there(self) -> bool:
        return self.memory is not None and self.memory.status == Status.ACTIVE


def baselines(scope_key: str, kinds: Sequence[DocumentKind]) -> list[Baseline]:
    return [_baseline(scope_key, kind) for kind in kinds]


def document_at(scope_key: str, kind: DocumentKind) -> Memory | None:
    """The document's row; by its place where curation's own row is missing, as after a rebuild from the files."""
    row = CuratedDocument.objects.select_related("memory").filter(scope_key=scope_key, document_type=kind.document_type)
    if found := row.first():
        return found.memory
    return Memory.objects.filter(scope=scope_key, path_key=fold(kind.path)).first()


def _baseline(scope_key: str, kind: DocumentKind) -> Baseline:
    memory = document_at(scope_key, kind)
    if memory is None:
        return Baseline(kind)
    if memory.status != Status.ACTIVE:
        return Baseline(kind, memory)
    read = current(memory)  # An edit in the folder is adopted first: people's words are the baseline.
    if read.memory.status != Status.ACTIVE:
        return Baseline(kind, read.memory)
    body = redact(documents.body_text(read.document), known_values()).text
    return Baseline(kind, read.memory, read.memory.title, body, sources_of(read.memory))


def sources_of(memory: Memory) -> dict[str, int]:
    """What stands behind the text that curation wrote last."""
    written = CuratedDocument.objects.filter(memory=memory).values_list("written_revision", flat=True).first()
    rows = CuratedSource.objects.filter(document_id=memory.pk, revision=written or 0)
    return dict(rows.values_list("source_id", "source_revision"))

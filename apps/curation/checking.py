"""The model's answer looked at as a stranger's work: what may become a document, and what ends the attempt (D-17, SRC-055)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.base.text import clean_line
from apps.curation.answers import Curation, Document
from apps.curation.errors import AnswerRejected, SecretInAnswer
from apps.curation.rendering import plain_markdown, rendered
from apps.curation.templates import DocumentKind
from apps.secrets.detection import known_values
from apps.secrets.redaction import Located, may_apply, report

MOST_SECTIONS = 30
MOST_LINES = 50
DOCUMENT_CHARACTERS = 60_000  # More than this no model could take in again the next time.
LINE_CHARACTERS = 500
TITLE_CHARACTERS = 120


@dataclass(frozen=True)
class Draft:
    """A document that may be written."""

    kind: DocumentKind
    title: str
    body: str = field(repr=False)
    source_ids: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    drafts: list[Draft]
    change_summary: list[str]
    conflicts: list[dict[str, object]]
    warnings: list[Located]


def checked(
    answer: Curation,
    kinds: Sequence[DocumentKind],
    slugs: Mapping[str, str],
    *,
    language: str,
    boundary: str,
) -> Checked:
    """What of the answer may be kept. ``slugs`` names every source that may be cited. Raises ``AnswerRejected``."""
    if boundary and boundary in answer.model_dump_json():
        raise AnswerRejected(problem=_("it repeats the marks around the sources"))
    by_type = {kind.document_type: kind for kind in kinds}
    seen: set[str] = set()
    warnings: list[Located] = []
    drafts = []
    for document in answer.documents:
        kind = by_type.get(document.document_type)
        if kind is None or kind.document_type in seen:
            raise AnswerRejected(problem=_("it holds a document that was not asked for, or one twice"))
        seen.add(kind.document_type)
        drafts.append(_draft(document, kind, slugs, language, warnings))
    summary = [_line(line, _("change summary"), warnings) for line in answer.change_summary[:MOST_LINES]]
    conflicts: list[dict[str, object]] = []
    for conflict in answer.conflicts[:MOST_LINES]:
        _require_known(conflict.source_ids, slugs)
        statement = _line(conflict.statement, _("conflicts"), warnings)
        conflicts.append({"statement": statement, "source_ids": list(dict.fromkeys(conflict.source_ids))})
    return Checked(drafts, [line for line in summary if line], conflicts, warnings)


def _draft(
    document: Document, kind: DocumentKind, slugs: Mapping[str, str], language: str, warnings: list[Located]
) -> Draft:
    sections = [section for section in document.sections if section.heading.strip() or section.body.strip()]
    if not sections or len(sections) > MOST_SECTIONS:
        raise AnswerRejected(problem=_("a document has no sections, or too many"))
    if not all(plain_markdown(section.heading).strip() and plain_markdown(section.body) for section in sections):
        raise AnswerRejected(problem=_("a section is empty"))
    cited = [source for section in sections for source in section.source_ids]
    source_ids = tuple(dict.fromkeys([*cited, *document.source_ids]))
    _require_known(source_ids, slugs)
    if not source_ids:
        raise AnswerRejected(problem=_("a document names no source"))
    if not cited:  # It named them for the whole only: then every section has them.
        sections = [section.model_copy(update={"source_ids": list(source_ids)}) for section in sections]
    title = _line(document.title, kind.path, warnings)[:TITLE_CHARACTERS].strip()
    body = rendered(sections, slugs, language)
    if not title or len(body) > DOCUMENT_CHARACTERS:
        raise AnswerRejected(problem=_("a document has no title, or is too long"))
    return Draft(kind, title, _without_secrets(body, kind.path, warnings), source_ids)


def _require_known(ids: Collection[str], slugs: Mapping[str, str]) -> None:
    if any(source not in slugs for source in ids):
        raise AnswerRejected(problem=_("it cites sources that do not exist"))


def _line(text: str, place: str, warnings: list[Located]) -> str:
    return _without_secrets(clean_line(plain_markdown(text))[:LINE_CHARACTERS], place, warnings)


def _without_secrets(text: str, place: str, warnings: list[Located]) -> str:
    verdict = may_apply(text, known_values())
    if not verdict.allowed:
        raise SecretInAnswer(places=place, findings=report(place, verdict.blocking))
    warnings += report(place, verdict.warnings)
    return verdict.text

"""What the model is sent: our rules apart from everything that others wrote, and that inside a boundary nobody can forge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from apps.base.estimates import token_estimate
from apps.curation.baseline import Baseline
from apps.curation.language import NAMES
from apps.curation.prompts import text_of
from apps.curation.templates import DocumentKind
from apps.sources.boundaries import Boundary, source_block
from apps.sources.material import Source

FRAME_TOKENS = 400  # Headings and boundaries around the material.
ANY = Boundary("0" * 16)


@dataclass(frozen=True)
class Prompt:
    instructions: str
    content: str = field(repr=False)
    boundary: Boundary = field(repr=False)


def instructions_for(version: str, kinds: Iterable[DocumentKind], language: str, boundary: Boundary) -> str:
    """Our own words only: nothing that came from a workspace stands here."""
    told = "\n".join(f"- {kind.document_type}: {kind.purpose} {kind.guidance}" for kind in kinds)
    return (
        text_of(version)
        .replace("{boundary}", boundary.instruction)
        .replace("{documents}", told)
        .replace("{language}", NAMES[language])
    )


def prompt_for(
    version: str,
    baselines: Sequence[Baseline],
    sources: Sequence[Source],
    removed: Sequence[str],
    *,
    language: str,
    slugs: Mapping[str, str],
) -> Prompt:
    """``slugs`` are those of cited sources by id: documents link to them, the model knows sources by id only."""
    boundary = Boundary.fresh(_texts(baselines, sources))
    documents = [_document(baseline, boundary, slugs) for baseline in baselines if baseline.body]
    parts = ["# The documents as they are now", *documents] if documents else ["# There are no documents yet"]
    if removed:
        parts.append("# Removed sources\n\n" + "\n".join(f"- {source}" for source in removed))
    parts += ["# Sources", *(source_block(source, boundary) for source in sources)] if sources else []
    instructions = instructions_for(version, [baseline.kind for baseline in baselines], language, boundary)
    return Prompt(instructions, "\n\n".join(parts), boundary)


def cost_of_documents(baselines: Iterable[Baseline]) -> int:
    """What the documents take of a request."""
    return FRAME_TOKENS + sum(token_estimate(_document(baseline, ANY, {})) for baseline in baselines)


def _document(baseline: Baseline, boundary: Boundary, slugs: Mapping[str, str]) -> str:
    body = baseline.body
    for source, slug in slugs.items():
        body = body.replace(f"[[{slug}]]", f"[[{source}]]")
    facts = {"document": baseline.kind.document_type, "title": baseline.title, "source_ids": " ".join(baseline.sources)}
    return boundary.block(body, facts)


def _texts(baselines: Iterable[Baseline], sources: Iterable[Source]) -> list[str]:
    texts = [text for baseline in baselines for text in (baseline.title, baseline.body)]
    return texts + [text for one in sources for text in (one.title, one.summary, one.text, *one.tags)]

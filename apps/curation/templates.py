"""Which documents a workspace has: a list of data (D-16). A further document is a further entry."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


@dataclass(frozen=True)
class DocumentKind:
    """One document. ``purpose`` and ``guidance`` are told to the model, in English; ``name`` to people."""

    document_type: str
    name: Text
    path: str
    purpose: str
    guidance: str

    @property
    def slug(self) -> str:
        return self.document_type


GENERAL = (
    DocumentKind(
        document_type="overview",
        name=_("Overview"),
        path="curated/overview.md",
        purpose="What this workspace is about, for somebody who opens it for the first time.",
        guidance=(
            "Aim, scope, the people and parts involved, how they hang together, rules and conventions that always hold."
            " Leave out what is only true this week. Five sections at most."
        ),
    ),
    DocumentKind(
        document_type="current-state",
        name=_("Current state"),
        path="curated/current-state.md",
        purpose="Where the work stands now, for somebody who goes on with it today.",
        guidance=(
            "What was finished last, what is under way, what is blocked, open questions and next steps. Newer sources win;"
            " name what they replaced only where it still matters. Five sections at most."
        ),
    ),
)

TEMPLATES = {"general": GENERAL}
DOCUMENT_TYPES = tuple(kind.document_type for kind in GENERAL)


def template_for(workspace_type: str) -> tuple[DocumentKind, ...]:
    """The documents of a type of workspace; types without a template of their own have the general one."""
    return TEMPLATES.get(workspace_type, GENERAL)


def kinds_named(names: Sequence[str], template: tuple[DocumentKind, ...]) -> tuple[DocumentKind, ...]:
    """These documents in the template's order; all of them where none is named."""
    return tuple(kind for kind in template if kind.document_type in names) or template

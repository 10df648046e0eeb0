"""The words of the room: a source, what was left out and why, and what one gathering brought together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.secrets.redaction import Located


class Hidden(models.TextChoices):
    """What a person who looks at the rendered text does not see; it is taken out."""

    HTML = "hidden_html", _("Hidden HTML was taken out.")
    COMMENT = "comment", _("Comments were taken out.")
    INVISIBLE = "invisible_characters", _("Invisible characters were taken out.")
    DIRECTION = "direction_marks", _("Marks that turn the reading direction were taken out.")
    CONTROL = "control_characters", _("Control characters were taken out.")


class LeftOut(models.TextChoices):
    """Why a source, or a part of it, is not among the sources."""

    SHORTENED = "shortened", _("It is too long, so only its beginning was read.")
    OVER_BUDGET = "over_budget", _("It did not fit the budget of this run; the next one reads it.")
    WITHHELD = "withheld", _("It holds a secret, so no model may read it.")
    EMPTY = "empty", _("It has no text.")


@dataclass(frozen=True, slots=True)
class Source:
    """One document as curation may read it. Its texts hold no secret and nothing hidden."""

    kind: str  # memory or checkpoint
    id: str
    revision: int
    title: str
    text: str
    updated_at: datetime
    scope_key: str
    sequence: int = 0  # Of its newest change within the range.
    nature: str = ""  # rule, fact, decision, experience, note
    summary: str = ""
    tags: Sequence[str] = ()
    content_hash: str = ""
    notes: Sequence[Hidden] = ()


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A source that was left out, or of which a part was. ``characters``: how many of its text."""

    kind: str
    id: str
    revision: int
    title: str
    reason: LeftOut
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Gone:
    """A source that was deleted, archived or moved elsewhere since: what only it told holds no more (SRC-036)."""

    kind: str
    id: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one gathering brought together.

    ``cursor`` is the change up to which every source is in here, gone, or left out for good; it is ``until`` unless the
    budget ended before, and then the next gathering begins there. ``waiting`` counts what that one will find.
    """

    sources: list[Source]
    uncovered: list[Uncovered]
    cursor: int
    redactions: list[Located]
    gone: list[Gone]
    tokens: int
    waiting: int = 0

    @property
    def is_complete(self) -> bool:
        return self.waiting == 0

"""What a question by meaning finds."""

from dataclasses import dataclass, field
from typing import NamedTuple

from apps.search.cursors import Reason


class NearDocument(NamedTuple):
    """The best passage of one document: characters ``start`` to ``end`` of the body, or the head where both are 0.

    ``z`` says by how many standard deviations it is nearer to the question than the texts of its language are, and compares
    across languages; the cosine only within one. ``among`` is how many passages of that language were searched.
    """

    document_id: int
    revision: int
    start: int
    end: int
    cosine: float
    z: float
    language: str
    among: int = 0


@dataclass(frozen=True, slots=True)
class Nearest:
    """``reason`` says what is missing; it is empty where embeddings are off, since then nothing is expected of them."""

    documents: list[NearDocument] = field(default_factory=list)
    available: bool = False
    reason: Reason | None = None
    pending: int = 0  # Documents of the searched scopes whose newest text has no vectors yet, counted to 1,000.

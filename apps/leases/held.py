"""What a holder has in his hands, and the names of the things that can be held."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    key: str
    owner: str
    attempt: int


def exclusive_key(scope_key: str) -> str:
    """The lease of a restore, a migration or a deletion on a whole scope."""
    return f"exclusive/{scope_key}"


def slot_key(kind: str, number: int) -> str:
    return f"slot/{kind}/{number}"

"""A token budget that is never exceeded, and texts cut to fit it. Pure functions."""

import json

from pydantic import BaseModel

from apps.base.estimates import token_estimate

SEPARATOR = 1  # The comma between two items of a list.
ELLIPSIS = "…"


def cost_of(piece: BaseModel) -> int:
    """What a piece of an answer costs at most. The sum over the pieces is never less than the whole costs."""
    return token_estimate(piece.model_dump_json()) + SEPARATOR


def cost_of_text(text: str) -> int:
    """What a text costs inside JSON, its quotes and escapes counted."""
    return token_estimate(json.dumps(text, ensure_ascii=False))


def may_fit(text: str, tokens: int) -> bool:
    """A cheap look before the exact one: three characters of a text cost a token or more."""
    return len(text) <= tokens * 3


def beginning(text: str, tokens: int) -> str:
    """The text where it fits, else its longest beginning that does, marked as cut, at a space where one is near."""
    if may_fit(text, tokens) and cost_of_text(text) <= tokens:
        return text
    text = text[: max(tokens, 0) * 3]
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost_of_text(text[:middle] + ELLIPSIS) <= tokens:
            low = middle
        else:
            high = middle - 1
    cut = text[:low]
    near = max(cut.rfind(" "), cut.rfind("\n"))
    if near > low * 3 // 4:
        cut = cut[:near]
    return cut.rstrip() + ELLIPSIS if cut.strip() else ""


class Budget:
    """What is left to spend."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens

    def spend(self, piece: BaseModel, *, within: int | None = None) -> bool:
        """Take a piece in if it fits what is left, and ``within`` where less may be spent on it."""
        cost = cost_of(piece)
        if cost > self.left or (within is not None and cost > within):
            return False
        self.left -= cost
        return True

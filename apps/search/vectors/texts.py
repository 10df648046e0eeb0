"""What the rooms above tell of their documents, so that they can be embedded: the index holds only words cut for searching."""

from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings
from django.utils.module_loading import import_string


class PassageText(NamedTuple):
    """``withheld`` texts (they hold a secret) are never embedded."""

    revision: int
    title: str
    summary: str
    tags: Sequence[str]
    body: str
    withheld: bool = False


def texts_of(stable_ids: Sequence[str]) -> dict[str, PassageText]:
    """The newest text of each document that some room in ``settings.PASSAGE_TEXTS`` knows; deleted ones are missing."""
    found: dict[str, PassageText] = {}
    for path in settings.PASSAGE_TEXTS:
        found.update(import_string(path)(stable_ids))
    return found

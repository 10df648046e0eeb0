"""The texts of memories for whoever embeds them (``settings.PASSAGE_TEXTS``)."""

from collections.abc import Sequence

from apps.base.rows import rows_where
from apps.memories.models import Memory, Status
from apps.memories.reading import newest_bodies
from apps.search.vectors.texts import PassageText


def texts_of(stable_ids: Sequence[str]) -> dict[str, PassageText]:
    """The newest revision of each that is not deleted. The text of one with a secret in it stays here (D-14)."""
    marks = ", ".join(["%s"] * len(stable_ids))
    rows = rows_where(Memory, f"stable_id IN ({marks}) AND status <> %s", [*stable_ids, Status.DELETED])
    shown = [row for row in rows if not row.withheld]
    bodies = newest_bodies(shown) if shown else {}
    texts = {row.stable_id: PassageText(row.revision, "", "", (), "", withheld=True) for row in rows if row.withheld}
    for row in shown:
        body = bodies.get(row.pk, "")
        texts[row.stable_id] = PassageText(row.revision, row.title, row.summary, row.tags, body)
    return texts

# ruff: noqa: S608 (Only constants of this room are put together; whatever was asked is a parameter.)
"""What was said just before and after a document in its thread: looked up while searching, never stored.

So it is true at once when a neighbour is changed, moved or deleted, and nothing has to be written again for it.
"""

import json
from collections.abc import Sequence

from apps.base.rows import fetched

REACH = 2

# INDEXED BY: the index over threads holds only documents that have one, and gives a neighbour without sorting.
_NEIGHBOUR = """(SELECT p.id FROM search_document p INDEXED BY search_document_thread
    WHERE p.scope_key = d.scope_key AND p.thread = d.thread AND NOT (p.thread = '') AND p.id {side} d.id
    AND p.status = 'active' ORDER BY p.id {order} LIMIT 1 OFFSET {offset})"""
_BEFORE = [_NEIGHBOUR.format(side="<", order="DESC", offset=number) for number in range(REACH)]
_AFTER = [_NEIGHBOUR.format(side=">", order="ASC", offset=number) for number in range(REACH)]
_SURROUNDINGS = f"""
    SELECT d.id, {", ".join([*_BEFORE, *_AFTER])}
    FROM json_each(%s) AS k CROSS JOIN search_document d NOT INDEXED ON d.id = k.value WHERE NOT (d.thread = '')
"""
DISTANCES = (*(-1 - number for number in range(REACH)), *(1 + number for number in range(REACH)))


def surroundings(document_ids: Sequence[int]) -> dict[int, dict[int, int]]:
    """By document of a thread: its active neighbours in thread and scope, each with its distance, -1 the one before."""
    found: dict[int, dict[int, int]] = {}
    for key, *neighbours in fetched(_SURROUNDINGS, [json.dumps(list(document_ids))]):
        pairs = zip(neighbours, DISTANCES, strict=True)
        found[key] = {neighbour: distance for neighbour, distance in pairs if neighbour is not None}
    return found

"""Why a hit stands where it stands: the parts of its score, and the words it holds."""

from collections.abc import Sequence

from django.db import connection

from apps.search.expressions import understand

_HOLDING = "SELECT rowid FROM search_text WHERE search_text MATCH %s AND rowid IN ({marks})"


def matched_words(query: str, document_ids: Sequence[int]) -> dict[int, list[str]]:
    """By document which words of the query it holds, as they were typed. One question a word: for the hits of one page."""
    ask = understand(query)
    matched: dict[int, list[str]] = {key: [] for key in document_ids}
    if ask is None or not document_ids:
        return matched
    holding = _HOLDING.format(marks=", ".join(["%s"] * len(document_ids)))
    with connection.cursor() as cursor:
        for unit in ask.units:
            for alternative in unit.any:
                cursor.execute(holding, [alternative, *document_ids])
                for (key,) in cursor.fetchall():
                    matched[key].append(unit.surface or shown_word(alternative))
    return matched


def shown_word(expression: str) -> str:
    """A word of the query as its reader knows it: an expression without the signs that FTS5 wants."""
    quoted = expression.split('"')[1]
    tokens = quoted.split()
    if len(tokens) > 1 and not quoted.isascii():
        return tokens[0] + "".join(token[-1] for token in tokens[1:])
    return " ".join(tokens)

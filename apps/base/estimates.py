"""How many tokens a text may cost a model: one upper-bound rule for budgets and tool lists."""

import re

_WIDE = re.compile(
    r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_OTHER = re.compile(r"[^\x00-\x7f]")


def token_estimate(text: str) -> int:
    """At most this many tokens: one a CJK character, two a further non-ASCII one, one for 3 ASCII characters.

    Today's tokenisers need fewer for prose (about 4 characters a token in English, 0.6 to 0.9 tokens a Han character),
    so that a text cut to a budget by this figure fits it with any model.
    """
    wide = len(_WIDE.findall(text))
    other = len(_OTHER.findall(text)) - wide
    ascii_characters = len(text) - wide - other
    return wide + 2 * other + -(-ascii_characters // 3)

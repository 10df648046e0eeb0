"""Light English stems: a word and its ordinary inflections become one token.

Plurals, -ed, -ing, -ly and a last silent e go; derived words (nation, national) stay apart. The stem need not be a
word, it only has to be the same for all forms. Changing a rule means a new ``TOKENISER_VERSION``.
"""

import re

SHORTEST = 3
_VOWEL = re.compile(r"[aeiouy]")
_ENGLISH = re.compile(r"[a-z]+\Z")
_DOUBLED = frozenset(f"{letter}{letter}" for letter in "bdfgmnprt")

# Words the rules would spoil, and short plurals that are common in technical text.
IRREGULAR = {
    "dbs": "db", "ids": "id", "vms": "vm", "prs": "pr", "apis": "api", "clis": "cli", "uis": "ui",
    "going": "go", "goes": "go", "doing": "do", "does": "do", "being": "be", "having": "have", "has": "have",
    "indices": "index", "matrices": "matrix", "vertices": "vertex", "analyses": "analysis",
    "men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "news": "news", "always": "always", "perhaps": "perhaps", "during": "during", "evening": "evening",
    "morning": "morning", "nothing": "nothing", "something": "something", "anything": "anything",
    "everything": "everything", "kubernetes": "kubernetes", "postgres": "postgres", "aws": "aws", "need": "need",
}  # fmt: skip


def stem(word: str) -> str:
    """The stem of one lower-case word; anything that is not plain English letters comes back as it is."""
    if len(word) <= SHORTEST or not _ENGLISH.match(word):
        return IRREGULAR.get(word, word)
    known = IRREGULAR.get(word)
    if known is not None:
        return known
    return _without_silent_e(_without_ending(_without_plural(word)))


def _without_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def _without_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("ed") and not word.endswith("eed"):
        return _inflected(word, word[:-2])
    if word.endswith("ing"):
        return _inflected(word, word[:-3])
    if word.endswith("ly") and len(word) > 5:
        return word[:-2]
    return word


def _inflected(word: str, rest: str) -> str:
    """``rest`` where it can stand as a verb: used -> use, planned -> plan, caching -> cach, string -> string."""
    if not _VOWEL.search(rest) or len(rest) < 2:
        return word
    if len(rest) == 2:
        return rest + "e"
    if rest[-2:] in _DOUBLED and len(rest) > SHORTEST:
        return rest[:-1]
    return rest


def _without_silent_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > SHORTEST and not word.endswith("ee") else word

"""The words that begin every match, as one pattern: a text without any of them costs one search."""

import re
from collections.abc import Callable, Iterable

from apps.secrets.rules import Rule


def prefix_tree(words: Iterable[str]) -> str:
    """A pattern that matches the shortest of the words at a place.

    The engine tries an alternation branch by branch at every character; a tree has few branches at its top.
    """
    followers: dict[str, list[str]] = {}
    for word in words:
        if not word:
            return ""
        followers.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + prefix_tree(rest) for first, rest in sorted(followers.items())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def by_shortest_word(rules: Iterable[Rule], spelt: Callable[[str], str] = str) -> dict[str, list[Rule]]:
    """The rules to try for what the tree can hit: a word that no other word begins."""
    words = {spelt(word) for rule in rules for word in rule.words}
    shortest = {word for word in words if not any(word != other and word.startswith(other) for other in words)}
    return {
        hit: [rule for rule in rules if any(spelt(word).startswith(hit) for word in rule.words)] for hit in shortest
    }

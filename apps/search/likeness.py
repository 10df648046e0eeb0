"""Texts that say the same, and texts that almost do: near-duplicates are folded, contradictions never are. Pure.

Two texts are alike by the telling words they share. Alike they may still differ in the very thing they state: a figure, a
"not", a name, one word in an otherwise equal sentence. Then both are kept. Among many wordings of one fact the words that
nearly all of them hold are the fact; a text that lacks one of these and has a word of its own instead contradicts it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.search.expressions import COMMON, COMMON_CHARACTERS
from apps.search.tokens import Kind, tokens

CHARACTERS = 2_000  # So much of a text is compared.
BEGINNING = 6  # deploy, deployed, deployment: words with the same beginning count as one here.
STRICT, CONTAINED = 0.5, 0.66  # Shared of all words, or of the shorter text's.
LOOSE, LOOSELY_CONTAINED = 0.3, 0.5
LENGTHS = 3  # A text that is so many times longer says more than the other one.
MANY = 4  # From so many alike texts on, what nearly all say is the fact.
NEARLY_ALL, HALF, HARDLY_ANY = 0.75, 0.5, 0.1
# So much of a text must be the fact. A figure in the fact (a day, a port) makes it more than a common subject.
MOSTLY, MOSTLY_OF_A_FIGURE = 0.6, 0.4
LEAST_FACT = 3  # Words; two alike words are a subject, of which many different things can be said.

_NOT = frozenset("not no never none neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont "
                 "wouldnt shouldnt mustnt couldnt hasnt havent hadnt nobody nowhere".split())  # fmt: skip
_NOT_IN_CHINESE = re.compile(
    "不(?!同|错|少|断|仅|过|久|如|管|足)|没有|没(?!事|错)|未(?!来)|勿|禁止|切勿|别(?!的|人|名)"
)
_NO_APOSTROPHE = str.maketrans("", "", "'\u2018\u2019\u02bc")
_CHINESE_FIGURE = re.compile("[二三四五六七八九十百千两]")
_FIGURES = frozenset("two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand "
                     "monday tuesday wednesday thursday friday saturday sunday january february march april june july "
                     "august september october november december".split())  # fmt: skip
_FIGURE_STEMS = frozenset(word[:BEGINNING] for word in _FIGURES)
# "Note 12: ...", "... (take 3)": numbering says nothing of the fact.
_NUMBERING = re.compile(r"\A\W*(?:[^\W\d]+ )?#?\d+[:.)\]]\s+|\s*[(\[](?:[^\W\d]+ )?#?\d+[)\]]\W*\Z")
_SENTENCE = re.compile(r"[.!?。！？:：\n]\s*\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says, as far as words tell. ``order`` is its words in a row, ``words`` the same without repeats."""

    order: tuple[str, ...]
    words: frozenset[str]
    figures: frozenset[str]
    names: frozenset[str]
    is_negated: bool


@dataclass
class Group:
    """Places in the list that was folded: the text to show, those that say the same, and those that contradict it."""

    leader: int
    alike: list[int] = field(default_factory=list)
    contradicts: list[int] = field(default_factory=list)


def said(text: str) -> Said:
    order: list[str] = []
    figures: set[str] = set()
    names: set[str] = set()
    text = _NUMBERING.sub("", text[:CHARACTERS].strip())
    negations = len(_NOT_IN_CHINESE.findall(text))
    for token in tokens(text):
        word = token.text
        if token.kind is Kind.NAME:
            names.add(word)  # MySQL is another thing than PostgreSQL, though half of each is the same.
        if token.kind in (Kind.NAME, Kind.SIGN):
            continue
        if token.kind is Kind.PAIR:
            if len(word) > 1 and not COMMON_CHARACTERS.intersection(word):
                order.append(word)
                figures.update(_CHINESE_FIGURE.findall(word))
            continue
        surface = text[token.start : token.end]
        if surface.casefold().translate(_NO_APOSTROPHE) in _NOT:  # Not its stem: that of "note" is "not".
            negations += 1
        if surface.casefold() in COMMON or word in COMMON:
            continue
        short = word[:BEGINNING] if word.isalpha() else word
        order.append(short)
        if word.isdigit() or short in _FIGURE_STEMS:
            figures.add(short)
        elif (
            surface[:1].isupper() and token.start and not _SENTENCE.search(text[max(0, token.start - 3) : token.start])
        ):
            names.add(short)
    return Said(tuple(order), frozenset(order), frozenset(figures), frozenset(names), negations % 2 == 1)


def likeness(one: Said, other: Said) -> float:
    """The share of all words that both texts hold, from 0 to 1."""
    everything = len(one.words | other.words)
    return len(one.words & other.words) / everything if everything else 0.0


def is_alike(one: Said, other: Said, *, loosely: bool = False) -> bool:
    """Whether two texts are about the same thing in much the same words; they may still contradict each other."""
    shared = len(one.words & other.words)
    short, long = sorted((len(one.words), len(other.words)))
    if not shared or long > LENGTHS * short + 2:
        return one.order == other.order
    share, contained = (LOOSE, LOOSELY_CONTAINED) if loosely else (STRICT, CONTAINED)
    return likeness(one, other) >= share or (shared > 1 and shared / short >= contained)


def clash(one: Said, other: Said) -> bool:
    """Whether two alike texts differ in a figure, a name, a "not", or in one word of an equal sentence."""
    if one.is_negated != other.is_negated:
        return True
    for mine, theirs in ((one.figures, other.figures), (one.names, other.names)):
        if mine - theirs - other.words and theirs - mine - one.words:
            return True
    return _one_word_apart(one.order, other.order)


def says_the_same(one: Said, other: Said) -> bool:
    return is_alike(one, other) and not clash(one, other)


def fold(texts: Sequence[Said]) -> list[Group]:
    """Groups in the order of their first text (give the best first); a contradiction stands next to what it contradicts."""
    folded: list[Group] = []
    for members in _clusters(texts):
        folded += _many(texts, members) if len(members) >= MANY else _few(texts, members)
    return folded


def _clusters(texts: Sequence[Said]) -> list[list[int]]:
    clusters: list[list[int]] = []
    for place, text in enumerate(texts):
        home = next((c for c in clusters if any(is_alike(texts[one], text, loosely=True) for one in c[:8])), None)
        if home is None:
            clusters.append([place])
        else:
            home.append(place)
    return clusters


def _few(texts: Sequence[Said], members: Sequence[int]) -> list[Group]:
    groups: list[Group] = []
    for place in members:
        for group in groups:
            if is_alike(texts[group.leader], texts[place]):
                if not clash(texts[group.leader], texts[place]):
                    group.alike.append(place)
                    break
                group.contradicts.append(place)
        else:
            groups.append(Group(place))
    return groups


def _many(texts: Sequence[Said], members: Sequence[int]) -> list[Group]:
    """Where many texts are alike, what nearly all of them hold is the fact; figures that few hold are mere numbering."""
    counts = Counter(word for place in members for word in texts[place].words)
    figures = Counter(figure for place in members for figure in texts[place].figures)
    core = {word for word, count in counts.items() if count >= NEARLY_ALL * len(members)}
    core |= {figure for figure, count in figures.items() if count >= HALF * len(members)}
    has_figure = bool(core & figures.keys())
    if len(core) < LEAST_FACT or (
        not has_figure and sum(bool(texts[p].figures) for p in members) >= HALF * len(members)
    ):
        return _few(texts, members)  # One subject, or a row of figures: each says something of its own.
    mostly = MOSTLY_OF_A_FIGURE if has_figure else MOSTLY
    mostly_negated = sum(texts[place].is_negated for place in members) > len(members) / 2
    agreeing, dissenting, others = [], [], []
    for place in members:
        text = texts[place]
        have = text.words | text.figures
        own = [word for word in text.words if counts[word] <= max(1, HARDLY_ANY * len(members))]
        if text.is_negated != mostly_negated or (core - have and own):
            dissenting.append(place)
        elif core - have or len(core & have) < mostly * sum(word in core or not word.isdigit() for word in text.words):
            others.append(place)
        else:
            agreeing.append(place)
    if len(agreeing) < MANY - 1:
        return _few(texts, members)
    main = Group(agreeing[0], agreeing[1:])
    apart = sorted(dissenting, key=lambda place: (-len(core & texts[place].words), place))
    dissent = _few(texts, apart)
    main.contradicts = [group.leader for group in dissent]
    return [main, *dissent, *_few(texts, others)]


def _one_word_apart(one: Sequence[str], other: Sequence[str]) -> bool:
    if len(one) != len(other):
        return False
    return sum(mine != theirs for mine, theirs in zip(one, other, strict=True)) == 1

"""Texts that say the same, and texts that almost do: near-duplicates are folded, contradictions never are. Pure.

Two texts are alike by the telling words they share. Alike they may still differ in the very thing they state, and then both
are kept: whatever one states in words of its own, where the other one has words of its own too, may be another fact. Only
what adds nothing but words to a text says the same as it. Among many wordings of one fact the words that nearly all of them
hold are the fact; a text that lacks one of these and has a word of its own instead contradicts it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from apps.search.stated import BEGINNING, SORTS, Said, is_same_word, own_words, said

__all__ = ["Group", "Said", "clash", "fold", "is_alike", "likeness", "said", "says_the_same"]

STRICT, CONTAINED = 0.5, 0.66  # Shared of all words, or of the shorter text's.
LOOSE, LOOSELY_CONTAINED = 0.3, 0.5
LENGTHS = 3  # A text that is so many times longer says more than the other one.
MANY = 4  # From so many alike texts on, what nearly all say is the fact.
NEARLY_ALL, HALF, HARDLY_ANY = 0.75, 0.5, 0.1
# So much of a text must be the fact. A figure in the fact (a day, a port) makes it more than a common subject.
MOSTLY, MOSTLY_OF_A_FIGURE = 0.6, 0.4
LEAST_FACT = 3  # Words; two alike words are a subject, of which many different things can be said.
PLACE = 4  # Words or characters that stand in one place of an otherwise equal sentence.
WORDINGS = 16  # So many wordings of a fact each further one is held against, word by word.

_SIDES = frozenset("after before by from than then".split())  # What stands before them is not what stands behind.


@dataclass
class Group:
    """Places in the list that was folded: the text to show, those that say the same, and those that contradict it."""

    leader: int
    alike: list[int] = field(default_factory=list)
    contradicts: list[int] = field(default_factory=list)


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
    """Whether two alike texts plainly differ: in a figure, a name, a "not", or in one place of an equal sentence."""
    if one.negated != other.negated:
        return True
    if _has_other(one, other, one.figures, other.figures) or _has_other(one, other, one.names, other.names):
        return True
    return _has_another_label(one, other) or _differs_in_place(one, other) or _differs_in_one_place(one, other)


def _has_other(one: Said, other: Said, mine: frozenset[str], theirs: frozenset[str]) -> bool:
    return bool(mine - theirs - other.words and theirs - mine - one.words)


def says_the_same(one: Said, other: Said) -> bool:
    """When in doubt it does not: a duplicate that is shown is a nuisance, a contradiction that is hidden is a loss."""
    return is_alike(one, other) and not clash(one, other) and not _may_differ(one, other)


def _may_differ(one: Said, other: Said) -> bool:
    if (one.rest, one.turns, one.figures) != (other.rest, other.turns, other.figures):
        return True
    if one.lone_names - other.words or other.lone_names - one.words:
        return True
    mine, theirs = own_words(one, other)
    return bool(mine and theirs) or _has_other_grammar(one, other) or _is_turned_round(one.row, other.row)


def _has_other_grammar(one: Said, other: Said) -> bool:
    """Before in the one, after in the other."""
    mine, theirs = one.grammar - other.grammar, other.grammar - one.grammar
    return any(SORTS[here] & SORTS[there] for here in mine for there in theirs)


def _has_another_label(one: Said, other: Said) -> bool:
    """Project a in the one, project b in the other: a lone "a" may be an article, two letters behind one word are none."""
    mine, theirs = one.labels - other.labels, other.labels - one.labels
    return not {before for before, _letter in mine}.isdisjoint(before for before, _letter in theirs)


def _is_turned_round(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether words change places around one that stays between them, as in "Alice pays Bob": that swaps their parts.

    A phrase that is only moved ("on Mondays we deploy") goes past its neighbours, with nothing between.
    """
    once = {word for word, count in Counter(other).items() if count == 1}
    place = {word: number for number, word in enumerate(other) if word in once}
    counts = Counter(one)
    furthest = second = -1  # The last place so far, and the last one that followed a later one.
    for word in one:
        if (here := place.get(word, -1)) < 0 or counts[word] > 1:
            continue
        if here < second:
            return True
        if here < furthest:
            second = max(second, here)
        furthest = max(furthest, here)
    return False


def _differs_in_place(one: Said, other: Said) -> bool:
    """Whether two equal sentences have two words exchanged, or one word of grammar, or one long word, for another."""
    apart = _places_apart(one.row, other.row)
    if apart and apart[-1] - apart[0] >= len(apart):  # Something between them stayed.
        return sorted(one.row) == sorted(other.row)
    mine, theirs = one.telling_row, other.telling_row
    changed = [(mine[place], theirs[place]) for place in _places_apart(mine, theirs)]
    if not changed:
        return False
    if all(here in SORTS and there in SORTS for here, there in changed):
        return any(_is_of_one_sort(here, there) for here, there in changed)
    return any(_are_cut_alike(here, there) for here, there in changed)


def _places_apart(one: Sequence[str], other: Sequence[str]) -> list[int]:
    """Where two rows differ that are mostly the same; nowhere if they are not."""
    if len(one) != len(other):
        return []
    apart = [place for place in range(len(one)) if one[place] != other[place]]
    return apart if 2 * len(apart) <= len(one) + 1 else []


def _is_of_one_sort(one: str, other: str) -> bool:
    return bool(SORTS[one] & SORTS[other]) or {one, other} == {"at", "by"}


def _are_cut_alike(one: str, other: str) -> bool:
    """Serial and serializable: one coarse word, two things."""
    return len(one) >= BEGINNING and one[:BEGINNING] == other[:BEGINNING] and not is_same_word(one, other)


def _differs_in_one_place(one: Said, other: Said) -> bool:
    """Whether two sentences are equal but for one place, where each has words of its own."""
    mine, theirs = ([word for word in text.row if word in text.content] for text in (one, other))
    start = 0
    while start < min(len(mine), len(theirs)) and mine[start] == theirs[start]:
        start += 1
    end = 0
    while end < min(len(mine), len(theirs)) - start and mine[-1 - end] == theirs[-1 - end]:
        end += 1
    here, there = mine[start : len(mine) - end], theirs[start : len(theirs) - end]
    longest = max(len(here), len(there))
    if not here or not there or longest > min(PLACE, start + end):
        return False
    return not (len(here) == len(there) == 1 and is_same_word(here[0], there[0])) and set(here).isdisjoint(there)


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
            leader, text = texts[group.leader], texts[place]
            if says_the_same(leader, text):
                group.alike.append(place)
                break
            if is_alike(leader, text) and clash(leader, text):
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
    few = max(1, HARDLY_ANY * len(members))
    mostly_said = Counter((texts[place].turns, texts[place].rest) for place in members).most_common(1)[0][0]
    agreeing, dissenting, others = [], [], []
    for place in members:
        text = texts[place]
        have = text.words | text.figures
        own = [word for word in text.words if counts[word] <= few]
        if text.is_negated != mostly_negated or (core - have and own):
            dissenting.append(place)
        elif (text.turns, text.rest) != mostly_said or any(counts[name] <= few for name in text.lone_names):
            others.append(place)
        elif core - have or len(core & have) < mostly * sum(word in core or not word.isdigit() for word in text.words):
            others.append(place)
        else:
            agreeing.append(place)
    agreeing, turned = _without_turned(texts, agreeing)
    dissenting += turned
    if len(agreeing) < MANY - 1:
        return _few(texts, members)
    main = Group(agreeing[0], agreeing[1:])
    apart = sorted(dissenting, key=lambda place: (-len(core & texts[place].words), place))
    dissent = _few(texts, apart)
    main.contradicts = [group.leader for group in dissent]
    return [main, *dissent, *_few(texts, others)]


def _without_turned(texts: Sequence[Said], agreeing: Sequence[int]) -> tuple[list[int], list[int]]:
    """Those that hold all the words of the fact, apart from those that turn them: before for after, A for B, her for him."""
    kept: list[int] = []
    turned: list[int] = []
    wordings: dict[tuple[str, ...], Said] = {}
    for place in agreeing:
        text = texts[place]
        if any(_turns(one, text) for one in wordings.values()):
            turned.append(place)
            continue
        kept.append(place)
        if len(wordings) < WORDINGS:
            wordings.setdefault(text.row, text)
    return kept, turned


def _turns(one: Said, other: Said) -> bool:
    if one.words == other.words:
        if one.negated != other.negated or _has_other(one, other, one.names, other.names):
            return True
        mine, theirs = one.telling_row, other.telling_row
        has_sides = bool(one.names or other.names or _SIDES & one.grammar & other.grammar)
        if has_sides and _is_turned_round(mine, theirs):
            return True
    return _has_another_label(one, other) or _differs_in_place(one, other)

"""Which memories a message brings to mind: found by clues, weighed, folded, and none that the session has seen."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.base.rows import rows_where
from apps.memories.models import Memory, Resource, Status
from apps.memories.reading import newest_bodies
from apps.recall.clues import Clue, clues
from apps.recall.finding import Found, find, may_be_alike, words_of
from apps.recall.haste import Deadline
from apps.recall.sessions import uses
from apps.recall.weighing import IN_HEAD, favour, held, rareness_of, score
from apps.search.likeness import Group, Said, fold, said, says_the_same

CLOSE = 0.3  # Of the threshold: so near to it a candidate counts when wordings of one fact are folded.
SEEN = 40  # So many memories that the session saw last are compared with what is about to be shown.
# Comparing texts costs most of all: so many characters of each, and no more texts than make up the sum, the best first.
COMPARED, COMPARED_IN_ALL = 300, 6_000
FEW_WORDS = 3  # A text of fewer telling words is only understood together with its title.


@dataclass(frozen=True, slots=True)
class Chosen:
    """``alike`` others say the same; ``differs`` are ids of others that contradict it."""

    memory: Memory
    body: str
    score: float
    clues: str  # What it holds of the message, to find the place in its text.
    alike: int
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    holds: Mapping[str, float]  # Its clues, with the weight of their places.
    bag: frozenset[str]
    favour: float


def choose(
    message: str,
    scope_keys: Sequence[str],
    *,
    owner: str,
    seen: Sequence[str],
    held_back: Collection[str],
    by: Deadline,
) -> list[Chosen]:
    """Best first, a contradiction right behind what it contradicts, one wording of each fact; at most the number set."""
    asked = clues(message)
    if not asked or not scope_keys:
        return []
    found = find(asked, scope_keys)
    asked = [clue for clue in asked if clue.text in found.frequency]  # The others there was no room to look for.
    by.check()
    candidates = _candidates(asked, found, scope_keys, owner)
    by.check()
    if not candidates:
        return []
    groups = _groups(candidates)
    scores = _scores_of_facts(asked, found, candidates, groups)
    by.check()
    known = {*seen, *held_back}
    fresh = [
        group
        for group in _in_order(groups, scores)
        if known.isdisjoint(candidates[place].memory.stable_id for place in (group.leader, *group.alike))
    ][: settings.RECALL_MEMORIES]
    return _chosen(_unsaid(fresh, candidates, seen[:SEEN], scope_keys), candidates, scores)


def _candidates(asked: Sequence[Clue], found: Found, scope_keys: Sequence[str], owner: str) -> list[_Candidate]:
    rare = rareness_of(asked, found.frequency, found.total)
    holds = {words.stable_id: held(asked, words) for words in found.candidates}
    scores = {key: score(asked, clues_held, rare) for key, clues_held in holds.items()}
    close = [key for key, points in scores.items() if points >= CLOSE * settings.RECALL_MIN_SCORE]
    rows = rows_of(close, scope_keys)
    if not rows:
        return []
    used = uses(owner, close)
    bags = {words.stable_id: words.bag() for words in found.candidates}
    rows.sort(key=lambda row: (-scores[row.stable_id], -row.updated_at.timestamp(), -row.pk))
    return [
        _Candidate(row, holds[row.stable_id], bags[row.stable_id], favour(used.get(row.stable_id, 0))) for row in rows
    ]


def rows_of(ids: Sequence[str], scope_keys: Sequence[str]) -> list[Memory]:
    """The rows of ids, without what went or was withheld since the index was asked."""
    if not ids:
        return []
    rows = rows_where(Memory, f"stable_id IN ({', '.join(['%s'] * len(ids))})", list(ids))
    return [row for row in rows if is_shown(row, scope_keys)]


def is_shown(row: Memory, scope_keys: Collection[str]) -> bool:
    is_memory = row.resource == Resource.MEMORY and row.status == Status.ACTIVE
    return is_memory and not row.withheld and row.scope_id in scope_keys


# --- what says the same ---------------------------------------------------------------------------------------


def _groups(candidates: Sequence[_Candidate]) -> list[Group]:
    """Texts are only compared where the words of the index say that they may be alike: comparing costs most of all."""
    suspects = [
        place
        for place, one in enumerate(candidates)
        if any(may_be_alike(one.bag, other.bag) for other in candidates if other is not one)
    ]
    texts = _said_by([candidates[place].memory for place in suspects])
    suspects = [place for place in suspects if candidates[place].memory.pk in texts]
    groups = [_placed(group, suspects) for group in fold([texts[candidates[p].memory.pk] for p in suspects])]
    alone = [Group(place) for place in range(len(candidates)) if place not in set(suspects)]
    return [*_unfolded(groups, candidates), *alone]


def _placed(group: Group, places: Sequence[int]) -> Group:
    return Group(places[group.leader], [places[p] for p in group.alike], [places[p] for p in group.contradicts])


def _said_by(rows: Sequence[Memory]) -> dict[int, Said]:
    """By row key; of many long texts not all (``COMPARED_IN_ALL``)."""
    bodies = newest_bodies(rows) if rows else {}
    texts: dict[int, Said] = {}
    room = COMPARED_IN_ALL
    for row in rows:
        whole = bodies.get(row.pk, "")
        body = whole[:COMPARED]
        room -= len(row.summary) + len(body)
        if room < 0 and texts:
            break
        texts[row.pk] = _said(row, body, whole[COMPARED:])
    return texts


def _said(row: Memory, body: str, rest: str) -> Said:
    """What a memory states. Titles must differ even where facts do not, so they only count where there is little else."""
    told = f"{row.summary}\n{body}"
    text = said(told, rest)
    return text if len(text.words) >= FEW_WORDS else said(f"{row.title}\n{told}", rest)


def _unfolded(groups: Sequence[Group], candidates: Sequence[_Candidate]) -> list[Group]:
    """A text that has the very number the message names is shown, however like another one it is."""
    apart: list[Group] = []
    for group in groups:
        leading = candidates[group.leader].holds
        own = [p for p in group.alike if any(_is_number(c) and c not in leading for c in candidates[p].holds)]
        alike = [place for place in group.alike if place not in own]
        apart += [Group(group.leader, alike, group.contradicts), *(Group(place) for place in own)]
    return apart


def _is_number(clue: str) -> bool:
    return any(character.isdigit() for character in clue)


def _unsaid(
    groups: Sequence[Group], candidates: Sequence[_Candidate], seen: Sequence[str], scope_keys: Sequence[str]
) -> list[Group]:
    """The groups of which the session has seen no other wording either."""
    bags = {words.stable_id: words.bag() for words in words_of(seen)} if groups and seen else {}
    leaders = [candidates[group.leader] for group in groups]
    suspects = [key for key, bag in bags.items() if any(may_be_alike(bag, leader.bag) for leader in leaders)]
    if not suspects:
        return list(groups)
    told = _said_by(rows_of(suspects, scope_keys)).values()
    texts = _said_by([leader.memory for leader in leaders])
    return [
        group
        for group, leader in zip(groups, leaders, strict=True)
        if leader.memory.pk not in texts or not any(says_the_same(texts[leader.memory.pk], one) for one in told)
    ]


# --- scores and their order -----------------------------------------------------------------------------------


def _scores_of_facts(
    asked: Sequence[Clue], found: Found, candidates: Sequence[_Candidate], groups: Sequence[Group]
) -> list[float]:
    """Scores with every fact counted once: fifty wordings of it must not make its words common ones."""
    repeated: Counter[str] = Counter()
    for group in groups:
        holding = Counter(
            clue
            for place in (group.leader, *group.alike)
            for clue, weight in candidates[place].holds.items()
            if weight >= IN_HEAD
        )
        repeated.update({clue: count - 1 for clue, count in holding.items() if count > 1})
    frequency = {clue: max(1, count - repeated[clue]) for clue, count in found.frequency.items()}
    rare = rareness_of(asked, frequency, found.total)
    return [score(asked, one.holds, rare) * one.favour for one in candidates]


def _in_order(groups: Sequence[Group], scores: Sequence[float]) -> list[Group]:
    """The groups over the threshold, best first; what contradicts one follows it, even from a little below."""
    by_leader = {group.leader: group for group in groups}
    ordered: dict[int, Group] = {}
    for group in sorted(groups, key=lambda group: -scores[group.leader]):
        if scores[group.leader] < settings.RECALL_MIN_SCORE or group.leader in ordered:
            continue
        ordered[group.leader] = group
        for leader in group.contradicts:
            if leader in by_leader and scores[leader] >= CLOSE * settings.RECALL_MIN_SCORE:
                ordered.setdefault(leader, by_leader[leader])
    return list(ordered.values())


def _chosen(groups: Sequence[Group], candidates: Sequence[_Candidate], scores: Sequence[float]) -> list[Chosen]:
    shown = {group.leader for group in groups}
    bodies = newest_bodies([candidates[place].memory for place in shown]) if shown else {}
    differing: dict[int, set[int]] = {leader: set() for leader in shown}
    for group in groups:
        for other in shown.intersection(group.contradicts):
            differing[group.leader].add(other)
            differing[other].add(group.leader)
    return [
        Chosen(
            memory=candidates[group.leader].memory,
            body=bodies.get(candidates[group.leader].memory.pk, ""),
            score=round(scores[group.leader], 3),
            clues=" ".join(candidates[group.leader].holds),
            alike=len(group.alike),
            differs=tuple(candidates[place].memory.stable_id for place in sorted(differing[group.leader])),
        )
        for group in groups
    ]

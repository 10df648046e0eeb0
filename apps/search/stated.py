"""What a text states, as far as words tell: the coarse words it is compared by, and the fine ones that make it another fact.

Coarse words (cut at six letters, without the common ones) tell which texts are about the same thing. Whether they state the
same, the fine ones tell: whole stems, each Chinese character, and what grammar adds: before and after, on and off, Team A and
Team B, -5 and 5. Pure.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.search.expressions import COMMON, COMMON_CHARACTERS
from apps.search.tokens import Kind, Token, tokens

CHARACTERS = 2_000  # So much of a text is compared word by word; what follows must be the very same.
BEGINNING = 6  # deploy, deployed, deployment: words with the same beginning count as one coarse word.

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
# A minus, and what says more or less than a figure. A hyphen between words or digits is none, nor is an arrow.
_SIGN = re.compile(r"(?:(?<![0-9A-Za-z-])[-\u2212]|(?<![-=])[<>]=?\s?|[≤≥≠]\s?|!=\s?)\Z")

_ARTICLES = frozenset("a an the".split())
# Words that state nothing where the rest is said: their coming and going changes no fact.
_IDLE = frozenset("also are as be been being do does has have having is it its itself of our ours please so such that "
                  "their theirs them there these they this those us we".split())  # fmt: skip
# Words of grammar do not make a fact by themselves, but one in the place of another of its sort makes it another fact.
# ("At" stands with those it can be told from: works at Acme, works for Acme and employed by Acme are one thing.)
_SORTS = (
    "i me my mine you your yours he him his she her hers whose who whom",
    "about above after against before behind below between by down during for from in inside into off on onto out outside "
    "over since through to toward towards under until up via with within per",
    "at after before behind below during from in inside into off on out outside since until",
    "and or but then than if because when where while why how what which unless except",
    "can could did had may might must shall should was were will would",
    "all any some every each both few many most more less fewer several",
)
SORTS = {
    word: frozenset(number for number, words in enumerate(_SORTS) if word in words.split())
    for word in " ".join(_SORTS).split()
}
# Other words for the same, where each of them is common in what is remembered of people and work.
_LIKE = {"each": "every", "towards": "toward", "employ": "work", "employer": "work", "employe": "work"}
# What turns a statement into that of another time or case, wherever it stands.
_TURNING = frozenset("did had was were except unless only until if".split())
_TURNING_IN_CHINESE = re.compile("除|仅|只|才|曾|若|如果|以前|原先")
_IDLE_CHARACTERS = COMMON_CHARACTERS | frozenset("在于也就都")


@dataclass(frozen=True, slots=True)
class Said:
    """What a text says. ``order`` is its coarse words in a row, ``words`` the same without repeats.

    ``row`` is everything but articles, fine, in a row. ``content`` counts the fine words that state something (Chinese: the
    characters), ``grammar`` has the words of grammar. ``labels`` are single letters with the word before.
    """

    order: tuple[str, ...]
    words: frozenset[str]
    figures: frozenset[str]
    names: frozenset[str]
    lone_names: frozenset[str]  # Without the further parts of a name: Maya of Maya Lindqvist.
    is_negated: bool
    row: tuple[str, ...]
    content: Counter[str]
    grammar: frozenset[str]
    labels: frozenset[tuple[str, str]]
    negated: tuple[str, ...]  # What each "not" is said of.
    turns: tuple[str, ...]
    rest: str

    @property
    def telling_row(self) -> list[str]:
        return [word for word in self.row if word not in _IDLE and word not in _IDLE_CHARACTERS]


def said(text: str, rest: str = "") -> Said:
    """``rest`` is what follows a text that its reader cut already."""
    reading = _Reading(_NUMBERING.sub("", text[:CHARACTERS].strip()))
    reading.read()
    return reading.said((text[CHARACTERS:] + rest).strip())


@dataclass
class _Reading:
    text: str
    order: list[str] = field(default_factory=list)
    figures: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    lone_names: set[str] = field(default_factory=set)
    row: list[str] = field(default_factory=list)
    content: Counter[str] = field(default_factory=Counter)
    grammar: set[str] = field(default_factory=set)
    labels: set[tuple[str, str]] = field(default_factory=set)
    negated: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)
    open_negations: int = 0
    before: str = ""
    is_after_title: bool = False

    def read(self) -> None:
        for token in tokens(self.text):
            match token.kind:
                case Kind.NAME:
                    self.names.add(self._signed(token))  # MySQL is no PostgreSQL, though half of each is the same.
                case Kind.PAIR:
                    self._add_pair(token.text)
                case Kind.WORD | Kind.PART:
                    self._add_word(token)
                case Kind.SIGN:
                    pass
        self._close_negations("")
        self.negated += [self.text[match.end() : match.end() + 1] for match in _NOT_IN_CHINESE.finditer(self.text)]
        self.turns += _TURNING_IN_CHINESE.findall(self.text)

    def said(self, rest: str) -> Said:
        return Said(
            order=tuple(self.order),
            words=frozenset(self.order),
            figures=frozenset(self.figures),
            names=frozenset(self.names),
            lone_names=frozenset(self.lone_names),
            is_negated=len(self.negated) % 2 == 1,
            row=tuple(self.row),
            content=self.content,
            grammar=frozenset(self.grammar),
            labels=frozenset(self.labels),
            negated=tuple(sorted(self.negated)),
            turns=tuple(sorted(self.turns)),
            rest=rest,
        )

    def _add_pair(self, pair: str) -> None:
        character = pair[0]
        self.row.append(character)
        if character not in _IDLE_CHARACTERS:
            self.content[character] += 1
        self.before = character
        if len(pair) > 1 and not COMMON_CHARACTERS.intersection(pair):
            self.order.append(pair)
            self.figures.update(_CHINESE_FIGURE.findall(pair))

    def _add_word(self, token: Token) -> None:
        surface = self.text[token.start : token.end]
        low = surface.casefold().translate(_NO_APOSTROPHE)
        is_title = surface[:1].isupper() and self._is_within_a_sentence(token.start)
        is_further_name, self.is_after_title = self.is_after_title, surface[:1].isupper()
        is_label = len(low) == 1 and low.isascii() and low.isalpha()
        if is_label:
            self.labels.add((self.before, low))
        is_hour = low == "am" and self.before[-1:].isdigit()
        self.before = low
        if is_label and is_title and low != "i":  # Team A: no article.
            self.order.append(low)
            self.names.add(low)
            self.lone_names.add(low)
            self._add_fine(low)
            return
        word = self._signed(token)
        self._add_grammar_or_fine(low, word)
        if not is_hour and (low in COMMON or surface.casefold() in COMMON or word in COMMON):
            return
        short = word[:BEGINNING] if word.isalpha() else word
        self.order.append(short)
        if token.text.isdigit() or short in _FIGURE_STEMS:
            self.figures.add(short)
        elif is_title:
            self.names.add(short)
            if not is_further_name:
                self.lone_names.add(short)

    def _add_grammar_or_fine(self, low: str, word: str) -> None:
        low = _LIKE.get(low, low)
        if low in _TURNING:
            self.turns.append(low)
        if low in _NOT:  # Not its stem: that of "note" is "not".
            self.row.append("not")
            self.open_negations += 1
        elif low in _ARTICLES:
            pass
        elif low in _IDLE:
            self.row.append(low)
        elif low in SORTS:
            self.row.append(low)
            self.grammar.add(low)
        else:
            self._add_fine(_LIKE.get(word, word))

    def _add_fine(self, word: str) -> None:
        self.row.append(word)
        self.content[word] = 1  # How often a word is said states nothing; of Chinese characters it does.
        self._close_negations(word)

    def _close_negations(self, word: str) -> None:
        self.negated += [word] * self.open_negations
        self.open_negations = 0

    def _signed(self, token: Token) -> str:
        if not token.text[:1].isdigit():
            return token.text
        sign = _SIGN.search(self.text[max(0, token.start - 3) : token.start])
        return f"{sign[0].strip()}{token.text}".replace("\u2212", "-") if sign else token.text

    def _is_within_a_sentence(self, start: int) -> bool:
        return start > 0 and not _SENTENCE.search(self.text[max(0, start - 3) : start])


_ENDINGS = ("ment", "ion", "ation")


def is_same_word(one: str, other: str) -> bool:
    """Whether two stems are forms of one word: deploy and deployment. Serial and serializable are not."""
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and long.startswith(short) and long[len(short) :] in _ENDINGS


def own_words(one: Said, other: Said) -> tuple[list[str], list[str]]:
    """What each states in words that the other one lacks in any form."""
    mine, theirs = list(one.content - other.content), list(other.content - one.content)
    return _without_forms(mine, theirs), _without_forms(theirs, mine)


def _without_forms(words: Iterable[str], others: list[str]) -> list[str]:
    return [word for word in words if not any(is_same_word(word, other) for other in others)]

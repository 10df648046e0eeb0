"""From what somebody typed to what FTS5 is asked: a ladder of expressions, strictest first. Pure.

What is typed is data: operators, brackets, asterisks and lone quotes are never syntax. Only "words in quotes" are more:
they must follow one another.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.search.stems import stem
from apps.search.tokens import Part, Piece, Shape, pieces, plain, segment

MAX_UNITS = 32
MAX_CHARACTERS = 2_000
_QUOTED = re.compile(r'"([^"]*)"')
_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "＂": '"'})
# What an identifier has that a compound word such as multi-agent lacks.
_CODE = re.compile(r"[0-9_./\\:@#]")
# A run this short is one word to its reader: its pairs alone would find other words.
_SHORT_RUN = 3

# English words that nearly every text holds: they narrow nothing, and ranking all their documents takes longest. They
# count only where the query has no other word, and inside quotes.
COMMON = frozenset(
    "a about after all also am an and any are as at be because been before but by can could did do does dont for from "
    "had has have he her here him his how i if in into is it its me my no nor not of on or our out please she should "
    "so some such tell than that the their them then there these they this those to us was we were what when where which "
    "who whom whose why will with would you your".split()
)

# The same for Chinese: a pair that holds one of these says little about what a text is about.
COMMON_CHARACTERS = frozenset("的了吗呢吧啊么什是这那哪们")


class Match(StrEnum):
    """How a document was found, best first."""

    TITLE = "title"  # the query is its title
    IN_A_ROW = "in-a-row"  # all words one behind the other
    CODE = "code"  # the identifiers, paths or codes of the query as they stand
    ALL_WORDS = "all-words"
    PREFIX = "prefix"  # words begin as asked: CONN_RES in ERR_CONN_RESET
    ANY_WORD = "any-word"
    MEANING = "meaning"  # none of the words, only what they mean


@dataclass(frozen=True, slots=True)
class Unit:
    """One word, identifier, run or phrase of a query, from its strictest expression to its widest."""

    exact: str
    loose: str
    any: tuple[str, ...]
    prefix: str
    apart: str = ""  # the parts of an identifier wherever they stand
    is_common: bool = False
    is_name: bool = False
    surface: str = ""  # as it was typed, where it is one word


@dataclass(frozen=True, slots=True)
class Rung:
    """``alternatives`` are parts any of which is enough; a last resort is for when nothing is found."""

    expression: str
    match: Match
    alternatives: tuple[str, ...] = ()
    is_last_resort: bool = False
    is_in_a_row: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A query understood: its rungs, the key of a title equal to it, and whether words had to be left out."""

    rungs: tuple[Rung, ...]
    title_key: str
    is_shortened: bool
    units: tuple[Unit, ...]

    @property
    def in_a_row(self) -> str:
        """All words one behind the other; of a single word, that word."""
        return self.rungs[0].expression

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Each word by itself."""
        return tuple(dict.fromkeys(alternative for unit in self.units for alternative in unit.any))

    @property
    def is_code(self) -> bool:
        """Whether it is nothing but identifiers, paths, versions or codes: these stand somewhere or nowhere."""
        return all(unit.is_name and _CODE.search(unit.exact) for unit in self.units)

    @property
    def codes(self) -> tuple[str, ...]:
        """Identifiers, paths, versions and error codes among other words, as they stand."""
        found = tuple(unit.exact for unit in self.units if unit.is_name and _CODE.search(unit.exact))
        return found if len(self.units) > 1 else ()


def understand(query: str) -> Ask | None:
    """``None`` where the query has no word at all."""
    is_cut = len(query) > MAX_CHARACTERS
    query = query[:MAX_CHARACTERS]
    found = list(dict.fromkeys(_units(query)))
    if not found:
        return None
    telling = [unit for unit in found if not unit.is_common] or found
    asked = telling[:MAX_UNITS]
    in_a_row = _phrase_of(list(pieces(query))) if 1 < len(asked) <= MAX_UNITS and '"' not in query else asked[0].exact
    is_shortened = is_cut or len(telling) > MAX_UNITS
    return Ask(tuple(_rungs(asked, in_a_row)), segment(query).words[:200], is_shortened, tuple(asked))


def _rungs(units: Sequence[Unit], in_a_row: str) -> Iterator[Rung]:
    has_name = any(unit.is_name for unit in units)
    prefix = Rung(_all(unit.prefix for unit in units), Match.PREFIX, is_last_resort=True)
    ladder = [
        Rung(in_a_row, Match.ALL_WORDS, is_in_a_row=True),
        Rung(_all(unit.exact for unit in units), Match.ALL_WORDS),
        Rung(_all(unit.loose for unit in units), Match.ALL_WORDS),
        *([prefix] if has_name else []),  # Before any of the words: CONN_RES means the identifier.
        any_of([alternative for unit in units for alternative in unit.any]),
        prefix,
        Rung(_all(unit.apart or unit.loose for unit in units), Match.ALL_WORDS, is_last_resort=True),
    ]
    asked: set[str] = set()
    for rung in ladder:
        if rung.expression not in asked:
            asked.add(rung.expression)
            yield rung


def any_of(alternatives: Sequence[str]) -> Rung:
    single = tuple(dict.fromkeys(alternatives))
    return Rung(" OR ".join(single), Match.ANY_WORD, single)


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(expressions)


# --- units --------------------------------------------------------------------------------------------------


def _units(query: str) -> Iterator[Unit]:
    text = query.translate(_CURLY)
    done = 0
    for match in _QUOTED.finditer(text):
        yield from map(_unit, pieces(text[done : match.start()]))
        yield from _phrase_unit(match[1])
        done = match.end()
    yield from map(_unit, pieces(text[done:]))


def _phrase_unit(text: str) -> Iterator[Unit]:
    found = list(pieces(text))
    if len(found) == 1 and text.strip() == plain(text).strip():
        yield _unit(found[0])
    elif found:
        expression = _phrase_of(found)
        yield Unit(expression, expression, (expression,), expression)


def _unit(piece: Piece) -> Unit:
    match piece.shape:
        case Shape.RUN:
            return _run_unit(piece)
        case Shape.SIGN:
            expression = _quoted([piece.surface])
            return Unit(expression, expression, (expression,), expression)
        case Shape.COMPOUND:
            return _name_unit(piece) if len(piece.parts) > 1 else _word_unit(piece.parts[0])


def _word_unit(part: Part) -> Unit:
    expression = _word(part.surface, part.token)
    beginning = part.token if part.surface.startswith(part.token) and len(part.token) > 2 else part.surface
    prefix = f"{_quoted([beginning])} *" if len(beginning) > 1 else expression
    is_common = part.surface in COMMON
    return Unit(expression, expression, (expression,), prefix, is_common=is_common, surface=part.surface)


def _word(surface: str, token: str) -> str:
    """A stem, or the word as the whole of an identifier, where wholes are never stemmed (``OpenFaaS``)."""
    if surface == token:
        return _quoted([token])
    return f"({_quoted([token])} OR names : {_quoted([surface])})"


def _name_unit(piece: Piece) -> Unit:
    parts = [part.token for part in piece.parts]
    phrase, apart = _quoted(parts), _all(_quoted([part]) for part in dict.fromkeys(parts))
    prefix = f"{_quoted([*parts[:-1], piece.parts[-1].surface])} *"
    if not piece.names:
        return Unit(phrase, phrase, (phrase,), prefix, apart, is_name=True, surface=piece.surface)
    whole = piece.names[0].token
    exact = _word(whole, stem(whole)) if whole.isalpha() else _quoted([whole])
    wide = f"({exact} OR {phrase})"
    prefix = f"({prefix} OR names : {_quoted([whole])} *)"
    return Unit(exact, wide, (wide,), prefix, apart, is_name=True, surface=piece.surface)


def _run_unit(piece: Piece) -> Unit:
    if len(piece.parts) == 1:
        expression = f"{_quoted([piece.surface])} *"
        return Unit(expression, expression, (expression,), expression)
    pairs = [part.token for part in piece.parts[:-1]]
    phrase = _quoted(pairs)
    if len(piece.surface) <= _SHORT_RUN:
        return Unit(phrase, phrase, (phrase,), phrase)
    single = list(dict.fromkeys(pairs))
    telling = ([pair for pair in single if not COMMON_CHARACTERS.intersection(pair)] or single)[: 2 * MAX_UNITS]
    any_pair = tuple(_quoted([pair]) for pair in telling)
    return Unit(phrase, f"({_all(_quoted([pair]) for pair in telling)})", any_pair, phrase)


def _phrase_of(found: Sequence[Piece]) -> str:
    """All words in a row. A run at the end goes without its last character alone: the text may go on there."""
    row = [part.token for piece in found for part in piece.parts]
    if found[-1].shape is not Shape.RUN:
        return _quoted(row)
    return _quoted(row[:-1]) if len(found[-1].parts) > 1 else f"{_quoted(row)} *"


def _quoted(row: Sequence[str]) -> str:
    return f'"{" ".join(row)}"'

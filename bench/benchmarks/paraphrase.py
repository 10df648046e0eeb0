"""Whether a sentence is found by a question in other words, when it stands in a note among many that have nothing to do with it.

A thousand notes, three of ten in Chinese, each of ten sentences or so on as many matters; 36 of them hold one sentence
that is asked for in other words (``bench/data/paraphrases.json``). The best of other servers found 3 of 36 so.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

from bench.inside import Inside, inside
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.servers import PROJECT
from bench.workload import SEED, note

PARAPHRASES = PROJECT / "bench" / "data" / "paraphrases.json"
NOTES, SERIES = 1_000, "p"
MODES = ("text", "semantic", "hybrid")
DEPTH, BAR, AIM = 10, 8, 14
HAN = "\u3400"


def run(options: Options) -> Report:
    asked = json.loads(PARAPHRASES.read_text(encoding="utf-8"))
    size = 100 if options.quick else NOTES
    with inside("paraphrase") as product:
        project = product.workspace("Paraphrases")
        notes = list(_notes(asked, size))
        ids = product.save(project, [memory for memory, _ in notes])
        targets = {query: memory_id for memory_id, (_, query) in zip(ids, notes, strict=True) if query}
        found = {mode: [_is_found(product, project, one, mode) for one in targets.items()] for mode in MODES}
    rows = [
        [mode, *(f"{sum(some)} of {len(some)}" for some in _by_language(list(targets), found[mode]))] for mode in MODES
    ]
    figure = Figure(f"hybrid hit@{DEPTH} of {len(targets)}", sum(found["hybrid"]), BAR, at_least=True, unit="")
    return Report([figure], [*table([f"hit@{DEPTH}", "English", "Chinese", "all"], rows), f"Aim: {AIM}."])


def _notes(asked: list[dict[str, str]], size: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Memories to save, each with the question that means one sentence of it, or with none."""
    notes = [note(number, SERIES) for number in range(size)]
    places: dict[int, dict[str, str]] = {}
    for number, one in enumerate(asked):
        begin = number * size // len(asked)
        order = [*range(begin, size), *range(begin)]
        is_chinese = one["said"][0] > HAN
        places[next(place for place in order if place not in places and notes[place].is_chinese == is_chinese)] = one
    for place, made in enumerate(notes):
        planted = places.get(place)
        body = _with(made.body, planted["said"], place) if planted else made.body
        yield {"title": made.title, "body": body, "tags": made.tags}, planted["query"] if planted else ""


def _with(body: str, sentence: str, place: int) -> str:
    """The sentence somewhere among the others of one paragraph."""
    dice = random.Random(f"{SEED} paraphrase {place}")
    paragraphs = body.split("\n\n")
    chosen = dice.randrange(len(paragraphs))
    end, gap = ("。", "") if sentence[0] > HAN else (". ", " ")
    first, _, rest = paragraphs[chosen].partition(end)
    paragraphs[chosen] = f"{first}{end}{sentence}{gap}{rest}" if rest else f"{paragraphs[chosen]}{gap}{sentence}"
    return "\n\n".join(paragraphs)


def _is_found(product: Inside, project: str, asked: tuple[str, str], mode: str) -> bool:
    query, memory_id = asked
    return memory_id in product.search(project, query, mode, DEPTH)


def _by_language(queries: list[str], found: list[bool]) -> list[list[bool]]:
    english = [is_found for query, is_found in zip(queries, found, strict=True) if query[0] <= HAN]
    chinese = [is_found for query, is_found in zip(queries, found, strict=True) if query[0] > HAN]
    return [english, chinese, found]


def prepare(options: Options) -> None:
    """Nothing is made ahead: vectors are kept as they come."""


BENCHMARK = Benchmark("36 questions in other words than the sentence they mean, inside mixed notes", prepare, run)

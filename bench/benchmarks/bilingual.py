"""Whether a question in Chinese or English finds the note that answers it, in either language.

Two sets: ``--data FILE`` (questions in other words than their answers, among answers that are nearly right), and one of our own
(``bench/data/bilingual_hard.json``: names, codes, negations, dates, near twins). Each set is one workspace with all its notes
of both languages, which the operations that agents call save and search.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.inside import Inside, inside
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table
from bench.servers import PROJECT

HARD = PROJECT / "bench" / "data" / "bilingual_hard.json"
MODES = ("text", "semantic", "hybrid")
OTHER = {"en": "zh", "zh": "en"}
DEPTH = 20
MISSED_AT_MOST, ACROSS_LANGUAGES = 1, 0.70
TITLE_CHARACTERS = 60


@dataclass(frozen=True)
class Question:
    """``cell`` is the language of the question, then that of the note."""

    text: str
    note: int
    cell: str
    kind: str = ""


@dataclass(frozen=True)
class NoteSet:
    name: str
    notes: list[str]
    questions: list[Question]


@dataclass(frozen=True)
class Asked:
    question: Question
    ranks: dict[str, int]  # By mode; 0 where it was not found.


def run(options: Options) -> Report:
    if options.data is None:
        return Report([], [__doc__ or ""], ["the first set is missing: give --data FILE"])
    figures: list[Figure] = []
    lines: list[str] = []
    with inside("bilingual") as product:
        for notes in (given(options.data), hard(HARD)):
            asked = _ask_all(product, notes, most=12 if options.quick else None)
            lines += [f"{notes.name}: {len(notes.notes)} notes", *_table(asked), ""]
            if notes.name == "given":
                figures = _figures(asked)
    return Report(figures, lines)


def given(file: Path) -> NoteSet:
    notes: list[str] = []
    questions: list[Question] = []
    for language, items in json.loads(file.read_text(encoding="utf-8")).items():
        for item in items:
            at = len(notes)
            notes += [item["positive"], *item["hard_negatives"]]
            questions += _both(item["query"], item["query_other_lang"], at, language)
    return NoteSet("given", notes, questions)


def hard(file: Path) -> NoteSet:
    notes: list[str] = []
    questions: list[Question] = []
    for group in json.loads(file.read_text(encoding="utf-8")):
        for note in group["notes"]:
            at = len(notes)
            notes.append(note["text"])
            questions += _both(note["query"], note["query_other_language"], at, group["language"], group["kind"])
    return NoteSet("hard", notes, questions)


def _both(same: str, other: str, note: int, language: str, kind: str = "") -> list[Question]:
    return [
        Question(same, note, f"{language}-{language}", kind),
        Question(other, note, f"{OTHER[language]}-{language}", kind),
    ]


def _ask_all(product: Inside, notes: NoteSet, most: int | None) -> list[Asked]:
    project = product.workspace(f"Bilingual {notes.name}")
    ids = product.save(project, [{"title": _title(text), "body": text} for text in notes.notes])
    return [
        Asked(question, {mode: _rank(product, project, question, mode, ids) for mode in MODES})
        for question in notes.questions[:most]
    ]


def _title(text: str) -> str:
    """How the note begins, as a client makes a title that was given none."""
    return text if len(text) <= TITLE_CHARACTERS else f"{text[:TITLE_CHARACTERS]}…"


def _rank(product: Inside, project: str, question: Question, mode: str, ids: Sequence[str]) -> int:
    found = product.search(project, question.text, mode, DEPTH)
    return found.index(ids[question.note]) + 1 if ids[question.note] in found else 0


# --- figures ------------------------------------------------------------------------------------------------


def _figures(asked: Sequence[Asked]) -> list[Figure]:
    figures = []
    for cell in ("en-en", "zh-zh"):
        ranks = _ranks(asked, cell, "hybrid")
        missed = len(ranks) * (1 - recall(ranks, 5))
        figures.append(Figure(f"{cell} missed @5", round(missed), MISSED_AT_MOST, unit=""))
    for cell in ("zh-en", "en-zh"):
        found = recall(_ranks(asked, cell, "hybrid"), 5)
        figures.append(Figure(f"{cell} recall@5", found, ACROSS_LANGUAGES, at_least=True, unit=""))
    return figures


def recall(ranks: Sequence[int], depth: int) -> float:
    return sum(1 for rank in ranks if 0 < rank <= depth) / max(1, len(ranks))


def _ranks(asked: Sequence[Asked], group: str, mode: str) -> list[int]:
    return [one.ranks[mode] for one in asked if group in ("all", one.question.cell, one.question.kind)]


def _table(asked: Sequence[Asked]) -> list[str]:
    groups = dict.fromkeys([*(one.question.cell for one in asked), *(one.question.kind for one in asked), "all"])
    heads = ["question-note", "questions", *(f"{mode} {what}" for mode in MODES for what in ("R@1", "R@5", "MRR"))]
    return table(heads, [_row(asked, group) for group in groups if group])


def _row(asked: Sequence[Asked], group: str) -> list[str]:
    cells: list[Any] = []
    for mode in MODES:
        ranks = _ranks(asked, group, mode)
        mrr = sum(1 / rank for rank in ranks if rank) / max(1, len(ranks))
        cells += [f"{recall(ranks, 1):.2f}", f"{recall(ranks, 5):.3f}", f"{mrr:.3f}"]
    return [group, str(len(_ranks(asked, group, "hybrid"))), *cells]


def prepare(options: Options) -> None:
    """Nothing is made ahead: vectors are kept as they come."""


BENCHMARK = Benchmark("Chinese and English questions, notes in either language", prepare, run, takes_data=True)

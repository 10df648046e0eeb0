"""Whether the turns of long conversations are found that answer questions about them: LoCoMo, or any file of its form.

``--data FILE``: github.com/snap-research/LoCoMo, ``data/locomo10.json`` or a part of it. The data are CC BY-NC 4.0, so that they
are not part of this repository. One memory a turn, one workspace a conversation, one thread a session; saved and searched
through the operations that agents call. Questions of category 5 (unanswerable) and those without evidence are left out.
Recall is the share of a question's evidence among the first k hits, its mean over all questions.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.inside import Inside, inside
from bench.registry import Benchmark, Options
from bench.report import Figure, Report, table

MODES = ("text", "semantic", "hybrid")
DEPTHS = (5, 10, 20)
BARS = {5: 0.60, 10: 0.70, 20: 0.76}
UNANSWERABLE = 5
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_REFERENCE = re.compile(r"D:?(\d+):0*(\d+)")


@dataclass(frozen=True)
class Turn:
    name: str
    session: str
    head: str  # Date and speaker, which every turn begins with.
    text: str


@dataclass(frozen=True)
class Question:
    text: str
    kind: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: list[Turn]
    questions: list[Question]


@dataclass(frozen=True)
class Asked:
    """One question with the recall at each depth, by mode."""

    conversation: str
    kind: int
    recall: dict[tuple[str, int], float]


def run(options: Options) -> Report:
    if options.data is None:
        return Report([], [__doc__ or ""], ["there is no data: give --data FILE"])
    conversations = list(read(options.data))
    if options.quick:
        conversations = [Conversation(one.name, one.turns[:60], one.questions[:10]) for one in conversations[:1]]
    asked: list[Asked] = []
    with inside("locomo") as product:
        for conversation in conversations:
            asked += _ask_all(product, conversation)
            print(
                f"{conversation.name}: {len(conversation.turns)} turns, {len(conversation.questions)} questions",
                file=sys.stderr,
            )
    figures = [Figure(f"hybrid recall@{k}", mean(asked, "hybrid", k), BARS[k], at_least=True, unit="") for k in DEPTHS]
    return Report(figures, _tables(asked))


def _ask_all(product: Inside, conversation: Conversation) -> Iterator[Asked]:
    project = product.workspace(f"LoCoMo {conversation.name}")
    ids = product.save(project, [_memory(conversation, turn) for turn in conversation.turns])
    names = {memory_id: turn.name for memory_id, turn in zip(ids, conversation.turns, strict=True)}
    for question in conversation.questions:
        recall = {}
        for mode in MODES:
            found = [names[one] for one in product.search(project, question.text, mode, max(DEPTHS))]
            for k in DEPTHS:
                recall[mode, k] = len(question.evidence.intersection(found[:k])) / len(question.evidence)
        yield Asked(conversation.name, question.kind, recall)


def _memory(conversation: Conversation, turn: Turn) -> dict[str, Any]:
    """The title is how the text begins, as many clients make it."""
    return {"title": turn.head, "body": turn.text, "thread": f"{conversation.name} {turn.session}"}


# --- the file -----------------------------------------------------------------------------------------------


def read(file: Path) -> Iterator[Conversation]:
    for sample in json.loads(file.read_text(encoding="utf-8")):
        turns = list(_turns(sample["conversation"]))
        known = {turn.name for turn in turns}
        yield Conversation(str(sample["sample_id"]), turns, list(_questions(sample["qa"], known)))


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    number = 1
    while (session := f"session_{number}") in conversation or f"{session}_date_time" in conversation:
        for turn in conversation.get(session) or []:
            head = f"[{conversation[f'{session}_date_time']}] {turn['speaker']}"
            picture = f" (image: {turn['blip_caption']})" if turn.get("blip_caption") else ""
            yield Turn(str(turn["dia_id"]), session, head, f"{head}: {turn['text']}{picture}")
        number += 1


def _questions(questions: list[dict[str, Any]], known: set[str]) -> Iterator[Question]:
    for question in questions:
        told = [part for text in question.get("evidence") or [] for part in re.split(r"[;,\s]+", text)]
        references = [_REFERENCE.fullmatch(part) for part in told]
        evidence = frozenset(f"D{one[1]}:{one[2]}" for one in references if one) & known
        if evidence and question["category"] != UNANSWERABLE:
            yield Question(str(question["question"]), int(question["category"]), evidence)


# --- the tables ---------------------------------------------------------------------------------------------


def mean(asked: list[Asked], mode: str, depth: int) -> float:
    return sum(one.recall[mode, depth] for one in asked) / len(asked)


def _tables(asked: list[Asked]) -> list[str]:
    heads = ["recall", "questions", *(f"{mode} @{k}" for mode in MODES for k in DEPTHS)]
    groups = {
        name: [one for one in asked if one.conversation == name]
        for name in dict.fromkeys(one.conversation for one in asked)
    }
    groups |= {
        KINDS.get(kind, str(kind)): [one for one in asked if one.kind == kind]
        for kind in sorted({one.kind for one in asked})
    }
    groups["all"] = asked
    return table(heads, [_row(name, some) for name, some in groups.items()])


def _row(name: str, asked: list[Asked]) -> list[str]:
    return [name, str(len(asked)), *(f"{mean(asked, mode, k):.3f}" for mode in MODES for k in DEPTHS)]


def prepare(options: Options) -> None:
    """Nothing is made ahead: vectors are kept as they come."""


BENCHMARK = Benchmark(
    "recall of the turns that answer questions about long conversations (LoCoMo)", prepare, run, takes_data=True
)

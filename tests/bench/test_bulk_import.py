"""What the import benchmark imports, and what it may look for while the import is under way."""

import random
from pathlib import Path

from apps.memories.transfer.folders import source_files
from apps.memories.transfer.notes import read_note
from bench import vault
from bench.benchmarks.bulk_import import QUICK_SIZE, chosen
from bench.workload import note


def test_a_vault_is_read_as_the_notes_it_was_made_of(tmp_path: Path):
    vault.write_vault(tmp_path, 8)
    for number in range(8):
        one = note(number)
        file = tmp_path / vault.folder_of(number) / f"{one.title}.md"
        read = read_note(file.relative_to(tmp_path).as_posix(), file.read_bytes(), 0.0)
        assert read.facts.title == one.title and one.body in read.facts.body and not read.problems
        assert number % 4 == 2 or set(one.tags) <= set(read.facts.tags)


def test_whole_folders_come_in_the_order_of_their_notes(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(vault, "FOLDER_NOTES", 3)
    vault.write_vault(tmp_path, 10)
    files = [file.path for file in source_files(tmp_path)]
    for number in range(9):
        place = next(at for at, path in enumerate(files) if note(number).title in path)
        assert vault.is_in(number, place + 3) and not vault.is_in(number, place - 2)


def test_only_what_is_in_already_is_looked_for():
    dice = random.Random(1)
    for query in chosen(dice, 1_100, 200):
        number = int(query.target.rpartition(" ")[2])
        assert number < 1_000 and note(number).title == query.target
    assert QUICK_SIZE % vault.FOLDER_NOTES == 0

"""The kept data sets, and the copies that runs work on."""

from pathlib import Path

import pytest

from bench import datasets


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data set like a real one, without the memories."""
    monkeypatch.setattr(datasets, "KEPT", tmp_path)
    monkeypatch.setattr(datasets, "RUNS", tmp_path / "runs")
    folder = tmp_path / datasets.version() / "5"
    for name in ("product", "floor"):
        (folder / name).mkdir(parents=True)
        (folder / name / "ids.json").write_text('["a", "b"]')
    markdown = folder / "product" / "data" / "basic-memory"
    markdown.mkdir(parents=True)
    (markdown / "note.md").write_text("text")
    (folder / "product" / "data" / "rows.sqlite3").write_text("rows")
    return folder


def test_a_run_has_databases_of_its_own_and_the_same_markdown_files(kept):
    with datasets.copy_of(5) as copy:
        data = Path("product") / "data"
        assert copy.product_ids == copy.floor_ids == ["a", "b"]
        ours, theirs = copy.product.folder.parent / data, kept / data
        assert (ours / "basic-memory" / "note.md").samefile(theirs / "basic-memory" / "note.md")
        assert not (ours / "rows.sqlite3").samefile(theirs / "rows.sqlite3")
    assert not ours.exists() and (theirs / "basic-memory" / "note.md").read_text() == "text"


def test_what_a_killed_run_left_is_removed_by_the_next(kept):
    left = datasets.RUNS / "999999999-5"
    left.mkdir(parents=True)
    with datasets.copy_of(5):
        assert not left.exists()


def test_a_data_set_that_is_there_is_not_made_again(kept):
    assert datasets.prepare(5) == kept

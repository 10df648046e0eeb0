"""An OpenAI-compatible endpoint: order, length, batches, what passes and what does not, and the key that nobody sees."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apps.search.embedding import choice, endpoint
from apps.search.embedding.errors import EmbeddingUnavailable
from tests.doubles.embeddings_server import EmbeddingsServer, vector_of

KEY = "sk-of-this-test-alone"


@pytest.fixture
def server(settings: Any, data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingsServer]:
    monkeypatch.setattr(endpoint.time, "sleep", lambda seconds: None)
    opened, open_client = [], endpoint.open_client
    monkeypatch.setattr(endpoint, "open_client", lambda: opened.append(open_client()) or opened[-1])
    with EmbeddingsServer(key=KEY) as double:
        settings.EMBEDDING, settings.EMBEDDING_URL = "endpoint", double.base_url
        settings.EMBEDDING_MODEL, settings.EMBEDDING_KEY, settings.EMBEDDING_DIMENSIONS = "small", KEY, 0
        yield double
        for client in opened:
            client.close()


def unit(text: str, dimensions: int = 8) -> Any:
    vector = np.array(vector_of(text, dimensions))
    return vector / np.linalg.norm(vector)


def test_each_text_gets_its_own_vector_of_unit_length(server: EmbeddingsServer) -> None:
    model = choice.load()

    vectors = model.embed_passages(["one", "two words", "三"])

    assert vectors.dtype == np.float32 and vectors.shape == (3, 8)
    assert np.allclose(vectors, [unit("one"), unit("two words"), unit("三")], atol=1e-6)
    assert np.allclose(model.embed_query("one"), unit("one"), atol=1e-6)
    assert model.embed_passages([]).shape == (0, 8)


def test_many_texts_go_in_batches(server: EmbeddingsServer) -> None:
    model = choice.load()
    server.asked.clear()

    model.embed_passages([f"text {number}" for number in range(150)])

    assert [len(request["input"]) for request in server.asked] == [64, 64, 22]


def test_the_key_of_the_model_tells_the_numbers_once_they_are_known(server: EmbeddingsServer, settings: Any) -> None:
    assert str(choice.current_key()).endswith("/small/unknown")

    model = choice.load()

    assert model.key == choice.current_key()
    assert model.key.endswith("/small/8")
    settings.EMBEDDING_MODEL = "other"
    assert choice.current_key() != model.key


def test_numbers_that_were_asked_for_are_sent_and_checked(server: EmbeddingsServer, settings: Any) -> None:
    settings.EMBEDDING_DIMENSIONS = 16
    assert choice.load().dimensions == 16
    assert server.asked[-1]["dimensions"] == 16

    server.script = [{"body": {"data": [{"index": 0, "embedding": [1.0, 2.0]}]}}]
    with pytest.raises(EmbeddingUnavailable, match="2 numbers, not of 16"):
        choice.load()


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passages_wait_for_what_passes(server: EmbeddingsServer, status: int) -> None:
    model = choice.load()
    server.script = [{"status": status, "headers": {"Retry-After": "1"}}] * 3

    assert model.embed_passages(["one"]).shape == (1, 8)


def test_a_query_is_tried_once(server: EmbeddingsServer) -> None:
    model = choice.load()
    server.script = [{"status": 429}]
    asked = len(server.asked)

    with pytest.raises(EmbeddingUnavailable, match="busy or failing"):
        model.embed_query("one")
    assert len(server.asked) == asked + 1


def test_the_pause_is_what_the_endpoint_asks_for_and_never_over_a_minute_and_a_bit() -> None:
    assert 7 <= endpoint.pause_before(1, 7.0) <= 8.75
    assert 4 <= endpoint.pause_before(3, None) <= 5
    assert endpoint.pause_before(1, 86_400.0) <= 75


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({"status": 404}, "refuses the request"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:9/"}}, "refuses the request"),
        ({"body": {"data": []}}, "something else than vectors"),
        ({"body": {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}}, "something else than vectors"),
        ({"body": {"data": [{"index": 0, "embedding": [float("nan"), 1.0]}]}}, "something else than vectors"),
        ({"body": {"data": [{"index": 0, "embedding": "AAAA"}]}}, "something else than vectors"),
        ({"body": []}, "something else than vectors"),
    ],
)
def test_what_is_no_answer_is_told_in_a_sentence(server: EmbeddingsServer, step: dict[str, Any], sentence: str) -> None:
    server.script = [step]
    with pytest.raises(EmbeddingUnavailable, match=sentence):
        choice.load()


def test_a_wrong_key_is_told_and_not_repeated(
    server: EmbeddingsServer, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMBEDDING_KEY = "sk-wrong-and-secret"
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbeddingUnavailable) as refused:
        choice.load()

    assert "does not take the key (HTTP 401)" in str(refused.value)
    told = f"{refused.value.as_dict()} {caplog.text}"
    assert "sk-wrong" not in told


def test_nobody_listening_is_told_with_the_host(settings: Any, data_folder: Path) -> None:
    settings.EMBEDDING, settings.EMBEDDING_MODEL = "endpoint", "small"
    settings.EMBEDDING_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(EmbeddingUnavailable, match=r"endpoint 127\.0\.0\.1 does not answer"):
        choice.load()


def test_an_endpoint_without_an_address_says_what_to_set(settings: Any, data_folder: Path) -> None:
    settings.EMBEDDING, settings.EMBEDDING_URL = "endpoint", ""
    with pytest.raises(EmbeddingUnavailable) as failure:
        choice.load()
    assert "MEMRELAY_EMBEDDING_URL" in failure.value.advice

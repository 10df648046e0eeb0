"""The embedder, run in a thread with a model of no weight: it answers, is honest while it loads, works, and ends."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.instance.serving.listening import door
from apps.search.embedding import bells, choice, frames
from apps.search.embedding.client import Conversation, ask_health, ready_file, wake
from apps.search.embedding.errors import EmbedderUnavailable, EmbeddingUnavailable
from apps.search.embedding.process import Embedder
from tests.doubles import embedding as double

LOADER = "tests.search.embedding.test_process"
SECONDS = 20.0

gate = threading.Event()  # Opened: the model may load.
trouble: list[EmbeddingUnavailable] = []  # What loading raises, once each.
worked: list[str] = []
did_work = threading.Event()
due = [False]


def current_key() -> str:
    return double.KEY


def load() -> double.DoubleModel:
    assert gate.wait(SECONDS)
    if trouble:
        raise trouble.pop(0)
    return double.load()


def work(model: Any, should_stop: Callable[[], bool]) -> bool:
    worked.append(model.key)
    did_work.set()
    return False


def is_due() -> bool:
    return due[0]


def answer_twice(desk: Any, message: dict[str, Any]) -> dict[str, Any]:
    return {"twice": message["number"] * 2}


@pytest.fixture(autouse=True)
def configured(settings: Any, data_folder: Path) -> Iterator[None]:
    settings.EMBEDDING, settings.EMBEDDING_LOADER = "double", LOADER
    settings.EMBEDDER_OPERATIONS = {"twice": f"{LOADER}.answer_twice"}
    settings.EMBEDDER_WORK, settings.EMBEDDER_DUE = f"{LOADER}.work", f"{LOADER}.is_due"
    gate.set()
    did_work.clear()
    trouble.clear()
    worked.clear()
    due[0] = False
    yield
    gate.set()


@contextmanager
def running() -> Iterator[Embedder]:
    with door(frames.socket_file()) as listener:
        assert listener
        embedder = Embedder(listener)
        thread = threading.Thread(target=embedder.run)
        thread.start()
        try:
            yield embedder
        finally:
            embedder.stop()
            thread.join(SECONDS)
            assert not thread.is_alive()


@pytest.fixture
def embedder() -> Iterator[Embedder]:
    with running() as one:
        yield one


def asked(message: dict[str, Any], timeout: float = SECONDS) -> dict[str, Any]:
    with Conversation() as conversation:
        return conversation.call(message, timeout)


def test_a_question_gets_its_vector(embedder: Embedder) -> None:
    answer = asked({"op": "embed_query", "text": "red 内存"})
    assert answer["model"] == double.KEY
    assert answer["vector"] == pytest.approx(list(double.load().embed_query("red 内存")))


def test_one_conversation_asks_many_things_also_ahead(embedder: Embedder) -> None:
    with Conversation() as conversation:
        conversation.start({"op": "embed_query", "text": "one"}, SECONDS)
        conversation.start({"op": "ping"}, SECONDS)
        assert len(conversation.answer(SECONDS)["vector"]) == 64
        assert conversation.answer(SECONDS) == {"pong": True}
        assert conversation.call({"op": "twice", "number": 21}, SECONDS) == {"twice": 42}


def test_a_hint_is_prepared_and_not_answered(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    with Conversation() as conversation:
        conversation.hint({"op": "embed_query", "text": "one"}, SECONDS)
        conversation.hint({"op": "no such thing"}, SECONDS)
        assert conversation.call({"op": "twice", "number": 21}, SECONDS) == {"twice": 42}
        monkeypatch.setattr(double.DoubleModel, "embed_query", lambda self, text: pytest.fail("It was not prepared."))
        assert len(conversation.call({"op": "embed_query", "text": "one"}, SECONDS)["vector"]) == 64


def test_whether_the_answer_has_come_is_seen_without_taking_it(embedder: Embedder) -> None:
    with Conversation() as conversation:
        conversation.hint({"op": "ping"}, SECONDS)
        assert not conversation.has_answer
        conversation.start({"op": "ping"}, SECONDS)
        deadline = time.monotonic() + SECONDS
        while not conversation.has_answer and time.monotonic() < deadline:
            time.sleep(0.001)
        assert conversation.has_answer
        assert conversation.answer(SECONDS) == {"pong": True}
        assert not conversation.has_answer


def test_what_was_asked_lately_is_remembered(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked({"op": "embed_query", "text": "one"})
    monkeypatch.setattr(double.DoubleModel, "embed_query", lambda self, text: pytest.fail("It was embedded again."))
    assert len(asked({"op": "embed_query", "text": "one"})["vector"]) == 64


def test_nobody_there_is_told_at_once() -> None:
    with pytest.raises(EmbedderUnavailable) as failure:
        Conversation()
    assert failure.value.reason == "not_running"
    assert wake() is False


def test_a_question_while_the_model_loads_is_answered_within_its_time(settings: Any) -> None:
    gate.clear()
    with running():
        with pytest.raises(EmbedderUnavailable) as failure:
            asked({"op": "embed_query", "text": "one"}, 0.2)
        assert failure.value.reason == "embedder_starting"
        assert asked({"op": "ping"}) == {"pong": True}
        gate.set()
        assert asked({"op": "embed_query", "text": "one"})["vector"]


def test_a_model_that_cannot_be_loaded_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.search.embedding.loading.LEAST_PAUSE", 0.0)
    trouble.append(EmbeddingUnavailable("The folder is gone."))
    gate.clear()
    with running():
        gate.set()
        with pytest.raises(EmbedderUnavailable, match="The folder is gone") as failure:
            asked({"op": "embed_query", "text": "one"})
        assert failure.value.reason == "embedding_unavailable"
        again = Conversation()
        with again:
            while True:  # The question that was refused has it tried again at once.
                try:
                    assert asked({"op": "embed_query", "text": "one"})["vector"]
                    break
                except EmbedderUnavailable as still:
                    assert still.reason == "embedding_unavailable"
    assert choice.last_trouble() == ""


def test_work_is_done_with_the_model_and_a_knock_has_it_done_at_once(embedder: Embedder) -> None:
    assert did_work.wait(SECONDS)
    did_work.clear()
    due[0] = True
    bells.wake_if_due()
    assert did_work.wait(SECONDS)
    assert set(worked) == {double.KEY}


def test_nobody_knocks_while_nothing_is_due_or_embeddings_are_off(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    knocks: list[int] = []
    monkeypatch.setattr(bells, "wake", lambda: knocks.append(1))
    bells.wake_if_due()
    due[0], settings.EMBEDDING = True, "off"
    bells.wake_if_due()
    assert knocks == []

    settings.EMBEDDING = "double"
    bells.wake_if_due()
    assert knocks == [1]


def test_it_ends_by_itself_when_nobody_needs_it(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.search.embedding.process.TICK_SECONDS", 0.01)
    settings.EMBEDDER_IDLE_SECONDS = 0
    with door(frames.socket_file()) as listener:
        assert listener
        Embedder(listener).run()


def test_it_does_not_end_while_its_model_loads_however_long_that_takes(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []
    monkeypatch.setattr("apps.search.embedding.process.TICK_SECONDS", 0.01)
    is_idle = Embedder._is_idle

    def look(one: Embedder) -> bool:
        looks.append(is_idle(one))
        if len(looks) == 3:
            gate.set()
        return looks[-1]

    monkeypatch.setattr(Embedder, "_is_idle", look)
    settings.EMBEDDER_IDLE_SECONDS = 0
    gate.clear()
    with door(frames.socket_file()) as listener:
        assert listener
        Embedder(listener).run()
    assert looks[:3] == [False, False, False]


def test_one_too_busy_to_speak_while_it_starts_is_said_to_start() -> None:
    with door(frames.socket_file()), pytest.raises(EmbedderUnavailable) as failure:
        asked({"op": "ping"}, 0.01)
    assert failure.value.reason == "embedder_starting"

    ready_file().touch()
    with door(frames.socket_file()), pytest.raises(EmbedderUnavailable) as failure:
        asked({"op": "ping"}, 0.01)
    assert failure.value.reason == "timeout"


@pytest.mark.parametrize(
    "bytes_sent",
    [
        struct.pack(">I", 1 << 31),
        struct.pack(">I", 4) + b"nope",
        struct.pack(">I", 2) + b"[]",
        struct.pack(">I", 9) + b"{",
    ],
)
def test_nonsense_ends_one_conversation_and_no_more(embedder: Embedder, bytes_sent: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.settimeout(SECONDS)
        with frames.address_of(frames.socket_file()) as address:
            visitor.connect(address)
        visitor.sendall(bytes_sent)
        visitor.shutdown(socket.SHUT_WR)
        assert visitor.recv(1) == b""
    assert asked({"op": "ping"}) == {"pong": True}


@pytest.mark.parametrize("message", [{"op": "twice", "number": None}, {"op": "unknown"}, {}, {"op": "embed_query"}])
def test_a_bad_question_fails_alone(embedder: Embedder, message: dict[str, Any]) -> None:
    for _time in range(10):  # More often than there are threads to talk.
        with pytest.raises(EmbedderUnavailable):
            asked(message)
    assert asked({"op": "ping"}) == {"pong": True}


def test_lone_surrogates_travel(embedder: Embedder) -> None:
    assert asked({"op": "embed_query", "text": "a\ud800b"})["vector"]


def test_a_frame_that_is_too_large_is_not_sent(embedder: Embedder) -> None:
    with pytest.raises(EmbedderUnavailable), Conversation() as conversation:
        conversation.call({"op": "ping", "text": "x" * frames.LARGEST}, SECONDS)


def test_the_socket_is_private_and_replaces_a_stale_one_however_long_its_path(settings: Any, tmp_path: Path) -> None:
    settings.RUN_FOLDER = tmp_path / ("long" * 40) / "run"
    settings.RUN_FOLDER.mkdir(parents=True)
    frames.socket_file().write_text("left by a killed server")
    with running():
        assert frames.socket_file().stat().st_mode & 0o777 == 0o600
        assert asked({"op": "ping"}) == {"pong": True}
    assert not frames.socket_file().exists()


def test_a_look_at_it_does_not_start_it() -> None:
    with door(frames.socket_file()) as listener, pytest.raises(EmbedderUnavailable) as failure:
        assert listener
        ask_health()
    assert failure.value.reason == "resting"

"""The product inside this process: its operations called as any door calls them, on a data folder of this run's own.

For the benchmarks of quality. What is saved is embedded by the default model and what is asked by the same road as in the
embedder's process, only without the socket between. Vectors of texts that were embedded before are kept in ``bench/.data``.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib import import_module
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from bench.datasets import KEPT, RUNS

if TYPE_CHECKING:
    import numpy as np

    from apps.operations.caller import Caller
    from apps.search.embedding.model import EmbeddingModel

SAVED_AT_ONCE = 200


class Inside:
    """One operator of a server that nobody else uses."""

    def __init__(self, caller: "Caller", model: "Kept") -> None:
        self.caller = caller
        self.model = model

    def call(self, name: str, /, **arguments: Any) -> Any:
        from apps.operations.operation import OPERATIONS

        return OPERATIONS[name].answer(self.caller, arguments)

    def workspace(self, name: str) -> str:
        return str(self.call("project_create", name=name).project_id)

    def save(self, project_id: str, memories: Sequence[Mapping[str, Any]]) -> list[str]:
        """Save them in their order and embed them; their ids."""
        ids: list[str] = []
        for at in range(0, len(memories), SAVED_AT_ONCE):
            batch = list(memories[at : at + SAVED_AT_ONCE])
            saved = self.call("memory_save_many", project_id=project_id, memories=batch, if_exists="new")
            ids += [one.memory_id for one in saved.memories]
        self.embed()
        return ids

    def embed(self) -> None:
        from apps.search.vectors.working import work

        while work(self.model, lambda: False):
            pass

    def search(self, project_id: str, query: str, mode: str, limit: int = 20) -> list[str]:
        """The ids found, best first; what is folded into a hit stands behind it."""
        found = self.call("memory_search", project_id=project_id, query=query, mode=mode, limit=limit)
        if not found.complete or found.mode != mode:
            raise AssertionError(f"{mode} search was answered as {found.mode}, {found.reason}: {query}")
        return [hit.memory_id for hit in found.results]


class Kept:
    """A model whose vectors of passages and questions are kept from run to run, by the model and the text."""

    def __init__(self, model: "EmbeddingModel") -> None:
        self.model = model
        self.key = model.key
        self.dimensions = model.dimensions
        KEPT.mkdir(parents=True, exist_ok=True)
        self._store = sqlite3.connect(KEPT / "vectors.sqlite3", timeout=60, check_same_thread=False)
        self._store.execute("CREATE TABLE IF NOT EXISTS kept (digest BLOB PRIMARY KEY, vector BLOB)")

    def embed_query(self, text: str) -> "np.ndarray[Any, Any]":
        return self._vectors("query", [text], lambda some: [self.model.embed_query(one) for one in some])[0]

    def embed_passages(self, texts: Sequence[str]) -> "np.ndarray[Any, Any]":
        return self._vectors("passage", texts, self.model.embed_passages)

    def _vectors(self, kind: str, texts: Sequence[str], embed: Callable[[list[str]], Any]) -> "np.ndarray[Any, Any]":
        import numpy as np

        digests = [blake2b(f"{self.key}\0{kind}\0{text}".encode("utf-8", "replace")).digest()[:20] for text in texts]
        found = {digest: vector for digest in digests if (vector := self._kept(digest)) is not None}
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        if missing:
            made = np.asarray(embed(list(missing.values())), np.float32)
            found |= {digest: vector.tobytes() for digest, vector in zip(missing, made, strict=True)}
            with self._store:
                new = [(digest, found[digest]) for digest in missing]
                self._store.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", new)
        return np.stack([np.frombuffer(found[digest], np.float32) for digest in digests])

    def _kept(self, digest: bytes) -> bytes | None:
        row = self._store.execute("SELECT vector FROM kept WHERE digest = ?", [digest]).fetchone()
        return row[0] if row else None


class _Desk:
    """What the embedder's operations ask for: the model, and vectors of questions."""

    def __init__(self, model: Kept) -> None:
        self._model = model

    def model(self, _message: Mapping[str, Any]) -> Kept:
        return self._model

    def query_vector(self, query: str, _message: Mapping[str, Any]) -> Any:
        return self._model.embed_query(query)


@contextmanager
def inside(name: str) -> Iterator[Inside]:
    """An empty store of its own; it goes with the ``with``. Once a process, since Django is set up for it."""
    with data_folder(name):
        yield _set_up()


@contextmanager
def data_folder(name: str, **settings: str) -> Iterator[None]:
    """This process's settings for a data folder of its own; it goes with the ``with``."""
    folder = RUNS / f"{os.getpid()}-{name}"
    folder.mkdir(parents=True)
    for variable in [one for one in os.environ if one.startswith("MEMRELAY_")]:
        del os.environ[variable]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "memrelay.settings",
        "MEMRELAY_DATA": str(folder),
        "MEMRELAY_SECRET_KEY": token_hex(32),  # Where one has to be made, the process begins anew.
        **settings,
    }
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def set_up() -> None:
    """Django, an empty store and all operations, in the data folder of this process."""
    import django

    django.setup()
    from apps.instance.serving.first_start import prepare
    from apps.instance.serving.tables import migrate

    prepare()
    migrate()
    import_module("memrelay.api")  # Where all operations are gathered.


def _set_up() -> Inside:
    set_up()
    from django.conf import settings

    from apps.operations.caller import Caller
    from apps.search.embedding.choice import load
    from apps.search.vectors import asking

    model = Kept(load())
    desk = _Desk(model)
    operations = {each: _function(path) for each, path in settings.EMBEDDER_OPERATIONS.items()}

    class Conversation:
        """The embedder's answers without its process."""

        def __init__(self) -> None:
            self.answers: list[dict[str, Any]] = []

        def start(self, message: Mapping[str, Any], _timeout: float) -> None:
            self.answers.append(operations[message["op"]](desk, message))

        def hint(self, message: Mapping[str, Any], _timeout: float) -> None:
            operations[message["op"]](desk, message)

        @property
        def has_answer(self) -> bool:
            return bool(self.answers)

        def answer(self, _timeout: float) -> dict[str, Any]:
            return self.answers.pop(0)

        def call(self, message: Mapping[str, Any], timeout: float) -> dict[str, Any]:
            self.start(message, timeout)
            return self.answer(timeout)

        def close(self) -> None:
            self.answers.clear()

    asking.Conversation = Conversation  # type: ignore[assignment,misc]
    return Inside(Caller.for_command("bench"), model)


def _function(path: str) -> Callable[..., dict[str, Any]]:
    module, _, name = path.rpartition(".")
    found: Callable[..., dict[str, Any]] = getattr(import_module(module), name)
    return found

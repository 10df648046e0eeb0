"""A process that saves memories and embeds them with a tiny model; it may be killed at a fault point.

python -m tests.live.embedding_deeds work     saves, embeds, changes some and embeds again
python -m tests.live.embedding_deeds again    prints, as JSON, what is embedded and found now, and after it has gone on with it
python -m tests.live.embedding_deeds full     the same on a disk that is full for a while (the data folder's own)
python -m tests.live.embedding_deeds removed  the same with a model that is taken away and put back
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")
SCOPE = "global/shared"
MEMORIES = 6


def call(name: str, **arguments: Any) -> Any:
    from apps.operations.caller import Caller
    from apps.operations.operation import OPERATIONS

    return OPERATIONS[name].answer(Caller.for_command("worker"), arguments)


def save_all() -> None:
    for number in range(MEMORIES):
        body = f"Walnut number {number} is ripe. 核桃{number}熟了。 " + "It is kept in a dry place for long. " * 12
        call("memory_save", title=f"Walnut {number}", body=body, request_id=f"save-{number}")


def change_some() -> None:
    for number in range(2):
        memory = call("memory_get", memory_id=f"walnut-{number}")
        if memory.revision == 1:
            body = f"Almond number {number} came instead."
            call("memory_update", memory_id=memory.memory_id, revision=1, body=body, request_id=f"change-{number}")


def work_off(model: Any = None) -> None:
    from apps.search.vectors.working import work as step
    from tests.search.vectors.made import TinyModel

    model = model or TinyModel()
    while step(model, lambda: False):
        pass


def work() -> None:
    save_all()
    work_off()
    change_some()
    work_off()


def again() -> None:
    before = found()
    work()
    print(json.dumps([before, found()]))


def found(loading: Any = None) -> dict[str, Any]:
    """What is there, and what is wrong with it: passages that are not those of a document's text, or of an old one."""
    from django.conf import settings

    from apps.search.models import Document, Passage
    from apps.search.vectors.pieces import cut
    from apps.search.vectors.state import document_states, semantic_state
    from apps.search.vectors.texts import texts_of

    documents = {one.pk: one for one in Document.objects.all()}
    wrong = []
    for document in documents.values():
        text = texts_of([document.stable_id])[document.stable_id]
        wanted = {piece.text_hash for piece in cut(*text[1:5], most=settings.EMBEDDING_PASSAGES).pieces}
        current = Passage.objects.filter(document_id=document.pk, revision=document.revision)
        if document.embedded == document.revision and {bytes(one.text_hash) for one in current} != wanted:
            wrong.append(document.stable_id)
    near = nearest("walnut almond", loading)
    return {
        "states": sorted(state for state, _ in document_states([one.stable_id for one in documents.values()]).values()),
        "wrong": wrong,
        "orphans": Passage.objects.exclude(document_id__in=documents).count(),
        "by_words": len(call("memory_search", query="number", scope=SCOPE, limit=20).results),
        "by_meaning": len(near["documents"]) if "documents" in near else near["error"],
        "old_served": [row for row in near.get("documents", ()) if documents[row[0]].revision != row[1]],
        "semantic": semantic_state(to_operator=True),
    }


def nearest(query: str, loading: Any = None) -> dict[str, Any]:
    from apps.search.embedding.desk import Desk
    from apps.search.filters import SearchFilters
    from apps.search.vectors.wire import told_filters
    from tests.search.vectors.made import Embedder

    desk = Desk(loading, lambda: None) if loading else Embedder().desk
    filters = told_filters(SearchFilters([SCOPE]))
    return desk.answer({"op": "nearest", "query": query, "filters": filters, "limit": 20, "wait": 0.1})


def full() -> None:
    """Fill the disk once the memories are saved; then let there be room again."""
    from django.conf import settings
    from django.db import DatabaseError

    save_all()
    filler = Path(settings.DATA_FOLDER) / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    stories: list[dict[str, Any]] = []
    try:
        work_off()
        stories.append({"refused": False})
    except DatabaseError as failure:
        stories.append({"refused": str(failure)})
    stories.append(found())
    filler.unlink()
    work_off()
    stories.append(found())
    print(json.dumps(stories))


def removed() -> None:
    """Take the model away before it is loaded, ask, put it back: nobody restarts anything."""
    from apps.search.embedding.loading import Loading
    from tests.live.server import wait_until
    from tests.search.vectors import made

    save_all()
    made.is_there = False
    loading = Loading()
    loading.start()
    wait_until(lambda: loading.trouble is not None, what="loading failed")
    stories = [found(loading)]
    made.is_there = True
    loading.try_again()
    wait_until(lambda: loading.model is not None, what="the model was loaded")
    work_off(loading.model)
    stories.append(found(loading))
    print(json.dumps(stories))


if __name__ == "__main__":
    django.setup()
    from django.conf import settings as configured

    configured.EMBEDDING_LOADER = "tests.search.vectors.made"
    configured.EMBEDDING = "tiny"
    {"work": work, "again": again, "full": full, "removed": removed}[sys.argv[1]]()

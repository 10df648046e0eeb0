"""A process that does deeds on a data folder and says which it was told are done; it may be killed at a fault point.

python -m tests.live.deeds work    does all deeds, one line each as it is acknowledged
python -m tests.live.deeds sweep   makes everything durable, as the keeper does after a start
python -m tests.live.deeds state   does that, then prints, as JSON, every memory with its file and what search finds
"""

import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")

SCOPE = "global/shared"


def work() -> None:
    from apps.operations.caller import Caller
    from apps.operations.operation import OPERATIONS

    caller = Caller.for_command("worker")

    def do(name: str, **arguments: Any) -> Any:
        answer = OPERATIONS[name].answer(caller, {**arguments, "request_id": f"{name}-{arguments.get('title', '')}"})
        print(json.dumps({"deed": name, **answer.model_dump(mode="json")}), flush=True)
        return answer

    kept = do("memory_save", title="Kept", body="The first text. 第一\n")
    do("memory_update", memory_id="kept", revision=kept.revision, body="The second text. 第二\n")
    do("memory_save", title="Away", body="Goes into the archive. 归档\n")
    do("memory_archive", memory_id="away")
    do("memory_save", title="Gone", body="Is deleted. 删除\n")
    do("memory_delete", memory_id="gone")
    do("checkpoint_save", title="Point", completed="All of it. 完成")


def sweep() -> None:
    from apps.memories.keeper import Keeper

    Keeper().round(at_once=True)


def state() -> None:
    sweep()
    from apps.memories.models import FileIntent, LogicalOperation, Memory, MemoryRevision
    from apps.memories.scopes import file_of
    from apps.operations.caller import Caller
    from apps.operations.operation import OPERATIONS

    caller = Caller.for_command("looker")
    memories = {}
    for memory in Memory.objects.all():
        file = file_of(memory.scope_id, memory.path)
        newest = MemoryRevision.objects.get(memory=memory, number=memory.revision)
        found = OPERATIONS["memory_search"].answer(caller, {"query": f'"{memory.title}"', "status": "any"})
        memories[memory.title] = {
            "revision": memory.revision,
            "status": memory.status,
            "file": file.read_text() if file.exists() else None,
            "document": bytes(newest.document).decode(),
            "found": [hit.memory_id for hit in found.results].count(memory.stable_id),  # type: ignore[attr-defined]
            "revisions": MemoryRevision.objects.filter(memory=memory).count(),
        }
    print(
        json.dumps(
            {
                "memories": memories,
                "intents": FileIntent.objects.count(),
                "open": LogicalOperation.objects.exclude(state="closed").count(),
            }
        )
    )


if __name__ == "__main__":
    django.setup()
    {"work": work, "sweep": sweep, "state": state}[sys.argv[1]]()

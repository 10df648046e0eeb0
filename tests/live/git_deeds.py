"""A process that works on Memory Git of a data folder; it may be killed at a fault point.

python -m tests.live.git_deeds on        switches it on and makes the baseline
python -m tests.live.git_deeds save      saves three memories
python -m tests.live.git_deeds work      does what the worker does
python -m tests.live.git_deeds migrate   changes the strategy, as far as it gets
python -m tests.live.git_deeds state     prints operations in closing order, and commits with theirs, as JSON
"""

import json
import os
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memrelay.settings")


def main(what: str) -> None:
    from apps.memories.models import LogicalOperation
    from apps.memory_git.jobs import work_here
    from apps.memory_git.models import GitCommit, GitDeed, GitSyncJob, MemoryRepository
    from apps.operations.caller import Caller
    from apps.operations.operation import OPERATIONS

    caller = Caller.for_command("worker")

    def do(name: str, **arguments: Any) -> Any:
        return OPERATIONS[name].answer(caller, arguments)

    if what == "on":
        do("git_settings_update", enabled=True)
        work_here()
    elif what == "save":
        for title in ("One", "Two", "Three"):
            do("memory_save", title=title, body="Text.", request_id=title)
    elif what == "work":
        GitDeed.objects.update(updated_at="2020-01-01T00:00:00Z")  # Nobody waits here for another attempt's turn.
        work_here()
    elif what == "migrate":
        plan = do("memory_repository_migrate_plan", strategy="per_workspace")
        do("memory_repository_migrate", strategy="per_workspace", digest=plan.digest)
        work_here()
    else:
        listed = GitCommit.objects.filter(listed=True).order_by("repository_id", "position")
        told = {
            "operations": list(
                LogicalOperation.objects.exclude(state="open").order_by("closing_number").values_list("pk", flat=True)
            ),
            "commits": list(listed.values_list("operation_id", flat=True)),
            "shas": list(listed.values_list("sha", flat=True)),
            "waiting": GitSyncJob.objects.exclude(state="completed").count(),
            "roots": list(MemoryRepository.objects.filter(archived_at=None).values_list("root", flat=True)),
            "deeds": list(GitDeed.objects.values_list("kind", "state")),
        }
        print(json.dumps(told))


if __name__ == "__main__":
    django.setup()
    main(sys.argv[1])

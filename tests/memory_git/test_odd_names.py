"""Files that a person named as another system would not: they are in history, so history must bring them back."""

import os
from pathlib import Path

import pytest
from django.conf import settings

from apps.base import clock
from apps.memories.ledger.scan import scan
from apps.memories.models import Memory
from apps.memory_git.models import GitCommit, GitDeed
from tests.memory_git.conftest import Git, Saving
from tests.world import World, call

pytestmark = pytest.mark.django_db

SETTLED = 1000  # Seconds ago: nobody is writing it any more.
NAMES = ["what is this?.md", "a: b.md", "con.md", "family 👨\u200d👩\u200d👧.md", "tab\tname.md", "back\\slash.md"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_snapshot_with_an_odd_name_comes_back(memory_git: Git, save: Saving, world: World, name: str) -> None:
    memory_git.on()
    save("Good")
    put(name, "# Hello\n\nOld text.\n")
    odd = Memory.objects.get(title="Hello")
    assert odd.path == f"memories/{name}"
    memory_git.work()
    then = GitCommit.objects.order_by("-position").first()
    assert then is not None
    world.alices_agent.call("memory_append", memory_id=odd.stable_id, text="New text.")
    memory_git.work()
    job = call(world.operator, "memory_snapshot_restore", repository_id=then.repository_id, commit=then.sha)
    memory_git.work()
    deed = GitDeed.objects.get(pk=job.job_id)
    assert (deed.state, deed.result.get("restored")) == ("completed", 1), deed.error
    odd.refresh_from_db()
    assert odd.path == f"memories/{name}"
    assert "New text." not in (Path(settings.MEMORIES_FOLDER) / "global" / odd.path).read_text()


def put(name: str, text: str) -> None:
    file = Path(settings.MEMORIES_FOLDER) / "global" / "memories" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    then = clock.now().timestamp() - SETTLED
    os.utime(file, (then, then))
    scan("global/shared")

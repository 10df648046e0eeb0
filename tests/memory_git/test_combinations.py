"""ACC-002: AI and Memory Git, each on or off, with a remote or without: none holds up the other, or the memories."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings

from apps.base.keyring import ensure_keyring
from apps.curation.models import CurationJob
from apps.curation.services import curation_settings_update
from apps.memory_git.jobs import work_here
from apps.memory_git.models import GitSyncJob, MemoryRepository
from tests.curation.conftest import GOOD, worked
from tests.doubles.model import ModelDouble
from tests.llm.conftest import Connect, connect, model, model_process  # noqa: F401 - fixtures
from tests.memory_git.conftest import Git
from tests.memory_git.remotes.conftest import Server, server  # noqa: F401 - a fixture
from tests.world import World, call

pytestmark = pytest.mark.django_db

CURATED = ["Curation apply: 2 documents"]
ON = {
    "ai only": {"ai"},
    "local git only": {"git"},
    "git and remote": {"git", "remote"},
    "ai and git": {"ai", "git"},
    "both off": set(),
}
TurnOn = Callable[[set[str]], None]


@pytest.fixture
def turn_on(
    world: World,
    memory_git: Git,
    server: Server,  # noqa: F811
    model: ModelDouble,  # noqa: F811
    connect: Connect,  # noqa: F811
    settings: Any,
) -> TurnOn:
    def turning(wanted: set[str]) -> None:
        settings.CURATION_RETRY_SECONDS = 0
        if "ai" in wanted:
            connect(model)
            curation_settings_update(world.operator, enabled=True)
            model.answer()
            model.scenario(otherwise=GOOD)
        if "remote" in wanted:
            ensure_keyring()
            server.create()
            server.connect()
        if "git" in wanted:
            memory_git.on()

    return turning


@pytest.mark.parametrize("wanted", ON.values(), ids=ON)
def test_acc_002_what_is_off_holds_up_neither_the_other_nor_the_memories(
    world: World,
    memory_git: Git,
    server: Server,  # noqa: F811
    turn_on: TurnOn,
    wanted: set[str],
) -> None:
    turn_on(wanted)
    memory_id = the_memories_work(world)
    the_switches_say(world, wanted)
    curation_works(world) if "ai" in wanted else curation_is_off(world)
    if "git" in wanted:
        history_works(world, memory_git, memory_id, curated="ai" in wanted)
    else:
        git_is_off(world)
    if "remote" in wanted:
        assert server.subjects() == memory_git.subjects()
    assert "failed" not in {part.state for part in call(world.operator, "health_get").parts}


def test_acc_002_a_model_that_is_away_holds_up_neither_git_nor_the_memories(
    world: World,
    memory_git: Git,
    model: ModelDouble,  # noqa: F811
    turn_on: TurnOn,
) -> None:
    turn_on({"ai", "git"})
    model.scenario(otherwise={"cut": "before"})
    memory_id = the_memories_work(world)
    assert curated(world).state == "waiting_dependency"
    history_works(world, memory_git, memory_id, curated=False)


def test_acc_002_a_remote_that_is_away_holds_up_neither_ai_nor_history(
    world: World,
    memory_git: Git,
    server: Server,  # noqa: F811
    turn_on: TurnOn,
) -> None:
    turn_on({"ai", "git", "remote"})
    server.away()
    memory_id = the_memories_work(world)
    curation_works(world)
    history_works(world, memory_git, memory_id, curated=True)
    assert MemoryRepository.objects.get().behind == len(memory_git.subjects()) - 1
    server.back()


def the_memories_work(world: World) -> str:
    """Saved, changed, found, read, with its history; the id."""
    agent, project = world.bobs_agent, world.workspace.pk
    memory_id = agent.call("memory_save", title="Deploy", body="On Tuesdays.", project_id=project).memory_id
    agent.call("memory_append", memory_id=memory_id, text="Maya approves.")
    assert "Maya" in agent.call("memory_get", memory_id=memory_id).body
    found = agent.call("memory_search", query="approves", project_id=project).results
    assert [hit.memory_id for hit in found] == [memory_id]
    assert len(agent.call("memory_history", memory_id=memory_id).revisions) == 2
    assert agent.call("context_get", project_id=project)
    return str(memory_id)


def the_switches_say(world: World, wanted: set[str]) -> None:
    told = world.bobs_agent.call("capabilities_get")
    assert (told.curation_enabled, told.memory_git_enabled) == ("ai" in wanted, "git" in wanted)


def curated(world: World) -> CurationJob:
    return worked(world.bobs_agent.call("curation_run", project_id=world.workspace.pk).job_id)


def curation_works(world: World) -> None:
    job = curated(world)
    assert (job.state, job.documents_created) == ("completed", 2), job.error


def curation_is_off(world: World) -> None:
    refused = world.bobs_agent.rest.post("/curation/jobs", project_id=world.workspace.pk).json()
    assert refused["error"]["code"] == "FEATURE_DISABLED"
    assert not CurationJob.objects.exists()


def history_works(world: World, memory_git: Git, memory_id: str, *, curated: bool) -> None:
    """Each operation has its commit, and an older version comes back."""
    memory_git.work()
    expected = ["Save Deploy", "Append to Deploy", *(CURATED if curated else [])]
    assert memory_git.subjects()[-len(expected) :] == expected
    first = call(world.operator, "memory_repository_history", resource_id=memory_id).commits[-1]
    world.alices_agent.call("memory_version_restore", resource_id=memory_id, commit=first.commit)
    assert "Maya" not in world.bobs_agent.call("memory_get", memory_id=memory_id).body
    memory_git.work()
    assert memory_git.subjects()[-1] == "Restore an older version of Deploy"


def git_is_off(world: World) -> None:
    work_here()
    assert not GitSyncJob.objects.exists() and not MemoryRepository.objects.exists()
    assert not list(settings.MEMORIES_FOLDER.rglob(".git"))
    assert call(world.operator, "memory_repository_status").state == "disabled"
    answer = world.alices_agent.rest.post("/git/repositories/repo_none/sync").json()
    assert answer["error"]["code"] == "FEATURE_DISABLED"

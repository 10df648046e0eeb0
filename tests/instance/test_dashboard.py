"""``dashboard_get`` and ``health_get``: how the server is doing, as far as the caller may see it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.memories.models import FileIntent, FolderJob, Scope
from memrelay.mcp import RESOURCES, read
from tests.world import Agent, World

pytestmark = pytest.mark.django_db


def dashboard(agent: Agent, **query: Any) -> dict[str, Any]:
    response = agent.rest.get("/dashboard", **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = json.loads(response.content)
    return answer


def test_it_counts_what_the_caller_may_see(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("memory_save", title="Own", body="One.", scope="global")
    bob.call("memory_save", title="In the workspace", body="Two.", project_id=project)
    put_away = bob.call("memory_save", title="Put away", body="Three.", project_id=project)
    bob.call("memory_archive", memory_id=put_away.memory_id, revision=1)
    gone = bob.call("memory_save", title="Gone", body="Four.", project_id=project)
    bob.call("memory_delete", memory_id=gone.memory_id, revision=1)
    bob.call("checkpoint_save", completed="Five.", project_id=project)

    counts = dashboard(bob)["counts"]

    assert (counts["memories"], counts["checkpoints"], counts["archived"], counts["deleted"]) == (2, 1, 1, 1)
    assert (counts["workspaces"], counts["tokens"]) == (1, None)
    assert dashboard(world.carols_reader)["counts"]["memories"] == 1
    assert dashboard(world.alices_agent)["counts"]["memories"] == 2
    assert dashboard(world.alices_agent)["counts"]["tokens"] == 3


def test_the_latest_come_first_and_only_those_in_sight(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("memory_save", title="Bob's own", body="One.", scope="global")
    other = bob.call("project_create", name="Other")
    bob.call("memory_save", title="Elsewhere", body="Two.", project_id=other.project_id)
    bob.call("memory_save", title="Here", body="Three.", project_id=project)
    bob.call("checkpoint_save", title="Half-way", completed="A lot. " * 200, project_id=project)

    def titles(agent: Agent) -> list[str]:
        return [memory["title"] for memory in dashboard(agent)["latest_memories"]]

    assert titles(bob) == ["Here", "Elsewhere", "Bob's own"]
    assert titles(world.carols_reader) == ["Here", "Elsewhere"]
    assert titles(world.doras_agent) == ["Here"]
    [checkpoint] = dashboard(world.doras_agent)["latest_checkpoints"]
    assert (checkpoint["title"], checkpoint["project_id"]) == ("Half-way", project)
    assert len(checkpoint["completed"]) == 300
    assert [line["name"] for line in dashboard(bob)["workspaces"]] == ["Relay", "Other"]
    assert [line["name"] for line in dashboard(world.doras_agent)["workspaces"]] == ["Relay"]


def test_only_who_runs_the_server_sees_its_disk_and_its_queue(world: World) -> None:
    assert dashboard(world.bobs_agent)["storage"] is None
    assert dashboard(world.bobs_agent)["queue"] is None
    alices = dashboard(world.alices_agent)
    assert alices["storage"]["free_bytes"] > 0
    assert set(alices["queue"]) == {"bells", "files_waiting", "files_blocked"}


def test_what_needs_a_look_is_told_to_those_it_concerns(world: World) -> None:
    bob = world.bobs_agent
    saved = bob.call("memory_save", title="Mine", body="One.", scope="global")
    Scope.objects.filter(pk="global/bob").update(
        alarm={"code": "files_vanished", "missing": 21, "files": 30},
        notices=[{"code": "twin", "path": "memories/a.md"}],
    )
    FileIntent.objects.filter(path=saved.path).update(state=FileIntent.BLOCKED, blocked_reason="the disk is full")
    FolderJob.objects.create(
        pk="job_1",
        kind="import",
        state="failed",
        folder="/x",
        scope_key="global/bob",
        actor="bob",
        profile="bob",
        error="No folder.",
    )

    told = dashboard(bob)

    assert [item["what"] for item in told["attention"]] == ["alarm", "notice", "blocked_file", "failed_job"]
    assert "21" in told["attention"][0]["text"]
    assert "the disk is full" in told["attention"][2]["text"]
    assert told["health"]["state"] == "failed"
    assert [job["job_id"] for job in told["jobs"]] == ["job_1"]
    assert dashboard(world.carols_reader)["attention"] == []
    assert dashboard(world.carols_reader)["jobs"] == []


def test_running_jobs_come_before_those_that_ended(world: World) -> None:
    now = timezone.now()
    for place, state in enumerate(["running", "completed", "waiting"]):
        FolderJob.objects.create(
            pk=f"job_{state}",
            kind="import",
            state=state,
            folder="/x",
            scope_key="global/shared",
            actor="a",
            profile="shared",
            created_at=now + timedelta(minutes=place),
        )

    assert [job["state"] for job in dashboard(world.bobs_agent)["jobs"]] == ["waiting", "running", "completed"]


def test_a_feature_that_is_not_enabled_is_off_and_no_fault(world: World) -> None:
    response = world.bobs_agent.rest.get("/health")
    answer = json.loads(response.content)
    parts = {part["part"]: part for part in answer["parts"]}

    assert response.status_code == 200
    assert {parts[name]["state"] for name in ("curation", "memory_git", "semantic_search")} == {"off"}
    assert {parts[name]["state"] for name in ("database", "tables", "files", "folder", "jobs")} == {"ok"}
    assert all(part["name"] and part["detail"] for part in answer["parts"])


def test_health_is_ok_when_every_part_runs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.instance.condition.readiness", lambda: {"database": "ok", "worker": "ok", "keeper": "ok"})

    assert json.loads(world.bobs_agent.rest.get("/health").content)["state"] == "ok"


@pytest.mark.parametrize(
    ("states", "state"),
    [
        ({"database": "ok", "keeper": "late"}, "degraded"),
        ({"database": "ok", "worker": "not running"}, "degraded"),
        ({"database": "ok", "worker": "a word of tomorrow"}, "degraded"),
        ({"database": "ok", "files": "blocked", "keeper": "late"}, "failed"),
    ],
)
def test_the_worst_part_decides(world: World, monkeypatch: pytest.MonkeyPatch, states: Any, state: str) -> None:
    monkeypatch.setattr("apps.instance.condition.readiness", lambda: states)

    assert json.loads(world.bobs_agent.rest.get("/health").content)["state"] == state


def test_the_resource_says_the_same_as_rest(world: World) -> None:
    over_rest = dashboard(world.bobs_agent)
    as_resource = json.loads(read(RESOURCES["memrelay://dashboard"], world.bobs_agent.caller))

    assert as_resource == over_rest


def test_the_number_of_queries_is_fixed(world: World, django_assert_max_num_queries: Any) -> None:
    bob = world.bobs_agent
    for number in range(12):
        made = bob.call("project_create", name=f"Place {number}")
        bob.call("memory_save", title="A title", body="A body.", project_id=made.project_id)

    with django_assert_max_num_queries(25):
        bob.call("dashboard_get")

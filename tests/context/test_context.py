"""``context_get``: what an agent reads first, within its budget."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from apps.base.estimates import token_estimate
from apps.memories.ledger import Create, Deed, commit
from apps.memories.ledger.sweep import sweep
from apps.memories.models import Memory, Resource
from apps.memories.scopes import file_of
from apps.operations.caller import Caller
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db


def context(agent: Agent, **query: Any) -> dict[str, Any]:
    response = agent.rest.get("/context", **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = json.loads(response.content)
    return answer


def cost(answer: dict[str, Any]) -> int:
    return token_estimate(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


def curate(scope: str, title: str, body: str) -> Memory:
    """What curation will do: write a document of its own down the ledger's road."""
    change = Create(title=title, body=body.encode(), resource=Resource.CURATED, path=f"curated/{title.lower()}.md")
    return commit(Caller.for_system("curation"), scope, [change], Deed("curation")).outcomes[0].memory


def in_workspace(world: World) -> str:
    return f"project/{world.workspace.pk}"


def test_an_empty_server_answers_how_to_begin(world: World) -> None:
    answer = context(world.bobs_agent)

    assert answer["workspace"]["project_id"] is None
    assert "project_resolve_or_create" in answer["workspace"]["guidance"]
    assert answer["profile"] == {"profile_id": "bob", "name": "Bob"}
    assert answer["curation"]["state"] == "off"
    assert (answer["curated"], answer["checkpoint"], answer["memories"], answer["changes"]) == ([], None, [], [])
    assert answer["left_out"]["how"] == ""


def test_each_type_of_workspace_has_guidance_of_its_own(world: World) -> None:
    told = set()
    for kind in ("development", "office", "study", "research", "personal", "general"):
        made = world.bobs_agent.call("project_create", name=f"A {kind} place", workspace_type=kind)
        workspace = context(world.bobs_agent, project_id=made.project_id)["workspace"]
        assert workspace["workspace_type"] == kind
        told.add(workspace["guidance"])
    assert len(told) == 6


def test_what_is_firm_and_near_comes_first(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    for title, kind, where in [
        ("Shared rule", "rule", {"scope": "shared"}),
        ("Own note", "note", {"scope": "global"}),
        ("Project note", "note", {"project_id": project}),
        ("Own decision", "decision", {"scope": "global"}),
        ("Project experience", "experience", {"project_id": project}),
        ("Project fact", "fact", {"project_id": project}),
        ("Project rule", "rule", {"project_id": project}),
    ]:
        bob.call("memory_save", title=title, body=f"{title} says so.", kind=kind, **where)

    memories = context(bob, project_id=project)["memories"]

    assert [memory["title"] for memory in memories] == [
        "Project rule",
        "Project fact",
        "Own decision",
        "Shared rule",
        "Project experience",
        "Project note",
        "Own note",
    ]
    assert [memory["scope"] for memory in memories[:4]] == ["project", "project", "global", "shared"]
    assert all(memory["complete"] and memory["text"].endswith("says so.") for memory in memories)
    assert all(memory["revision"] == 1 and memory["memory_id"].startswith("mem_") for memory in memories)


def test_another_persons_space_and_another_workspace_stay_out(world: World) -> None:
    world.bobs_agent.call("memory_save", title="Bob's own", body="Private.", scope="global")
    other = world.bobs_agent.call("project_create", name="Other")
    world.bobs_agent.call("memory_save", title="Elsewhere", body="Far away.", project_id=other.project_id)

    assert context(world.carols_reader, project_id=world.workspace.pk)["memories"] == []
    assert world.doras_agent.rest.get("/context", project_id=other.project_id).status_code == 403
    assert context(world.doras_agent)["workspace"]["project_id"] == world.workspace.pk


def test_curated_documents_come_first_and_what_they_do_not_know_yet_next(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("memory_save", title="Old rule", body="Known to curation.", kind="rule", project_id=project)
    document = curate(in_workspace(world), "Overview", "# Overview\n\nThe whole picture.")
    bob.call("memory_save", title="New note", body="Newer than the overview.", project_id=project)

    answer = context(bob, project_id=project)

    assert [item["title"] for item in answer["curated"]] == ["Overview"]
    assert answer["curated"][0]["memory_id"] == document.stable_id
    assert answer["curated"][0]["revision"] == 1
    assert "The whole picture." in answer["curated"][0]["text"]
    assert [memory["title"] for memory in answer["memories"]] == ["New note", "Old rule"]
    assert answer["curation"]["changes_since"] == 1
    assert answer["curation"]["covers_until"] == answer["curated"][0]["updated_at"]


def test_what_moved_to_another_workspace_is_told_as_a_change_only(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    curate(in_workspace(world), "Overview", "The whole picture.")
    saved = bob.call("memory_save", title="On the move", body="Soon elsewhere.", project_id=project)
    other = bob.call("project_create", name="Other")
    bob.call("memory_move", memory_id=saved.memory_id, to_project_id=other.project_id)

    answer = context(bob, project_id=project)

    assert answer["memories"] == []
    assert [(change["title"], change["change"]) for change in answer["changes"]] == [("On the move", "memory.departed")]
    assert world.doras_agent.call("context_get").changes == []


def test_the_latest_checkpoint_tells_where_work_stopped(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("checkpoint_save", title="First", completed="Began.", project_id=project)
    saved = bob.call("checkpoint_save", title="Second", completed="Went on.", next_steps="Finish.", project_id=project)

    answer = context(bob, project_id=project)

    assert answer["checkpoint"]["checkpoint_id"] == saved.memory_id
    assert answer["checkpoint"]["fields"] == {"next_steps": "Finish.", "completed": "Went on."}
    assert [change["title"] for change in answer["changes"]] == ["First"]


def test_nothing_stands_in_it_twice(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    curate(in_workspace(world), "Overview", "All of it.")
    kept = bob.call("memory_save", title="Kept", body="Here.", project_id=project)
    gone = bob.call("memory_save", title="Gone", body="Was here.", project_id=project)
    bob.call("checkpoint_save", completed="Something.", project_id=project)
    bob.call("memory_append", memory_id=kept.memory_id, text="And more.")
    bob.call("memory_delete", memory_id=gone.memory_id, revision=1)

    answer = context(bob, project_id=project)

    ids = [item["memory_id"] for part in ("curated", "memories", "changes") for item in answer[part]]
    ids.append(answer["checkpoint"]["checkpoint_id"])
    assert len(ids) == len(set(ids)) == 4
    assert [(change["title"], change["change"]) for change in answer["changes"]] == [("Gone", "memory.delete")]


@pytest.mark.parametrize("tokens", [300, 500, 900, 2000, 6000, 20000])
def test_the_budget_is_never_exceeded_whatever_lies_there(world: World, tokens: int) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    curate(in_workspace(world), "Overview", "The whole picture. " * 400)
    curate(in_workspace(world), "Tasks", "待办事项很多。" * 900)
    long = '很长的内容，"引号"和\n换行。\t' * 300
    bob.call("checkpoint_save", completed=long, next_steps=long, problems="One.", project_id=project)
    for number in range(40):
        body = [long, "short", 'with "quotes" \\ and\nlines\n' * 20][number % 3]
        bob.call(
            "memory_save", title=f"第{number}条 rule", body=body, summary="要点 " * (number % 5), project_id=project
        )

    answer = context(bob, project_id=project, max_tokens=tokens)

    assert cost(answer) <= answer["tokens"] <= tokens
    assert answer["workspace"]["project_id"] == project
    assert answer["left_out"]["how"] or tokens == 20000
    named = answer["index"].count("\n- ")
    assert len(answer["memories"]) + named + answer["left_out"]["memories"] == 40
    assert named or tokens < 900 or tokens == 20000


def test_the_budget_is_used_and_not_wasted(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    items = [
        {"title": f"Fact {number}", "body": "Some words that matter. " * 6, "kind": "fact"} for number in range(120)
    ]
    bob.call("memory_save_many", memories=items, project_id=project)

    assert 5700 < context(bob, project_id=project)["tokens"] <= 6000


def test_the_index_names_what_is_not_here_otherwise_and_nothing_twice(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    items = [{"title": f"Fact {number}", "body": "Some words that matter. " * 6} for number in range(60)]
    bob.call("memory_save_many", memories=items, project_id=project)
    secret = bob.call("memory_save", title="Deploy key", body="Kept elsewhere.", project_id=project)
    Memory.objects.filter(stable_id=secret.memory_id).update(withheld=True)

    answer = context(bob, project_id=project, max_tokens=2000)

    shown = {memory["memory_id"] for memory in answer["memories"]} | {
        change["memory_id"] for change in answer["changes"]
    }
    named = re.findall(r"\((mem_\w+)\)", answer["index"])
    assert len(named) > 5 and not shown & set(named)
    assert "Deploy key" not in answer["index"]
    assert context(bob, project_id=project, max_tokens=50000)["index"] == ""


def test_without_a_memory_the_index_says_when_to_save_one(world: World) -> None:
    index = context(world.bobs_agent)["index"]

    assert len(index.splitlines()) == 2 and "memory_save" in index


def test_a_body_too_long_shows_as_its_summary_or_its_beginning(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("memory_save", title="Summed up", body="long " * 5000, summary="In short.", project_id=project)
    bob.call("memory_save", title="Not summed up", body="It begins so. " + "long " * 5000, project_id=project)

    answer = context(bob, project_id=project)

    begun, summed = answer["memories"]
    assert begun["text"].startswith("It begins so.") and begun["text"].endswith("…") and not begun["complete"]
    assert summed["text"] == "In short." and not summed["complete"]
    assert answer["left_out"]["shortened"] == 2
    assert "memory_get" in answer["left_out"]["how"]


def test_a_large_team_space_does_not_crowd_out_the_workspace(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    items = [
        {"title": f"Team fact {number}", "body": "Words of the team. " * 10, "kind": "fact"} for number in range(80)
    ]
    bob.call("memory_save_many", memories=items, scope="shared")
    bob.call("memory_save", title="The workspace's only note", body="Read me.", project_id=project)

    answer = context(bob, project_id=project)

    assert "The workspace's only note" in [memory["title"] for memory in answer["memories"]]
    assert answer["tokens"] > 5500


def test_an_old_rule_is_found_among_many_newer_notes(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    bob.call("memory_save", title="The old rule", body="Still holds.", kind="rule", project_id=project)
    for start in range(0, 300, 100):
        items = [{"title": f"Note {number}", "body": "Passing."} for number in range(start, start + 100)]
        bob.call("memory_save_many", memories=items, project_id=project)

    assert context(bob, project_id=project)["memories"][0]["title"] == "The old rule"


def test_a_settled_edit_outside_is_in_it(world: World, settings: Any) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    saved = bob.call("memory_save", title="Edited outside", body="Before.", project_id=project)
    sweep(at_once=True)
    settings.SETTLE_SECONDS = 0
    file = file_of(in_workspace(world), saved.path)
    file.write_bytes(file.read_bytes().replace(b"Before.", b"After."))

    [memory] = context(bob, project_id=project)["memories"]

    assert (memory["text"], memory["revision"]) == ("After.", 2)


def test_a_secret_that_came_in_from_outside_stays_out(world: World) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    saved = bob.call("memory_save", title="Deploy key", body="Kept elsewhere.", project_id=project)
    Memory.objects.filter(stable_id=saved.memory_id).update(withheld=True)

    answer = context(bob, project_id=project)

    assert answer["memories"] == []
    assert answer["changes"] == []


def test_times_are_in_the_callers_zone_and_to_the_second(world: World) -> None:
    world.bobs_agent.call("memory_save", title="Now", body="Here.", scope="global")

    answer: Any = call(replace(world.bobs_agent.caller, zone="Asia/Shanghai"), "context_get")

    updated = answer.memories[0].updated_at
    assert (updated.utcoffset(), updated.microsecond) == (timedelta(hours=8), 0)


@pytest.mark.parametrize("tokens", [0, 299, 50_001, "many"])
def test_a_budget_out_of_reach_is_refused(world: World, tokens: Any) -> None:
    response = world.bobs_agent.rest.get("/context", max_tokens=tokens)

    assert response.status_code == 400 or response.status_code == 422
    assert "max_tokens" in json.loads(response.content)["error"]["facts"]["fields"]


def test_the_number_of_queries_does_not_grow_with_the_memory(world: World, django_assert_max_num_queries: Any) -> None:
    bob, project = world.bobs_agent, world.workspace.pk
    items = [{"title": f"Note {number}", "body": "Some words. " * 40} for number in range(200)]
    bob.call("memory_save_many", memories=items, project_id=project)

    with django_assert_max_num_queries(80):
        bob.call("context_get", project_id=project)

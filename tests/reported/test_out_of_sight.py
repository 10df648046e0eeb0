"""What a caller may not see does not exist for them (D-08b): every operation of memories, every way to name a memory."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import memrelay.api  # noqa: F401 - gathers every room's operations
from apps.base.errors import MemRelayError
from apps.memories.models import Memory, MemoryRevision, ScopeCommit
from apps.operations.models import RequestReceipt
from apps.operations.operation import OPERATIONS, Operation
from apps.profiles.models import Profile
from tests.memories.ledger_world import all_durable, file_of_saved, outside_body
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db

ROOMS = ("apps.memories", "apps.context")
NAMES_A_MEMORY = {"memory_id", "checkpoint_id"}
NAMES_A_SCOPE = {"scope", "to_scope"}
NAMES_A_WORKSPACE = {"project_id", "to_project_id"}
MARK = "unmistakable"
FILLERS: dict[str, Any] = {
    "title": "Mine", "body": "x", "text": "x", "revision": 1, "to_revision": 1, "from_revision": 1, "query": MARK,
    "memories": [{"title": "Mine", "body": "x"}], "decision": "restore_files", "job_id": "job_none", "client": "claude-code",
}  # fmt: skip
EXTRA: dict[str, dict[str, Any]] = {"checkpoint_save": {"completed": "x"}, "memory_update": {"body": "y"}}


def operations() -> list[Operation[Any, Any]]:
    return [one for one in OPERATIONS.values() if one.function.__module__.startswith(ROOMS)]


@dataclass
class Hidden:
    """Somebody else's memories: each reference by which they might be reached."""

    memories: list[Any]
    scope: str
    project: str = ""
    project_slug: str = ""

    @property
    def references(self) -> Iterator[str]:
        folder = f"projects/{self.project}" if self.project else f"profiles/{self.scope.partition('/')[2]}/global"
        for one in self.memories:
            yield from (
                one.memory_id,
                one.path,
                one.slug,
                f"{folder}/{one.slug}",
                f"[[{one.slug}]]",
                f"{folder}/{one.path}",
            )


def hidden_things(owner: Agent, scope: str, **project: str) -> Hidden:
    where = {"project_id": project["project"]} if project else {}
    first = owner.call("memory_save", title=f"{MARK} one", body=f"{MARK} text", tags=[MARK], **where)
    gone = owner.call("memory_save", title=f"{MARK} two", body=f"{MARK} text", **where)
    away = owner.call("memory_save", title=f"{MARK} three", body=f"{MARK} text", **where)
    point = owner.call("checkpoint_save", title=f"{MARK} point", completed=f"{MARK} text", important=True, **where)
    owner.call("memory_delete", memory_id=gone.memory_id)
    owner.call("memory_archive", memory_id=away.memory_id)
    moved = owner.call("memory_save", title=f"{MARK} moved", body=f"{MARK} text", scope="shared")
    to = {"to_project_id": project["project"]} if project else {"to_scope": "global"}
    owner.call("memory_move", memory_id=moved.memory_id, **to)
    return Hidden([first, gone, away, point, moved], scope, **project)


@pytest.fixture(params=["another member's space", "another workspace"])
def sides(request: pytest.FixtureRequest, world: World) -> tuple[Agent, Hidden]:
    """Who asks, and what is not theirs. The asking one has memories too, so that nothing is empty for want of any."""
    if request.param == "another workspace":
        asker = world.agent("dora", project_id=world.workspace.pk, toolset="full")
        other: Any = call(world.operator, "project_create", name="Elsewhere")
        owner = world.agent("owner", toolset="full")
        hidden = hidden_things(owner, f"project/{other.project_id}", project=other.project_id, project_slug=other.slug)
    else:
        asker = world.bobs_agent
        Profile.objects.create(pk="eve", name="Eve")
        hidden = hidden_things(world.agent("eve's agent", profile_id="eve"), "global/eve")
    asker.call("memory_save", title="Own", body="own text")
    asker.call("checkpoint_save", completed="own")
    return asker, hidden


def arguments_of(operation: Operation[Any, Any]) -> dict[str, Any]:
    needed = {name for name, field in operation.arguments.model_fields.items() if field.is_required()}
    filled = {name: FILLERS[name] for name in needed if name in FILLERS} | EXTRA.get(operation.name, {})
    if "folder" in needed:
        filled["folder"] = tempfile.gettempdir()
    return filled


def told(asker: Agent, operation: Operation[Any, Any], **arguments: Any) -> str:
    """What the caller is told: the failure, or the whole answer."""
    try:
        return operation.answer(asker.caller, arguments_of(operation) | arguments).model_dump_json()
    except MemRelayError as failure:
        return json.dumps(failure.as_dict(), default=str, ensure_ascii=False)


def traces() -> list[int]:
    return [model.objects.count() for model in (Memory, MemoryRevision, ScopeCommit, RequestReceipt)]


@pytest.mark.parametrize("operation", operations(), ids=lambda one: one.name)
def test_what_is_out_of_sight_answers_as_what_does_not_exist(
    sides: tuple[Agent, Hidden], operation: Operation[Any, Any]
) -> None:
    asker, hidden = sides
    names = set(operation.arguments.model_fields)
    before = traces()
    attempts = [(name, value, "no-such-thing") for name in names & NAMES_A_MEMORY for value in hidden.references]
    attempts += [(name, hidden.scope, f"{hidden.scope}x") for name in names & NAMES_A_SCOPE]
    attempts += [
        (name, value, "nothing")
        for name in names & NAMES_A_WORKSPACE
        for value in (hidden.project, hidden.project_slug)
        if value
    ]
    for name, value, nothing in attempts:
        more = {"memory_id": "own"} if name in ("to_scope", "to_project_id") else {}
        seen = told(asker, operation, **{**more, name: value})
        unseen = told(asker, operation, **{**more, name: nothing})
        assert seen.replace(value, "?") == unseen.replace(nothing, "?"), (name, value)
        assert json.loads(seen).get("code"), (name, value, seen)
    assert traces() == before


@pytest.mark.parametrize("operation", operations(), ids=lambda one: one.name)
def test_an_answer_without_a_name_shows_nothing_of_others(
    sides: tuple[Agent, Hidden], operation: Operation[Any, Any]
) -> None:
    asker, hidden = sides
    needed = {name for name, field in operation.arguments.model_fields.items() if field.is_required()}
    if needed & (NAMES_A_MEMORY | NAMES_A_SCOPE):
        return
    widest: list[dict[str, Any]] = [{}]
    optional = set(operation.arguments.model_fields)
    if "status" in optional:
        widest += [{"status": "any", "resource": "any"}, {"status": "deleted", "tags": [MARK]}]
    for arguments in widest:
        answer = told(asker, operation, **arguments)
        assert f"{MARK} " not in answer and hidden.scope not in answer
        assert not any(one.memory_id in answer for one in hidden.memories)


def test_a_search_that_meets_a_memory_on_its_way_out_of_sight_leaves_it_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.memories.selectors import search

    eve = Profile.objects.create(pk="eve", name="Eve")
    eves = world.agent("eve's agent", profile_id=eve.pk)
    shared = eves.call("memory_save", title="Ours", body=f"{MARK} text", scope="shared")
    found = search.search_text

    def then_moved(*arguments: Any, **filters: Any) -> Any:
        hits = found(*arguments, **filters)
        eves.call("memory_move", memory_id=shared.memory_id, to_scope="global")
        return hits

    monkeypatch.setattr(search, "search_text", then_moved)
    assert world.bobs_agent.call("memory_search", query=MARK).results == []


def test_a_receipt_answers_only_who_may_still_see_what_it_tells(world: World) -> None:
    Profile.objects.create(pk="eve", name="Eve")
    bob = world.bobs_agent
    saved = bob.call("memory_save", title="Ours", body="x", scope="shared", request_id="r1")
    Memory.objects.filter(stable_id=saved.memory_id).update(scope_id=scope_of_eve(world))
    with pytest.raises(MemRelayError) as refused:
        bob.call("memory_save", title="Ours", body="x", scope="shared", request_id="r1")
    assert refused.value.code == "MEMORY_NOT_FOUND"


def scope_of_eve(world: World) -> str:
    return str(world.agent("eve", profile_id="eve").call("memory_save", title="Hers", body="x").scope)


def test_an_outside_edit_of_anothers_memory_is_not_taken_in_by_asking_for_it(world: World) -> None:
    Profile.objects.create(pk="eve", name="Eve")
    hers = world.agent("eve", profile_id="eve").call("memory_save", title="Hers", body="x\n")
    all_durable()
    outside_body(file_of_saved(hers), "x", "y")
    with pytest.raises(MemRelayError):
        world.bobs_agent.call("memory_get", memory_id=hers.memory_id)
    assert MemoryRevision.objects.filter(memory__stable_id=hers.memory_id).count() == 1

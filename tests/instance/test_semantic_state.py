"""The flag of semantic search says what is so at this moment (MEM-031)."""

import json
from typing import Any

import pytest

from apps.search.embedding.errors import EmbedderUnavailable
from apps.search.vectors import state
from tests.search.vectors.made import Embedder
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def machine(settings: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Which roles are served, and what the embedder says of itself."""
    settings.EMBEDDING, settings.EMBEDDING_LOADER = "tiny", "tests.search.vectors.made"
    seen: dict[str, Any] = {"served": {"worker"}, "health": {}}

    def health(_seconds: float) -> Any:
        if seen["health"] is None:
            raise EmbedderUnavailable(reason="timeout")
        return seen["health"]

    monkeypatch.setattr(state, "role_is_served", lambda role: role in seen["served"])
    monkeypatch.setattr(state, "ask_health", health)
    return seen


def flags(world: World) -> tuple[dict[str, Any], dict[str, Any]]:
    bob = world.bobs_agent
    capability = json.loads(bob.rest.get("/capabilities").content)["features"]["semantic_search"]
    parts = json.loads(bob.rest.get("/health").content)["parts"]
    return capability, next(part for part in parts if part["part"] == "semantic_search")


@pytest.mark.parametrize(
    ("served", "health", "capability", "condition"),
    [
        ({"worker"}, None, ("available", True), "ok"),
        ({"worker", "embedder"}, {"model": "tiny", "trouble": ""}, ("available", True), "ok"),
        ({"worker", "embedder"}, {"model": None, "trouble": ""}, ("starting", False), "ok"),
        ({"worker", "embedder"}, {"model": None, "trouble": "The folder is gone."}, ("failing", False), "warning"),
        ({"worker", "embedder"}, None, ("failing", False), "warning"),
        (set(), None, ("failing", False), "warning"),
    ],
)
def test_the_flag_follows_the_embedder(
    world: World,
    machine: dict[str, Any],
    served: set[str],
    health: Any,
    capability: tuple[str, bool],
    condition: str,
) -> None:
    machine |= {"served": served, "health": health}
    flag, part = flags(world)
    assert (flag["state"], flag["on"], part["state"]) == (*capability, condition)
    assert flag["reason"] or flag["state"] == "available"


def test_the_dashboard_counts_what_waits_and_only_what_the_caller_sees(world: World, machine: dict[str, Any]) -> None:
    world.bobs_agent.call("memory_save", title="Acme", body="x")
    world.alices_agent.call("memory_save", title="Hidden", body="x", scope="global")
    _flag, part = flags(world)
    assert "2 texts wait to be embedded." in part["detail"]
    Embedder().work_off()
    assert "wait" not in flags(world)[1]["detail"]


PATH = "The model folder /srv/nothing lacks model.onnx."


def told_to(agent: Any, language: str) -> list[str]:
    """Why it fails, by each door that says so."""
    agent.rest.headers["Accept-Language"] = language
    state, capabilities, health = (
        json.loads(agent.rest.get(path).content) for path in ("/search/state", "/capabilities", "/health")
    )
    part = next(part for part in health["parts"] if part["part"] == "semantic_search")
    return [state["reason"], capabilities["features"]["semantic_search"]["reason"], part["detail"]]


@pytest.mark.parametrize("is_noted", [True, False], ids=["noted on the disk", "said by the embedder"])
def test_only_the_operator_reads_the_paths_of_the_host(
    world: World, machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch, is_noted: bool
) -> None:
    if is_noted:
        monkeypatch.setattr(state, "last_trouble", lambda: PATH)
    machine |= {"served": {"worker", "embedder"}, "health": {"model": None, "trouble": PATH}}
    for language, sentence in (("en", "The embedding model cannot be used."), ("zh-hans", "嵌入模型无法使用。")):
        for told in told_to(world.bobs_agent, language):
            assert sentence in told and "/srv" not in told
        assert all(PATH in told for told in told_to(world.alices_agent, language))


def test_without_its_model_all_that_is_embedded_waits_by_either_door(
    world: World, machine: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        world.bobs_agent.call("memory_save", title=f"Note {number}", body="x")
    Embedder().work_off()
    world.bobs_agent.call("memory_save", title="One more", body="x")
    monkeypatch.setattr("tests.search.vectors.made.KEY", "folder/missing")
    told = json.loads(world.bobs_agent.rest.get("/search/state").content)
    assert (told["memories"], told["pending"], told["indexed"]) == (4, 4, 0)
    assert "4 texts wait to be embedded." in flags(world)[1]["detail"]


def test_nothing_waits_where_it_is_off(world: World) -> None:
    world.bobs_agent.call("memory_save", title="Acme", body="x")
    told = json.loads(world.bobs_agent.rest.get("/search/state").content)
    assert (told["semantic_search"], told["memories"], told["pending"], told["failed"]) == ("off", 1, 0, 0)
    assert "wait" not in flags(world)[1]["detail"]

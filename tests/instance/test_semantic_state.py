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

"""The threshold of 1.2 and the weights are right for what people really say, in both languages."""

from typing import Any

import pytest

from tests.recall.calibration import MEMORIES, RELATED, UNRELATED
from tests.world import World

pytestmark = pytest.mark.django_db
FOUND = 0.9  # Of the related messages.


@pytest.fixture
def agent(world: World) -> Any:
    world.bobs_agent.call("memory_save_many", memories=[one._asdict() for one in MEMORIES])
    return world.bobs_agent


def recalled(agent: Any, message: str, number: int) -> list[str]:
    answer = agent.call("memory_recall", message=message, session_id=f"calibration {number}")
    assert answer.silence == ""
    return [one.title for one in answer.memories]


def test_what_people_say_all_day_brings_nothing_to_mind(agent: Any) -> None:
    wrong = {text: found for n, text in enumerate(UNRELATED) if (found := recalled(agent, text, n))}
    assert not wrong


def test_related_messages_bring_the_right_memory_and_hardly_another(agent: Any) -> None:
    found = {message: recalled(agent, message, n) for n, (message, _) in enumerate(RELATED)}
    missed = [message for message, wanted in RELATED if wanted not in found[message]]
    others = {message: found[message] for message, wanted in RELATED if [t for t in found[message] if t != wanted]}
    assert len(missed) <= (1 - FOUND) * len(RELATED), (missed, others)
    assert len(others) <= len(RELATED) / 10, (missed, others)

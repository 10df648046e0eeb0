"""Recall with a message as an agent asks for it over REST, and memories worth recalling."""

from typing import Any

from tests.world import Rest, ok, save


def remember(rest: Rest, title: str, body: str, **fields: Any) -> str:
    """Save a memory; its id."""
    return str(save(rest, title, body, **fields)["memory_id"])


def recall(rest: Rest, message: str, session: str = "s1", **fields: Any) -> Any:
    return ok(rest.post("/recall", message=message, session_id=session, **fields))


def ids(answer: Any) -> list[str]:
    """Of the memories that came."""
    return [one["memory_id"] for one in answer["memories"]]

"""Caller x operation: anonymous, read, write, administer, other profile, other project, expired, revoked; over every door.

Everybody meets the same answer over REST, as an MCP tool and through ``tool_run``; what is refused changes nothing.
"""

from pathlib import Path
from typing import Any

import pytest

from apps.operations.served import served_tools
from memrelay.mcp_door import PATH
from tests.contract import matrix
from tests.contract.matrix import BOUND_ELSEWHERE, BY_OPERATION, CALLERS, OK, Matrix
from tests.contract.surface import operations
from tests.doors.mcp_client import message, open_door
from tests.world import World

NAMES = sorted(operations())
TABLES = {*BOUND_ELSEWHERE, *BY_OPERATION, *matrix.ANSWERS}


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.IMPORT_FOLDERS = [str(tmp_path / "outside")]
    settings.RATE_PER_MINUTE = 0
    (tmp_path / "outside").mkdir()
    return tmp_path / "outside"


@pytest.mark.parametrize("name", NAMES)
def test_everybody_meets_the_right_answer(name: str, world: World, folder: Path) -> None:
    row = Matrix(world, operations()[name], folder)
    assert row.doors(), f"Nobody can call {name}."
    wanted, met, changed = {}, {}, []
    for who in CALLERS:
        for door in row.doors():
            wanted[who, door] = row.expected(who)
            met[who, door], has_changed = row.cell(who, door)
            if has_changed and met[who, door] != OK:
                changed.append((who, door))
    assert met == wanted
    assert not changed, "Refused, and yet something changed."


def test_the_tables_name_operations_that_exist() -> None:
    assert not TABLES - set(NAMES)


@pytest.mark.django_db(transaction=True)
async def test_the_mcp_door_stays_shut_whatever_is_called() -> None:
    """Who has no token, or no good one, is refused before any tool is looked at."""
    assert PATH.fullmatch("/mcp")
    async with open_door() as door:
        for token in (None, "mrl_nobody-has-this-one"):
            async with door.http(token) as client:
                for name in served_tools():
                    answer = await client.post("/mcp", json=message(name=name, arguments={}))
                    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "NOT_SIGNED_IN"), name

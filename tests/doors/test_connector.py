"""What ChatGPT's connectors and deep research meet: two tools, each answering in the exact shape they ask for."""

import json
from typing import Any

import pytest
from mcp.types import TextContent

from tests.doors.mcp_client import ERAS, open_door
from tests.world import World, call

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/mcp?toolset=connector"
PUBLIC = "https://memory.example.org"


@pytest.fixture(autouse=True)
def public(settings: Any) -> None:
    settings.PUBLIC_URL = PUBLIC


def answered(result: Any) -> Any:
    """The one text of an answer, which says the same as its structured content."""
    [content] = result.content
    assert isinstance(content, TextContent) and not result.is_error
    told = json.loads(content.text)
    assert told == result.structured_content
    return told


@pytest.fixture
def token(world: World) -> str:
    return world.carols_reader.token


@pytest.fixture
def hers(world: World) -> str:
    """What Carol may not see."""
    saved: Any = call(world.bobs_agent.caller, "memory_save", title="A plan", body="Cake.", scope="global")
    return str(saved.memory_id)


@pytest.fixture
def saved(world: World) -> dict[str, str]:
    here = {"project_id": world.workspace.pk}
    rule: Any = call(world.operator, "memory_save", title="Deploy on Thursdays", body="Never on **Fridays**.\n", kind="rule",
                     tags=["deploy", "ops"], **here)  # fmt: skip
    chinese: Any = call(world.operator, "memory_save", title="部署流程", body="先灰度 10%，再全量。\n", **here)
    done: Any = call(world.operator, "checkpoint_save", title="Half way", completed="The walls stand.", **here)
    return {"rule": rule.memory_id, "chinese": chinese.memory_id, "checkpoint": done.memory_id}


@pytest.mark.parametrize("era", ERAS)
async def test_a_connector_searches_and_fetches(token: str, saved: dict[str, str], era: str) -> None:
    async with open_door() as door, door.client(token, path=PATH, era=era) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name: list(tool.input_schema["properties"]) for tool in tools} == {
            "search": ["query"],
            "fetch": ["id"],
        }
        found = answered(await client.call_tool("search", {"query": "when do we deploy? Thursdays"}))
        url = f"{PUBLIC}/memory/{saved['rule']}"
        assert found["results"][0] == {"id": saved["rule"], "title": "Deploy on Thursdays", "url": url}
        read = answered(await client.call_tool("fetch", {"id": found["results"][0]["id"]}))
    assert set(read) == {"id", "title", "text", "url", "metadata"}
    assert (read["id"], read["title"], read["url"]) == (saved["rule"], "Deploy on Thursdays", url)
    assert read["text"] == "Never on **Fridays**.\n"
    assert read["metadata"].items() >= {"kind": "rule", "tags": "deploy, ops", "status": "active"}.items()
    assert all(isinstance(value, str) for value in read["metadata"].values())


async def test_chinese_and_checkpoints_are_found_and_read(token: str, saved: dict[str, str]) -> None:
    async with open_door() as door, door.client(token, path=PATH) as client:
        found = answered(await client.call_tool("search", {"query": "灰度"}))
        assert found["results"][0]["id"] == saved["chinese"]
        found = answered(await client.call_tool("search", {"query": "walls"}))
        read = answered(await client.call_tool("fetch", {"id": found["results"][0]["id"]}))
    assert read["metadata"]["kind"] == "checkpoint" and "The walls stand." in read["text"]


@pytest.mark.parametrize("query", ["", "*", "???", "。。", '"'])
async def test_nothing_to_search_for_finds_nothing(token: str, saved: dict[str, str], query: str) -> None:
    async with open_door() as door, door.client(token, path=PATH) as client:
        assert answered(await client.call_tool("search", {"query": query})) == {"results": []}


async def test_what_one_may_not_see_is_neither_found_nor_read(token: str, hers: str) -> None:
    async with open_door() as door, door.client(token, path=PATH) as client:
        assert answered(await client.call_tool("search", {"query": "cake"})) == {"results": []}
        refused = await client.call_tool("fetch", {"id": hers})
    assert refused.is_error and "MEMORY_NOT_FOUND" in refused.content[0].text  # type: ignore[union-attr]


def test_rest_answers_the_same(world: World, saved: dict[str, str]) -> None:
    rest = world.carols_reader.rest
    [first, *_] = rest.get("/connector/search", query="Thursdays").json()["results"]
    assert first["url"] == f"{PUBLIC}/memory/{saved['rule']}"
    assert rest.get("/connector/fetch", id=first["id"]).json()["text"] == "Never on **Fridays**.\n"
    assert rest.get("/connector/fetch", id="nothing").status_code == 404

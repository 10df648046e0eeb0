"""``client_config_get``: what to paste where, without a secret."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings

from apps.context.clients import CLIENTS
from tests.world import World

pytestmark = pytest.mark.django_db


def config(world: World, client: str, **query: Any) -> dict[str, Any]:
    response = world.bobs_agent.rest.get(f"/clients/{client}", **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = json.loads(response.content)
    return answer


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_has_a_text_to_paste_with_the_address_and_a_placeholder(
    world: World, client: str, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://memory.example.org"

    answer = config(world, client)

    texts = "\n".join(snippet["text"] for snippet in answer["snippets"])
    assert "https://memory.example.org/mcp" in texts
    assert answer["token_placeholder"] in texts or "${input:memrelay-token}" in texts
    assert world.bobs_agent.token not in json.dumps(answer)
    assert answer["explanation"]


@pytest.mark.parametrize("client", ["cursor", "vscode", "stdio"])
def test_json_snippets_are_json(world: World, client: str) -> None:
    [snippet] = config(world, client)["snippets"]

    assert json.loads(snippet["text"])


def test_without_a_public_address_it_is_the_one_listened_on(world: World, settings: Any) -> None:
    settings.PUBLIC_URL, settings.HOST, settings.PORT = "", "0.0.0.0", 9000

    assert config(world, "http")["mcp_url"] == "http://127.0.0.1:9000/mcp"


def test_with_a_workspace_the_address_is_bound_to_it(world: World) -> None:
    answer = config(world, "codex", project_id=world.workspace.slug)

    assert answer["mcp_url"].endswith(f"/mcp/projects/{world.workspace.pk}")


def test_an_unknown_client_is_refused_with_those_there_are(world: World) -> None:
    response = world.bobs_agent.rest.get("/clients/netscape")

    assert response.status_code in (400, 422)
    assert "claude-code" in json.loads(response.content)["error"]["facts"]["fields"]["client"]


def test_the_bridge_it_names_is_there_and_a_public_server_tells_no_path_of_its_machine(
    world: World, settings: Any
) -> None:
    settings.PUBLIC_URL = ""
    [near] = config(world, "stdio")["snippets"]
    settings.PUBLIC_URL = "https://memory.example.org"
    [far] = config(world, "stdio")["snippets"]

    assert Path(json.loads(near["text"])["mcpServers"]["memrelay"]["args"][0]).is_file()
    assert str(django_settings.PROJECT_FOLDER) not in far["text"]

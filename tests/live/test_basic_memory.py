"""A genuine basic-memory on the folder that MemRelay wrote: it lists, finds and reads, and changes no byte (D-47)."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from apps.memories.ledger import Create, Deed, commit
from apps.memories.models import Resource
from apps.memories.scopes import project_scope
from tests.live.server import wait_until
from tests.memories.folder_world import fill, imported, snapshot
from tests.memories.ledger_world import all_durable, edit_outside, file_of_saved, scanned
from tests.outside import needed
from tests.world import World

pytestmark = pytest.mark.django_db

SECONDS = 60
PATH = re.compile(r"\S+/\S.*\.md")
TEA = """\
# Tea time

We drink it at four, see [[Kettle]] and [[喝茶的规矩]]; [[Not written yet]].

- [fact] Assam goes with milk #tea (since 2019)
- [decision] Never on Sundays
- relates_to [[Kettle]]
- [ ] buy scones
"""
RULES = "下午四点喝茶。\n\n- [规矩] 先温杯 #茶\n- [fact] 用盖碗\n"
VAULT = {
    "Daily/2026-08-01.md": (
        "---\naliases: [Augusttag, '八月']\ntags:\n  - daily\n  - 日记\ncssclass: wide\ncreated: 2026-08-01T10:00:00\n---\n"
        "# Saturday\n\n%% hidden %% See [[Tea time|the tea]] and ![[picture.png]] #inline/tag\n\n- [fact] It rained\n"
    ),
    "No head.md": "Neither frontmatter nor heading.\n",
    "scones.md": "---\ntype: recipe\npermalink: kitchen/scones\ntitle: Scones\n---\n\nFlour and patience.\n",
    "windows.md": "---\r\ntitle: Windows\r\n---\r\nLines end as they do there.\r\n",
    "marked.md": "\ufeff---\ntitle: 'Marked'\n---\nBehind a byte order mark.\n",
    "colon.md": "---\ntitle: \"A: colon, 'quotes' and #1\"\n---\nWhat YAML trips over.\n",
}


@pytest.fixture
def folder(world: World, settings: Any, tmp_path: Path) -> Path:
    """Memories of three scopes, edited, archived, deleted, moved, imported and adopted; a checkpoint; curated documents."""
    needed("basic-memory")
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    bob, project = world.bobs_agent, world.workspace.pk
    tea = bob.call("memory_save", title="Tea time", body=TEA, tags=["tea", "afternoon tea", "下午"], scope="shared")
    bob.call("memory_update", memory_id=tea.memory_id, revision=1, summary="At four: never later.")
    bob.call("memory_save", title="Kettle", body="Boil once; `kettle --hot`.\n", kind="rule", scope="shared")
    bob.call("memory_save", title="喝茶的规矩", body=RULES, tags=["茶"], project_id=project)
    bob.call("memory_save", title="Samovar", body="Polished on Fridays.\r\nAnd a second line.\r\n")
    bob.call("memory_save", title="Tea time", body="The same name, in his own space.\n")
    bob.call("memory_save", title="Tea time?", body="Nearly the same name 几点.\n")
    for title in ("Old kettle", "Gone"):
        bob.call("memory_save", title=title, body=f"Descaled in vinegar: {title}.\n", project_id=project)
    bob.call("memory_archive", memory_id="old-kettle")
    bob.call("memory_delete", memory_id="gone")
    bob.call("checkpoint_save", title="Gateway works", completed="All of it. 全部完成", project_id=project)
    commit(world.operator, project_scope(project), [*curated()], Deed("curation_apply"))
    imported(world, fill(tmp_path / "vault", VAULT))
    edit_outside(file_of_saved(tea).with_name("outside.md"), "# From outside\n\nNo head. 外来\n")
    assert scanned("global/shared").found == 1
    all_durable()
    return Path(settings.MEMORIES_FOLDER)


def curated() -> Iterator[Create]:
    """As curation writes them, with the kinds of keys it adds."""
    for title, slug in (("Overview", "overview"), ("Current state", "current-state")):
        sources = {"source_memory_ids": ["mem_1", "mem_2"], "source_file_ids": [], "source_git_commit": ""}
        yield Create(
            title=title,
            body=f"## {title}\n\n概况 of the tea. Sources: [[喝茶的规矩]]\n".encode(),
            resource=Resource.CURATED,
            slug=slug,
            path=f"curated/{slug}.md",
            extra={"document_type": slug, "prompt_version": "1", **sources},
        )


class Reader:
    """basic-memory as an agent uses it."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def told(self, tool: str, **arguments: Any) -> str:
        result = self.portal.call(self.client.call_tool, tool, arguments)
        told = "\n".join(getattr(block, "text", "") for block in result.content)
        assert not result.is_error, told
        return told

    def answer(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.told(tool, output_format="json", **arguments))

    def paths(self) -> set[str]:
        listed = self.told("list_directory", dir_name="/", depth=10, file_name_glob="*.md", page_size=200)
        return {path for line in listed.splitlines() if line.startswith("📄") for path in PATH.findall(line)}

    def has_listed(self, folder: Path) -> None:
        """Wait until it has taken in every file."""
        there = {file.relative_to(folder).as_posix() for file in folder.rglob("*.md")}
        wait_until(lambda: self.paths() == there, SECONDS, what="basic-memory lists what is there")

    def has_found(self, places: dict[str, set[str]]) -> None:
        """Wait until each word leads to these notes and no others."""
        what = f"these words lead to these notes: {places}"
        wait_until(lambda: {query: self.found(query) for query in places} == places, SECONDS, what=what)

    def found(self, query: str) -> set[str]:
        hits = self.answer("search_notes", query=query, search_type="text", page_size=50)["results"]
        return {hit["permalink"] for hit in hits}

    def read(self, identifier: str) -> Any:
        return self.answer("read_note", identifier=identifier)

    def links(self, permalink: str) -> set[tuple[str, str]]:
        """Those whose target it knows; it looks for targets once everything is taken in."""
        [note] = self.answer("build_context", url=f"memory://{permalink}")["results"]
        return {(seen["relation_type"], seen["to_entity"]) for seen in note["related_results"] if seen.get("to_entity")}


@pytest.fixture
def reader(folder: Path, tmp_path: Path) -> Iterator[Reader]:
    """The genuine server, with a configuration and an index of its own, and no wish for the network."""
    own = tmp_path / "reader"
    (own / "home").mkdir(parents=True)
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(own / "home"),
        "BASIC_MEMORY_HOME": str(folder),
        "BASIC_MEMORY_CONFIG_DIR": str(own / "configuration"),
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "BASIC_MEMORY_NO_PROMOS": "1",
        "FASTMCP_CHECK_FOR_UPDATES": "off",
        "HF_HUB_OFFLINE": "1",
    }
    program = StdioServerParameters(command=needed("basic-memory"), args=["mcp"], env=environment, cwd=str(own))
    with open(own / "log", "w") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(program, errlog=log), read_timeout_seconds=SECONDS)
        with portal.wrap_async_context_manager(client):
            yield Reader(portal, client)


def test_basic_memory_lists_finds_reads_follows_and_changes_no_byte(folder: Path, reader: Reader, world: World) -> None:
    project = f"projects/{world.workspace.pk}"
    before = snapshot(folder)
    reader.has_listed(folder)
    places = {
        "盖碗": {f"{project}/喝茶的规矩"},
        "polished": {"profiles/bob/global/samovar"},
        "全部完成": {f"{project}/gateway-works"},
        "vinegar": {f"{project}/old-kettle"},
        "概况": {f"{project}/overview", f"{project}/current-state"},
        "rained": {"global/saturday"},
        "外来": {"global/from-outside"},
        "patience": {"kitchen/scones"},
    }
    reader.has_found(places)

    rules = reader.read("喝茶的规矩")
    assert (rules["content"], rules["frontmatter"]["tags"]) == (RULES, ["茶"])
    assert reader.read("memory://global/tea-time")["frontmatter"]["tags"] == ["tea", "afternoon tea", "下午"]
    assert reader.read("Gateway works")["frontmatter"]["type"] == "checkpoint"

    links = {("relates_to", "Kettle"), ("links_to", "Kettle"), ("links_to", "喝茶的规矩")}
    wait_until(lambda: links <= reader.links("global/tea-time"), SECONDS, what="links lead to notes")
    [tea] = reader.answer("build_context", url="memory://global/tea-time")["results"]
    observations = {(seen["category"], seen["content"]) for seen in tea["observations"]}
    assert observations == {("fact", "Assam goes with milk #tea"), ("decision", "Never on Sundays")}
    assert snapshot(folder) == before

    # It watches the folder, and takes in what MemRelay writes meanwhile.
    bob = world.bobs_agent
    bob.call("memory_append", memory_id="kettle", text="Mind the limescale 水垢.\n")
    bob.call("memory_archive", memory_id="samovar")
    bob.call("memory_move", memory_id="tea-time-2", to_scope="shared")
    bob.call("memory_save", title="Teapot", body="Cast iron 铁壶.\n")
    all_durable()
    after = snapshot(folder)
    places = {
        "水垢": {"global/kettle"},
        "几点": {"global/tea-time-2"},
        "铁壶": {"profiles/bob/global/teapot"},
    }
    reader.has_found(places)
    assert snapshot(folder) == after

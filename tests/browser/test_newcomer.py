"""A newcomer's first minutes on a server that nobody has used, in each language: from the first sign-in to a curated document."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.utils import translation
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Browser, Page, expect

from tests.browser.curating import CHINESE, ENGLISH, MEMORY_IDS
from tests.browser.entering import first_sign_in
from tests.browser.watching import Watch
from tests.doubles.model import ModelDouble
from tests.live.server import LiveServer


@dataclass(frozen=True)
class Newcomer:
    """Who comes: the browser's language, and what is worked on."""

    locale: str
    language: str
    workspace: str
    title: str
    body: str
    word: str
    after: str
    document: dict[str, Any]


NEWCOMERS = [
    Newcomer(
        "en-US",
        "en",
        "Allotment",
        "Water the tomatoes twice a week",
        "In the morning, and never on the leaves.\n",
        "leaves",
        "In the **evening**, and never on the leaves.\n",
        ENGLISH,
    ),
    Newcomer(
        "zh-CN",
        "zh-hans",
        "菜园",
        "番茄每周浇两次水",
        "早上浇水，不要淋到叶子。\n",
        "叶子",
        "**傍晚**浇水，不要淋到叶子。\n",
        CHINESE,
    ),
]


def as_an_agent(address: str, token: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Connect as an MCP client does, and call these tools. In a thread: the browser's side has this one's event loop."""

    async def talk() -> list[Any]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            offered = {tool.name for tool in (await client.list_tools()).tools}
            assert {name for name, _arguments in calls} <= offered
            answers = []
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                answers.append(result.structured_content)
            return answers

    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.extend(asyncio.run(talk())))
    thread.start()
    thread.join()
    assert told, "The agent could not connect."
    return told


def click(page: Page, role: Any, name: str) -> None:
    page.locator("main").get_by_role(role, name=name, exact=True).click()


def confirm(page: Page) -> None:
    page.locator("dialog[open] [data-confirm-action]").click()


def go(page: Page, name: str) -> None:
    page.locator(".shell-sidebar").get_by_role("link", name=name, exact=True).click()


def said(page: Page, text: str) -> None:
    expect(page.locator(".notice").filter(has_text=text)).to_be_visible()


@pytest.mark.parametrize("who", NEWCOMERS, ids=lambda who: who.locale)
def test_the_first_minutes(who: Newcomer, browser: Browser, model: ModelDouble, tmp_path: Path) -> None:
    with LiveServer(tmp_path, web_processes=1) as server, translation.override(who.language):
        watch = Watch(server.url)
        context = browser.new_context(base_url=server.url, locale=who.locale, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(15_000)
        watch.over(context)
        walk(context.new_page(), who, server, model, translation.gettext)
        context.close()
        assert watch.complaints == []


def walk(page: Page, who: Newcomer, server: LiveServer, model: ModelDouble, words: Callable[[str], str]) -> None:
    model.reset()
    page.goto("/")
    expect(page.locator("h1")).to_have_text(words("Sign in"))
    first_sign_in(page, server.url, server.first_password())
    expect(page.locator("main")).to_contain_text(words("First steps"))

    go(page, words("Workspaces"))
    page.locator("main").get_by_role("link", name=words("New workspace")).first.click()
    page.get_by_label(words("Name"), exact=True).fill(who.workspace)
    click(page, "button", words("Make workspace"))
    expect(page.locator("h1")).to_have_text(who.workspace)
    project_id = page.url.rpartition("/")[2]

    token = make_a_token(page, who, words)
    call = {"title": who.title, "body": who.body, "kind": "rule"}
    saved = as_an_agent(
        server.mcp_url, token, ("memory_save", call), ("checkpoint_save", {"title": "1", "completed": "2"})
    )
    memory_id = saved[0]["memory_id"]

    go(page, words("Dashboard"))
    expect(page.locator(".row-title").filter(has_text=who.title)).to_be_visible()
    expect(page.locator("main")).not_to_contain_text(words("First steps"))

    go(page, words("Search"))
    page.locator("#query").press_sequentially(who.word)
    expect(page.locator("mark")).to_have_text(who.word)
    page.locator(".row-link").click()
    expect(page.locator("h1")).to_have_text(who.title)

    edit_and_revert(page, who, words)
    delete_and_restore(page, who, words)
    connect_a_model(page, model, words)
    model.scenario(answers=[], otherwise={"template": who.document, "ids": MEMORY_IDS})
    curate_and_read(page, who, project_id, words)
    (context,) = as_an_agent(server.mcp_url, token, ("context_get", {}))
    assert who.document["documents"][0]["title"] in str(context)
    page.goto(f"/memory/{memory_id}")
    expect(page.locator("h1")).to_have_text(who.title)


def make_a_token(page: Page, who: Newcomer, words: Callable[[str], str]) -> str:
    go(page, words("Tokens"))
    page.locator("main").get_by_role("link", name=words("New token")).first.click()
    page.get_by_label(words("Name"), exact=True).fill("laptop")
    page.get_by_label(words("Workspace"), exact=False).first.select_option(label=who.workspace)
    click(page, "button", words("Make token"))
    token = page.locator("[data-snippet-text]").first.inner_text()
    assert token.startswith("mrl_")
    return token


def edit_and_revert(page: Page, who: Newcomer, words: Callable[[str], str]) -> None:
    page.locator(".page-header-actions").get_by_role("link", name=words("Edit")).click()
    page.locator("#id_body").fill(who.after)
    expect(page.locator(".editor-preview strong")).to_be_visible()
    click(page, "button", words("Save changes"))
    said(page, who.title)
    expect(page.locator(".prose strong")).to_be_visible()

    page.locator(".tabs").get_by_role("link", name=words("History")).click()
    page.get_by_role("link", name=words("What changed")).click()
    expect(page.locator(".diff-added .diff-text").first).to_have_text(who.after.strip())
    page.get_by_role("link", name=words("Read revision %(number)s") % {"number": 1}).click()
    page.get_by_role("button", name=words("Revert to it")).click()
    confirm(page)
    said(page, words("Revision {number} is the current text again.").format(number=1))
    expect(page.locator(".prose")).to_have_text(who.body.strip())


def delete_and_restore(page: Page, who: Newcomer, words: Callable[[str], str]) -> None:
    click(page, "button", words("Delete"))
    confirm(page)
    said(page, words("“{title}” is in the trash now.").format(title=who.title))
    go(page, words("Trash"))
    page.locator("main").get_by_role("button", name=words("Restore")).click()
    said(page, words("“{title}” is restored.").format(title=who.title))
    expect(page.locator("h1")).to_have_text(who.title)


def connect_a_model(page: Page, model: ModelDouble, words: Callable[[str], str]) -> None:
    go(page, words("Documents"))
    expect(page.locator("main")).to_contain_text(words("AI curation is not enabled."))
    click(page, "link", words("Connect a model"))
    page.locator("#id_base_url").fill(model.base_url)
    page.locator("#id_token").fill("sk-of-the-double")
    page.locator("#id_text_model").fill("double-text")
    click(page, "button", words("Save and test"))
    said(page, words("The model answers, and its answers can be used."))
    assert "sk-of-the-double" not in page.content()
    click(page, "button", words("Switch it on"))
    said(page, words("AI curation is on."))


def curate_and_read(page: Page, who: Newcomer, project_id: str, words: Callable[[str], str]) -> None:
    page.goto(f"/workspace/{project_id}")
    click(page, "button", words("Curate now"))
    document = page.locator(".row-link").filter(has_text=who.document["documents"][0]["title"])
    expect(document).to_be_visible(timeout=60_000)  # It shows up by itself.
    expect(page.locator("main .badge").first).to_have_text(words("Completed"))
    document.click()
    expect(page.locator("h1")).to_have_text(who.document["documents"][0]["title"])
    expect(page.locator(".prose h3").first).to_have_text(who.document["documents"][0]["sections"][0]["heading"])
    page.locator("section[aria-labelledby=sources]").get_by_role("link", name=who.title).click()
    expect(page.locator("h1")).to_have_text(who.title)

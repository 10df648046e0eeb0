"""Searching as somebody does who keeps the hands on the keyboard, in Chinese and English."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.content import Content
from tests.browser.looking import cookies
from tests.browser.test_axe import axe, violations
from tests.browser.watching import Watch
from tests.live.server import LiveServer

__all__ = ["axe"]


def titles(page: Page) -> list[str]:
    return [title.strip() for title in page.locator("[data-results] .row-link").all_inner_texts()]


@pytest.mark.parametrize(
    ("language", "typed", "title"), [("en", "release", "Release checklist"), ("zh", "灰度", "部署流程")]
)
def test_type_go_down_open(
    open_context: Callable[..., BrowserContext],
    server: LiveServer,
    content: Content,
    language: str,
    typed: str,
    title: str,
) -> None:
    page = open_context(base_url=server.url, viewport={"width": 1280, "height": 900}).new_page()
    page.context.add_cookies(cookies(server.url, language, "light"))
    page.goto("/search")
    page.locator("h1").click()
    page.keyboard.press("/")
    expect(page.locator("#query")).to_be_focused()
    page.keyboard.type(typed)
    expect(page.locator("[data-results] mark").first).to_be_visible()
    assert parse_qs(urlsplit(page.url).query) == {"query": [typed]}
    expect(page.locator("#search-status")).not_to_be_empty()
    found = titles(page)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".row-link").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#query")).to_be_focused()
    for _ in range(found.index(title) + 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(title)
    page.go_back()
    expect(page.locator("#query")).to_have_value(typed)
    assert titles(page) == found


def test_escape_goes_back_to_the_field_and_then_clears(person: Page, content: Content) -> None:
    person.goto("/search?query=deploy")
    person.keyboard.press("ArrowDown")
    expect(person.locator(".row-link").first).to_be_focused()
    person.keyboard.press("Escape")
    expect(person.locator("#query")).to_be_focused()
    person.keyboard.press("Escape")
    expect(person.locator("#query")).to_have_value("")
    expect(person.locator("[data-results] .empty-state")).to_be_visible()
    expect(person.locator("#search-status")).to_be_empty()


def test_an_answer_that_comes_late_is_dropped(person: Page, content: Content) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route) if "query=deploy" in route.request.url else route.continue_()

    person.goto("/search")
    person.route("**/search?*", hold)
    person.locator("#query").fill("deploy")
    expect(person.locator("form[role=search].htmx-request")).to_be_attached()
    person.locator("#query").fill("灰度")
    expect(person.locator("[data-results] .row-link")).to_have_text(["部署流程"])
    assert len(held) == 1
    held[0].fulfill(body="<p>too late</p>")
    expect(person.locator("form[role=search].htmx-request")).not_to_be_attached()
    assert titles(person) == ["部署流程"]


def test_half_of_a_chinese_word_is_not_searched_for(person: Page, content: Content) -> None:
    asked: list[str] = []
    person.goto("/search")
    person.on("request", lambda request: asked.append(request.url))
    person.locator("#query").focus()
    typing = person.context.new_cdp_session(person)
    for half in ("h", "hu", "hui", "huid", "huidu"):
        typing.send("Input.imeSetComposition", {"text": half, "selectionStart": len(half), "selectionEnd": len(half)})
        person.wait_for_timeout(60)
    typing.send("Input.insertText", {"text": "灰度"})
    expect(person.locator("[data-results] .row-link")).to_have_text(["部署流程"])
    searched = [parse_qs(urlsplit(url).query).get("query") for url in asked if "/search?" in url]
    assert searched == [["灰度"]]


def test_filters_work_at_once_and_stand_in_the_address(person: Page, content: Content) -> None:
    person.goto("/search?query=deploy")
    person.locator("#kind").select_option("rule")
    expect(person.locator("[data-results] .row-link")).to_have_text(["Deploy on Thursdays"])
    person.locator("summary", has_text="More filters").click()
    person.locator("#tags").fill("nothing-has-this")
    person.locator("#tags").press("Enter")
    expect(person.locator("[data-results] .empty-state-title")).to_be_visible()
    assert parse_qs(urlsplit(person.url).query) == {"query": ["deploy"], "kind": ["rule"], "tags": ["nothing-has-this"]}
    person.reload()
    expect(person.locator("#tags")).to_be_visible()
    person.get_by_role("link", name="Clear the filters").click()
    assert len(titles(person)) > 1


def test_more_results_come_below_and_the_keyboard_goes_on_there(person: Page, content: Content, axe: str) -> None:
    person.goto("/search?query=nightly")
    first = titles(person)
    assert len(first) == 20
    for _ in range(21):
        person.keyboard.press("ArrowDown")
    expect(person.locator("[data-more] a")).to_be_focused()
    assert violations(person, axe) == []
    person.keyboard.press("Enter")
    expect(person.locator("[data-results] .row-link").nth(20)).to_be_focused()
    assert titles(person)[:20] == first and len(titles(person)) == len(set(titles(person))) == 24
    expect(person.locator("[data-more]")).to_have_count(0)
    assert violations(person, axe) == []


def test_a_server_that_does_not_answer_is_told_of(person: Page, content: Content, watch: Watch) -> None:
    person.goto("/search?query=deploy")
    before = titles(person)
    person.route("**/search?*", lambda route: route.abort())
    person.locator("#query").fill("release")
    expect(person.locator(".toast")).to_have_text("The server did not answer. Check the connection and try again.")
    assert titles(person) == before
    assert [told for told in watch.complaints if not told.startswith("console: htmx:sendError")] == []
    watch.complaints.clear()


def test_ways_to_search_are_switched_and_the_order_explains_itself(person: Page, content: Content) -> None:
    person.goto("/search?query=release")
    expect(person.locator(".search-meaning p")).to_be_visible()  # Embeddings are off in tests of the pages.
    person.get_by_text("Words", exact=True).click()
    expect(person).to_have_url(re.compile(r"/search\?query=release&mode=text$"))
    person.keyboard.press("ArrowRight")
    expect(person.get_by_role("radio", name="Meaning", exact=True)).to_be_checked()
    person.locator("summary", has_text="More filters").click()
    person.get_by_label("Tell why each result stands where it does").check()
    expect(person.locator(".row-why").first).to_contain_text("It holds all words of the search.")

"""Every page, in both languages, light and dark, on a phone, a tablet and a desk."""

from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.content import Content
from tests.browser.looking import LANGUAGES, THEMES, WIDTHS, cookies, size
from tests.browser.pages import MISSING, pages
from tests.browser.watching import Watch
from tests.live.server import LiveServer

# What is wider than the page, unless something around it scrolls by itself.
TOO_WIDE = """
() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > width + 1)
    .map((each) => `${each.tagName.toLowerCase()}.${each.className}`)
    .slice(0, 5)
    .concat([`the page is ${document.documentElement.scrollWidth} of ${width}`]);
}
"""
# Where a label or a button shows nothing, and words of the other language that stand where the page speaks.
UNNAMED = """
() => [...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea")]
  .filter((each) => each.checkVisibility() && !each.textContent.trim() && !each.labels?.length
    && !each.getAttribute("aria-label") && !each.title && !each.querySelector("[aria-label]"))
  .map((each) => each.outerHTML.slice(0, 120))
"""
TWICE = """
() => {
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_page_is_wider_than_its_screen_or_breaks_a_rule(
    open_context: Callable[..., BrowserContext],
    server: LiveServer,
    content: Content,
    watch: Watch,
    language: str,
) -> None:
    watch.expected = {404}
    context = open_context(base_url=server.url)
    context.add_cookies(cookies(server.url, language, "dark"))
    page = context.new_page()
    wrong: list[tuple[str, ...]] = []
    for name, path in {**pages(content), **MISSING}.items():
        page.set_viewport_size(size("wide"))
        page.goto(path)
        wrong += [(name, "no name", each) for each in page.evaluate(UNNAMED)]
        wrong += [(name, "id twice", each) for each in page.evaluate(TWICE)]
        if page.locator("html").get_attribute("lang") != {"en": "en", "zh": "zh-Hans"}[language]:
            wrong.append((name, "language"))
        if page.locator("html").get_attribute("data-theme") != "dark":
            wrong.append((name, "theme"))
        if page.locator("h1").count() != 1:
            wrong.append((name, "headings", str(page.locator("h1").count())))
        for width, theme in product(WIDTHS, THEMES):
            page.set_viewport_size(size(width))
            page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            wrong += [(name, width, theme, each) for each in page.evaluate(TOO_WIDE)]
    assert wrong == []


def test_the_gate_fits_every_screen(
    open_context: Callable[..., BrowserContext], server: LiveServer, watch: Watch
) -> None:
    page = open_context(base_url=server.url, storage_state=None).new_page()
    for width in WIDTHS:
        page.set_viewport_size(size(width))
        page.goto("/memories")
        assert page.url == f"{server.url}/sign-in?next=%2Fmemories"
        assert page.evaluate(TOO_WIDE) == []


def test_pages_work_without_script(
    open_context: Callable[..., BrowserContext], content: Content, server: LiveServer
) -> None:
    page = open_context(base_url=server.url, java_script_enabled=False).new_page()
    page.goto("/search?query=deploy")
    assert page.locator(".row-title").count() > 0
    page.goto("/clients")
    assert page.locator(".tab-panel").count() == 6
    page.goto(f"/memory/{content.ids['runbook']}/edit")
    page.locator("#id_body").fill("A **bold** word.")
    page.locator("button[name=preview]").click()
    assert page.locator(".prose strong").inner_text() == "bold"


def test_administration_is_there_in_both_languages(person: Page, server: LiveServer) -> None:
    for language, title in (("en", "State of the server"), ("zh", "服务器状态")):
        person.context.add_cookies(cookies(server.url, language, "light"))
        person.goto("/admin/")
        assert title in person.content()

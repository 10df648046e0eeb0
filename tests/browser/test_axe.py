"""axe-core finds nothing serious on any page, in either language, light and dark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.content import Content
from tests.browser.looking import LANGUAGES, cookies, size
from tests.browser.pages import MISSING, pages
from tests.browser.watching import Watch
from tests.live.server import LiveServer
from tests.outside import needed

SERIOUS = ("serious", "critical")
RUN = "options => axe.run(document, {...options, resultTypes: ['violations']})"


@pytest.fixture(scope="session")
def axe() -> str:
    return Path(needed("axe")).read_text(encoding="utf-8")


def violations(page: Page, axe: str, **options: Any) -> list[tuple[str, str, str]]:
    """Rule, what is wrong with it, and the first place."""
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(axe)
    found = page.evaluate(RUN, options)["violations"]
    return [(one["id"], one["help"], one["nodes"][0]["html"][:160]) for one in found if one["impact"] in SERIOUS]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_serious_is_found_on_any_page(
    open_context: Callable[..., BrowserContext],
    server: LiveServer,
    content: Content,
    watch: Watch,
    axe: str,
    language: str,
) -> None:
    watch.expected = {404}
    # Colours that are on their way to others would be taken for the last ones.
    context = open_context(base_url=server.url, viewport=size("wide"), reduced_motion="reduce")
    context.add_cookies(cookies(server.url, language, "light"))
    page = context.new_page()
    wrong: list[tuple[str, ...]] = []
    for name, path in {**pages(content), **MISSING}.items():
        page.goto(path)
        wrong += [(name, "light", *told) for told in violations(page, axe)]
        # What a look changes are colours.
        page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
        only = {"type": "rule", "values": ["color-contrast"]}
        wrong += [(name, "dark", *told) for told in violations(page, axe, runOnly=only)]
    assert wrong == []


def test_the_gate_and_the_questions_have_nothing_serious_either(
    open_context: Callable[..., BrowserContext], server: LiveServer, content: Content, axe: str
) -> None:
    gate = open_context(base_url=server.url, storage_state=None).new_page()
    gate.goto("/sign-in")
    assert violations(gate, axe) == []
    page = open_context(base_url=server.url, viewport=size("narrow")).new_page()
    page.goto(f"/memory/{content.ids['runbook']}")
    page.locator("[data-confirm] button").first.click()
    assert violations(page, axe) == []
    page.goto("/memories/new")
    page.locator(".shell-menu > summary").click()
    assert violations(page, axe) == []


def test_axe_would_notice(person: Page, axe: str) -> None:
    person.goto("/")
    person.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<button></button><img src=\"\">')")
    assert {rule for rule, *_rest in violations(person, axe)} >= {"button-name", "image-alt"}

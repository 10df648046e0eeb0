"""A genuine server with something to remember, and a browser that notes whatever a page must not do."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.content import Content, fill, import_folder
from tests.browser.curating import curate_all
from tests.browser.entering import first_sign_in
from tests.browser.looking import ARGUMENTS
from tests.browser.watching import Watch
from tests.doubles.model import ModelDouble
from tests.live.server import LiveServer
from tests.outside import needed

# Playwright's synchronous side keeps an event loop in this thread; Django would refuse its ORM here.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, "executable_path": needed("chromium"), "args": ARGUMENTS}


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    needed("chromium")
    folder = tmp_path_factory.mktemp("console")
    with LiveServer(folder, web_processes=1, rate_per_minute=100_000, import_folders=import_folder(folder)) as live:
        yield live


@pytest.fixture(scope="session")
def signed_in(server: LiveServer, browser: Browser) -> Any:
    """The cookies of an administrator who has chosen a password."""
    context = browser.new_context()
    first_sign_in(context.new_page(), server.url, server.first_password())
    state = context.storage_state()
    context.close()
    return state


@pytest.fixture(scope="session")
def model() -> Iterator[ModelDouble]:
    with ModelDouble() as double:
        yield double


@pytest.fixture(scope="session")
def content(server: LiveServer, signed_in: Any, model: ModelDouble) -> Content:
    content = fill(server.url, server.token, import_folder(server.folder))
    curate_all(content, model)
    return content


@pytest.fixture
def watch(server: LiveServer) -> Iterator[Watch]:
    """What pages must not do; looked at when the test is over."""
    watch = Watch(server.url)
    yield watch
    assert watch.complaints == []


@pytest.fixture
def open_context(browser: Browser, signed_in: Any, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    """A browser that is signed in, under watch; with whatever else a test asks of it."""
    made: list[BrowserContext] = []

    def open_one(**settings: Any) -> BrowserContext:
        context = browser.new_context(**{"storage_state": signed_in, **settings})
        context.set_default_timeout(10_000)
        watch.over(context)
        made.append(context)
        return context

    yield open_one
    for context in made:
        context.close()


@pytest.fixture
def person(open_context: Callable[..., BrowserContext], server: LiveServer) -> Page:
    """A page of the administrator's, in English, 1,280 wide."""
    return open_context(base_url=server.url, locale="en-US", viewport={"width": 1280, "height": 900}).new_page()

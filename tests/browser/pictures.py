"""Write every page of the console as a picture: ``python -m tests.browser.pictures FOLDER``.

It starts a server of its own, fills it, and looks at each page in both languages, light and dark, wide and narrow. With
``--page NAME`` (may be repeated) only those; ``--quick`` looks at English light wide and Chinese dark narrow alone.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.content import Content, fill, import_folder
from tests.browser.curating import curate_all
from tests.browser.entering import first_sign_in
from tests.browser.looking import ARGUMENTS, LOOKS, Look, cookies, size
from tests.browser.pages import MISSING, pages
from tests.doubles.model import ModelDouble
from tests.live.server import LiveServer
from tests.outside import found

BEFORE = {"first-steps": "/", "documents-off": "/documents", "curation-off": "/curation", "model-off": "/model"}
QUICK: list[Look] = [("en", "light", "wide"), ("zh", "dark", "narrow")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, server_of(Path(folder)) as server, ModelDouble() as model:
        for picture in _pictures(server, model, told.folder, QUICK if told.quick else LOOKS, told.page):
            print(picture)


def server_of(folder: Path) -> LiveServer:
    return LiveServer(folder, web_processes=1, import_folders=import_folder(folder))


def _pictures(
    server: LiveServer, model: ModelDouble, folder: Path, looks: list[Look], wanted: list[str]
) -> Iterator[Path]:
    one_time = server.first_password()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found("chromium"), args=ARGUMENTS)
        page = _page(browser, looks[0])
        yield _picture(page, f"{server.url}/sign-in", folder / "sign-in.png")
        first_sign_in(page, server.url, one_time)
        for name, path in BEFORE.items():
            yield _picture(page, server.url + path, folder / f"{name}.png")
        state = page.context.storage_state()
        content = fill(server.url, server.token, import_folder(server.folder))
        curate_all(content, model)
        paths = {name: path for name, path in {**pages(content), **MISSING}.items() if not wanted or name in wanted}
        for look in looks:
            page = _page(browser, look, state)
            page.context.add_cookies(cookies(server.url, look[0], look[1]))
            for name, path in paths.items():
                yield _picture(page, server.url + path, folder / f"{name}.{'.'.join(look)}.png")
            for name, bring_about in STATES.items():
                if not wanted or name in wanted:
                    bring_about(page, content)
                    yield _shot(page, folder / f"{name}.{'.'.join(look)}.png", full_page=name not in ON_TOP)
            page.context.close()
        browser.close()


def _page(browser: Browser, look: Look, state: object = None) -> Page:
    return browser.new_context(viewport=size(look[2]), storage_state=state).new_page()  # type: ignore[arg-type]


def _picture(page: Page, address: str, file: Path) -> Path:
    page.goto(address)
    return _shot(page, file)


def _shot(page: Page, file: Path, *, full_page: bool = True) -> Path:
    page.screenshot(path=file, full_page=full_page)
    return file


def _token_made(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/tokens/new")
    page.locator("#id_name").fill("laptop")
    page.locator("main button.button-primary").click()


def _token_refused(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/tokens/new")
    page.locator("#id_name").evaluate("field => { field.required = false; }")
    page.locator("main button.button-primary").click()


def _conflict(page: Page, content: Content) -> None:
    """Open the text for editing, change it elsewhere, save: what both wrote stands side by side."""
    memory_id = content.ids["checklist"]
    page.goto(f"{content.url}/memory/{memory_id}/edit")
    now = content.call("GET", f"/memories/{memory_id}")
    theirs = {"revision": now["revision"], "body": f"{now['body']}\nOne more line, from an agent.\n"}
    content.call("PATCH", f"/memories/{memory_id}", theirs)
    page.locator("#id_body").fill(now["body"].replace("Changelog", "The changelog, in both languages"))
    page.locator("main button.button-primary").click()


def _title_taken(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/memories/new?project_id={content.ids['relay']}")
    page.locator("#id_title").fill("Release checklist")
    page.locator("main button.button-primary").click()


def _asked(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/memory/{content.ids['runbook']}")
    page.locator("[data-confirm] button").first.click()


def _ticked(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/memories?project_id={content.ids['relay']}")
    for box in page.locator("[data-check]").all()[:3]:
        box.check()


def _menu(page: Page, content: Content) -> None:
    page.goto(f"{content.url}/workspaces")
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    for summary in page.locator(".account-menu-summary").all():
        if summary.is_visible() and not page.locator(".account-menu[open]").count():
            summary.click()


STATES: dict[str, Callable[[Page, Content], None]] = {
    "token-made": _token_made,
    "token-refused": _token_refused,
    "memory-conflict": _conflict,
    "memory-title-taken": _title_taken,
    "memory-delete-asked": _asked,
    "memories-ticked": _ticked,
    "menu": _menu,
}
ON_TOP = ("memory-delete-asked", "menu")  # They lie over the window, not over the page.


if __name__ == "__main__":
    main()

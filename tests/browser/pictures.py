"""Write every page of the console as a picture: ``python -m tests.browser.pictures FOLDER``.

It starts a server of its own, fills it, and looks at each page in both languages, light and dark, wide and narrow. With
``--page NAME`` (may be repeated) only those; ``--quick`` looks at English light wide and Chinese dark narrow alone.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.content import fill
from tests.browser.entering import first_sign_in
from tests.browser.looking import ARGUMENTS, LOOKS, Look, cookies, size
from tests.browser.pages import MISSING, pages
from tests.live.server import LiveServer
from tests.outside import found

QUICK: list[Look] = [("en", "light", "wide"), ("zh", "dark", "narrow")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, LiveServer(Path(folder), web_processes=1) as server:
        for picture in _pictures(server, told.folder, QUICK if told.quick else LOOKS, told.page):
            print(picture)


def _pictures(server: LiveServer, folder: Path, looks: list[Look], wanted: list[str]) -> Iterator[Path]:
    one_time = server.first_password()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found("chromium"), args=ARGUMENTS)
        page = _page(browser, looks[0])
        yield _picture(page, f"{server.url}/sign-in", folder / "sign-in.png")
        first_sign_in(page, server.url, one_time)
        yield _picture(page, f"{server.url}/", folder / "first-steps.png")
        state = page.context.storage_state()
        content = fill(server.url, server.token)
        paths = {name: path for name, path in {**pages(content), **MISSING}.items() if not wanted or name in wanted}
        for look in looks:
            page = _page(browser, look, state)
            page.context.add_cookies(cookies(server.url, look[0], look[1]))
            for name, path in paths.items():
                yield _picture(page, server.url + path, folder / f"{name}.{'.'.join(look)}.png")
            page.context.close()
        browser.close()


def _page(browser: Browser, look: Look, state: object = None) -> Page:
    return browser.new_context(viewport=size(look[2]), storage_state=state).new_page()  # type: ignore[arg-type]


def _picture(page: Page, address: str, file: Path) -> Path:
    page.goto(address)
    page.screenshot(path=file, full_page=True)
    return file


if __name__ == "__main__":
    main()

"""Make the README's pictures anew, of genuine pages: ``python -m tests.browser.readme``."""

import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.content import Content, fill
from tests.browser.curating import curate_all
from tests.browser.entering import first_sign_in
from tests.browser.looking import ARGUMENTS, cookies
from tests.browser.small_png import small
from tests.doubles.model import ModelDouble
from tests.live.server import PROJECT, LiveServer
from tests.outside import found

FOLDER = PROJECT / "docs" / "pictures"
SIZE = {"width": 1180, "height": 860}
MEANING_SECONDS = 180.0
LATEST = {
    "en": [
        ("Answer in British English", "Spelling as in the Oxford dictionary.\n", "rule", "Everybody, in every text."),
        ("The staging database is read-only", "Since the incident of May.\n", "fact", "Writes are refused on purpose."),
        ("SQLite instead of a server", "One file is easy to copy.\n", "decision", "One writer is enough for a team."),
        ("Retry uploads on 502", "The proxy restarts at night.\n", "experience", "Three tries, five seconds apart."),
    ],
    "zh": [
        ("周报每周五下午发出", "用中文，三段以内。\n", "rule", "先写结论，再写数据。"),
        ("测试环境的数据库只读", "五月的事故之后。\n", "fact", "写入会被拒绝，这是有意为之。"),
        ("检索先比较召回率", "延迟其次。\n", "decision", "语料固定为两万条记忆。"),
        ("上传遇到 502 时重试", "代理夜间会重启。\n", "experience", "重试三次，每次间隔五秒。"),
    ],
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        LiveServer(Path(folder), web_processes=1, embedding="default") as server,
        ModelDouble() as model,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=found("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        first_sign_in(page, server.url, server.first_password())
        content = fill(server.url, server.token)
        for night in content.call("GET", "/memories?tags=nightly&limit=50")["memories"]:
            content.call("DELETE", f"/memories/{night['memory_id']}")  # They fill lists, and tell a reader nothing.
        curate_all(content, model)
        for language in LATEST:
            for title, body, kind, summary in LATEST[language]:
                content.save(title, title, body, kind=kind, summary=summary, project_id=_workspace(content, language))
            _wait_for_meanings(content)
            for name, (path, theme) in _scenes(content, language).items():
                page.context.add_cookies(cookies(server.url, language, theme))
                page.goto(server.url + path)
                file = FOLDER / f"{name}.{language}.png"
                file.write_bytes(small(page.screenshot()))
                print(f"{file.relative_to(PROJECT)}: {file.stat().st_size // 1000} kB")
        browser.close()


def _wait_for_meanings(content: Content) -> None:
    """Until every text is embedded: pictures show the usual state."""
    deadline = time.monotonic() + MEANING_SECONDS
    while content.call("GET", "/search/state")["pending"]:
        if time.monotonic() > deadline:
            raise TimeoutError("The texts are not embedded yet.")
        time.sleep(0.5)


def _workspace(content: Content, language: str) -> str:
    return content.ids["relay" if language == "en" else "thesis"]


def _scenes(content: Content, language: str) -> dict[str, tuple[str, str]]:
    document = content.ids["document relay" if language == "en" else "document thesis"]
    query = "deploy" if language == "en" else "数据库"
    return {
        "dashboard": ("/", "light"),
        "search": (f"/search?query={query}", "light"),
        "difference": (f"/memory/{content.ids['runbook']}/difference?old=1&new=2", "light"),
        "document": (f"/document/{document}", "dark"),
    }


if __name__ == "__main__":
    main()

"""What a person does with the memories of their agents, from the first workspace to the last undo."""

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.content import Content, import_folder
from tests.browser.entering import PASSWORD, sign_in
from tests.browser.watching import Watch
from tests.live.server import LiveServer


def confirm(page: Page) -> None:
    page.locator("dialog[open] [data-confirm-action]").click()


def notice(page: Page, text: str) -> None:
    expect(page.locator(".notice").filter(has_text=text)).to_be_visible()


def status_of(request: urllib.request.Request) -> int:
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def test_what_an_agent_saves_is_on_the_page_a_moment_later(person: Page, content: Content) -> None:
    person.goto("/workspaces/new")
    person.locator("#id_name").fill("Garden")
    person.locator("#id_workspace_type").select_option("personal")
    person.locator("main button.button-primary").click()
    expect(person.locator("h1")).to_have_text("Garden")
    project_id = person.url.rpartition("/")[2]

    content.tool("memory_save", title="番茄每周浇两次水", body="早上浇，不要淋叶子。", project_id=project_id)
    person.reload()
    expect(person.locator(".row-title")).to_have_text("番茄每周浇两次水")

    person.goto("/memories")
    expect(person.locator(".row-title").first).to_have_text("番茄每周浇两次水")
    expect(person.locator(".row-place").first).to_have_text("Garden")


def test_search_answers_while_one_types(person: Page, content: Content) -> None:
    person.goto("/search")
    person.locator("#query").press_sequentially("灰度")
    expect(person.locator("mark").first).to_have_text("灰度")
    expect(person.locator(".row-title")).to_have_text(["部署流程"])
    assert "query=" in person.url

    person.goto("/memories")
    person.locator("#query").press_sequentially("release")
    expect(person.locator(".row-title").filter(has_text="Release checklist")).to_be_visible()
    expect(person.locator("mark").first).to_be_visible()
    person.locator("#query").fill("xyzzyplugh")
    expect(person.locator(".empty-state")).to_be_visible()
    person.locator("#query").fill("")
    person.locator("select[name=kind]").select_option("rule")
    expect(person.locator(".row-title")).to_have_text(["Deploy on Thursdays"])


def test_a_text_is_edited_with_a_preview_and_taken_back(person: Page, content: Content) -> None:
    memory_id = content.save("tea", "Tea in the afternoon", "Green tea, **two** minutes.\n")["memory_id"]
    person.goto(f"/memory/{memory_id}")
    person.get_by_role("link", name="Edit").first.click()
    person.locator("#id_body").fill("Green tea, *three* minutes.\n\n<script>alert(1)</script>\n")
    expect(person.locator(".editor-preview em")).to_have_text("three")
    assert person.locator(".editor-preview script").count() == 0
    person.locator("#id_tags").fill("tea，drinks")
    person.locator("main button.button-primary").click()
    notice(person, "is saved.")
    expect(person.locator(".prose em")).to_have_text("three")
    expect(person.locator(".page-header .tag")).to_have_text(["tea", "drinks"])

    person.get_by_role("link", name="History").click()
    person.get_by_role("link", name="What changed").click()
    expect(person.locator(".diff-removed .diff-text")).to_have_text("Green tea, **two** minutes.")
    expect(person.locator(".diff-added .diff-text").first).to_have_text("Green tea, *three* minutes.")
    expect(person.locator("tbody th").filter(has_text="Tags")).to_be_visible()

    person.get_by_role("link", name="Read revision 1").click()
    person.get_by_role("button", name="Revert to it").click()
    confirm(person)
    notice(person, "Revision 1 is the current text again.")
    assert content.call("GET", f"/memories/{memory_id}")["body"] == "Green tea, **two** minutes.\n"


def test_two_at_once_lose_nothing(person: Page, content: Content) -> None:
    saved = content.save("shared", "A text of two writers", "one\ntwo\nthree\n")
    person.goto(f"/memory/{saved['memory_id']}/edit")
    person.locator("#id_body").fill("one\ntwo of mine\nthree\n")
    theirs = {"revision": saved["revision"], "replace": [{"old": "three", "new": "three of theirs"}]}
    content.call("PATCH", f"/memories/{saved['memory_id']}", theirs)

    person.locator("main button.button-primary").click()
    expect(person.locator("#conflict")).to_be_visible()
    expect(person.locator(".diff-removed .diff-text")).to_have_text(["two", "three of theirs"])
    expect(person.locator("#id_body")).to_have_value("one\ntwo of mine\nthree\n")
    person.get_by_role("button", name="Save over the newer revision").click()
    notice(person, "is saved.")
    assert content.call("GET", f"/memories/{saved['memory_id']}")["body"] == "one\ntwo of mine\nthree\n"


def test_what_is_put_away_comes_back(person: Page, content: Content) -> None:
    memory_id = content.save("lamp", "The lamp in the hall", "It flickers.\n")["memory_id"]
    person.goto(f"/memory/{memory_id}")
    person.get_by_role("button", name="Archive").click()
    notice(person, "is archived.")
    person.goto("/memories?status=archived")
    person.get_by_role("link", name="The lamp in the hall").click()
    person.get_by_role("button", name="Bring back from the archive").click()
    notice(person, "is back from the archive.")

    person.get_by_role("button", name="Delete").click()
    person.locator("dialog[open]").get_by_role("button", name="Cancel").click()
    expect(person.locator("dialog[open]")).to_have_count(0)
    person.get_by_role("button", name="Delete").click()
    confirm(person)
    notice(person, "is in the trash now.")
    person.goto("/memories/trash")
    person.get_by_role("link", name="The lamp in the hall").click()
    expect(person.locator(".prose")).to_have_text("It flickers.")
    person.get_by_role("button", name="Restore").click()
    notice(person, "is restored.")
    assert content.call("GET", f"/memories/{memory_id}")["status"] == "active"


def test_a_link_leads_to_the_memory_it_names(person: Page, content: Content) -> None:
    person.goto(f"/memory/{content.ids['runbook']}")
    person.locator(".prose").get_by_role("link", name="Release checklist").click()
    expect(person.locator("h1")).to_have_text("Release checklist")
    person.goto(f"/memory/{content.ids['locked']}")
    person.locator(".prose").get_by_role("link", name="部署流程").click()
    expect(person.locator("h1")).to_have_text("部署流程")


def test_several_memories_are_tagged_and_archived_at_once(person: Page, content: Content) -> None:
    for number in range(3):
        content.save(f"pebble {number}", f"Pebble {number}", "Grey.\n", tags=["pebbles"])
    person.goto("/memories?tag=pebbles")
    deeds = person.locator(".bulk-bar-deeds")
    expect(deeds).to_be_hidden()
    person.get_by_label("All on this page").check()
    expect(deeds).to_be_visible()
    person.get_by_label("Tags to add, apart by commas").fill("stones")
    person.keyboard.press("Enter")
    notice(person, "3 memories have the tags now.")
    expect(person).to_have_url(re.compile(r"/memories\?tag=pebbles$"))
    person.get_by_label("Tick “Pebble 1”").check()
    person.locator("main").get_by_role("button", name="Archive").click()
    notice(person, "1 memory is archived.")
    expect(person.locator(".row-title")).to_have_count(2)


def test_a_folder_is_imported_under_ones_eyes(person: Page, content: Content, server: LiveServer) -> None:
    folder = import_folder(server.folder) / "many"
    folder.mkdir()
    for number in range(400):
        (folder / f"grain-{number}.md").write_text(f"# Grain {number}\n\nSand.\n")
    person.goto(f"/jobs/import?project_id={content.ids['home']}")
    person.get_by_label("Folder in it").fill("many")
    person.get_by_role("button", name="Start the import").click()
    expect(person.locator("h1")).to_have_text("Import")
    expect(person.locator(".job-progress-words")).to_have_text("400 of 400", timeout=60_000)
    expect(person.locator("main .badge").first).to_have_text("Completed")  # Without a reload by anybody.
    expect(person.get_by_role("button", name="Stop")).to_have_count(0)


def test_a_token_is_shown_once_and_opens_until_it_is_revoked(person: Page, server: LiveServer) -> None:
    person.goto("/tokens/new")
    person.locator("#id_name").fill("laptop")
    with person.expect_response(lambda response: response.request.method == "POST") as made:
        person.locator("main button.button-primary").click()
    assert "no-store" in (made.value.header_value("cache-control") or "")
    token = person.locator("[data-snippet-text]").first.inner_text()
    assert token.startswith("mrl_")
    expect(person.locator("#claude-code [data-snippet-text]")).to_contain_text(f"Bearer {token}")
    expect(person.locator("#claude-code [data-snippet-text]")).to_contain_text(f"{server.url}/mcp")

    asked = urllib.request.Request(f"{server.url}/api/v1/memories", headers={"Authorization": f"Bearer {token}"})
    assert status_of(asked) == 200
    person.goto("/tokens")
    assert token not in person.content()
    person.locator("tr").filter(has_text="laptop").get_by_role("button").click()
    confirm(person)
    notice(person, "is revoked.")
    assert status_of(asked) == 401


def test_the_bridge_can_be_fetched_by_a_machine(server: LiveServer) -> None:
    with urllib.request.urlopen(f"{server.url}/client/memrelay-stdio", timeout=20) as response:
        assert response.headers["Content-Disposition"] == 'attachment; filename="memrelay_stdio.py"'
        compile(response.read(), "memrelay_stdio.py", "exec")


def test_the_reader_chooses_language_and_look(person: Page) -> None:
    person.goto("/workspaces")
    person.locator(".shell-sidebar .account-menu-summary").click()
    person.locator(".shell-sidebar").get_by_role("button", name="Dark").click()
    expect(person.locator("html")).to_have_attribute("data-theme", "dark")
    person.locator(".shell-sidebar").get_by_role("button", name="简体中文").click()
    expect(person.locator("h1")).to_have_text("工作区")
    expect(person.locator("html")).to_have_attribute("data-theme", "dark")
    person.goto("/memories")
    expect(person.locator("h1")).to_have_text("记忆")
    person.locator(".shell-sidebar .account-menu-summary").click()
    person.locator(".shell-sidebar").get_by_role("button", name="English").click()
    expect(person.locator("h1")).to_have_text("Memories")


def test_times_stand_in_the_readers_zone(open_context: Callable[..., BrowserContext], server: LiveServer) -> None:
    page = open_context(base_url=server.url, timezone_id="Asia/Shanghai").new_page()
    page.goto("/")
    page.goto("/memories")
    assert page.locator("time").first.get_attribute("title").endswith("+0800")  # type: ignore[union-attr]


def test_the_keyboard_is_enough(person: Page) -> None:
    person.goto("/memories")
    person.keyboard.press("Tab")
    skip = person.locator(".skip-link")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    person.keyboard.press("Enter")
    expect(person.locator("main")).to_be_focused()
    person.keyboard.press("/")
    expect(person.locator("#query")).to_be_focused()
    person.keyboard.type("a/b")
    expect(person.locator("#query")).to_have_value("a/b")

    person.goto("/workspaces")
    person.keyboard.press("/")
    person.keyboard.type("灰度")
    person.keyboard.press("Enter")
    expect(person.locator(".row-title")).to_have_text(["部署流程"])

    menu = person.locator(".shell-sidebar .account-menu")
    menu.locator("summary").focus()
    person.keyboard.press("Enter")
    expect(menu).to_have_attribute("open", "")
    person.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()


def test_who_signs_out_is_out(open_context: Callable[..., BrowserContext], server: LiveServer) -> None:
    page = open_context(base_url=server.url, storage_state=None).new_page()
    sign_in(page, server.url, "wrong")
    expect(page.locator(".notice-error")).to_be_visible()
    sign_in(page, server.url, PASSWORD)
    expect(page.locator("h1")).to_have_text("Dashboard")
    page.locator(".shell-sidebar .account-menu-summary").click()
    page.locator(".shell-sidebar").get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{server.url}/sign-in")
    page.goto("/memories")
    expect(page.locator("#id_password")).to_be_visible()


def test_the_watch_would_notice(person: Page, watch: Watch) -> None:
    person.goto("/")
    person.evaluate("document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\">red</p>')")
    person.evaluate("new Image().src = 'https://elsewhere.example/a.png'")
    person.evaluate("setTimeout(() => { throw new Error('broken') })")
    with person.expect_response("**/nothing-here"):
        person.evaluate("fetch('/nothing-here')")
    told = json.dumps(watch.complaints)
    watch.complaints.clear()
    assert "inline style" in told
    assert "elsewhere.example" in told
    assert "broken" in told
    assert "404" in told

"""The pages as a person meets them: what they show, whom they show it to, and what their buttons do."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.console.urls import urlpatterns
from apps.memories.models import Memory, Scope
from tests.console.looking import text_of
from tests.memories.ledger_world import all_durable, file_of_saved
from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def tea(world: World) -> Any:
    return call(
        world.operator,
        "memory_save",
        title="Tea at four",
        body="Green tea,\r\n**two** minutes.\r\n",
        kind="rule",
        tags=["tea"],
        summary="Every day.",
    )


def form(saved: Any, **changed: Any) -> dict[str, Any]:
    fields = {
        "title": saved.title,
        "body": "Green tea,\r\n**two** minutes.\r\n",
        "summary": "Every day.",
        "kind": "rule",
        "note_type": "",
        "tags": "tea",
        "revision": saved.revision,
        "body_ends": "crlf",
    }
    return fields | changed


def body_of(world: World, saved: Any) -> str:
    read: Any = call(world.operator, "memory_get", memory_id=saved.memory_id)
    return str(read.body)


# ------------------------------------------------------------------------------------------------------------ who sees what


@pytest.mark.parametrize("pattern", urlpatterns, ids=lambda pattern: pattern.name)
def test_no_page_but_the_entrance_opens_for_strangers(pattern: Any, client: Client, db: None) -> None:
    names = ["scope", "memory_id", "checkpoint_id", "project_id", "token_id", "profile_id", "job_id", "document"]
    path = "/" + str(pattern.pattern).replace("<int:number>", "1")
    for name in names:
        path = path.replace(f"<str:{name}>", "x").replace(f"<path:{name}>", "x")
    is_open = pattern.name in ("sign-in", "client-bridge", "client-hook")
    for response in (client.get(path), client.post(path)):
        if is_open:
            assert response.status_code in (200, 405)
        elif pattern.name == "appearance":
            assert response.status_code in (302, 405)
        else:
            assert response.status_code == 405 or response.headers["Location"].startswith(("/sign-in",)), path


def test_what_belongs_to_another_does_not_exist(world: World, alice: Client, bob: Client) -> None:
    call(world.operator, "usage_profile_save", profile_id="carol", name="Carol")
    carol = world.agent("carol", profile_id="carol")
    hers = carol.call("memory_save", title="A secret plan", body="Cake.")
    for path in ("", "/edit", "/history", "/history/1", "/difference?old=1"):
        assert bob.get(f"/memory/{hers.memory_id}{path}").status_code == 404
    assert bob.post(f"/memory/{hers.memory_id}/delete").status_code == 404
    assert "A secret plan" not in text_of(bob, "/memories")
    assert "A secret plan" not in text_of(bob, "/search", query="cake")
    assert "A secret plan" in text_of(alice, f"/memory/{hers.memory_id}")


def test_members_neither_see_nor_make_tokens(world: World, alice: Client, bob: Client) -> None:
    assert 'href="/tokens"' in text_of(alice, "/")
    assert "/admin/" in text_of(alice, "/")
    assert 'href="/tokens"' not in text_of(bob, "/")
    assert "/admin/" not in text_of(bob, "/")
    assert "/tokens/new" not in text_of(bob, "/clients")
    for path in ("/tokens", "/tokens/new"):
        response = bob.get(path)
        assert response.status_code == 403
        assert "You may not do this" in response.content.decode()
    assert bob.post("/tokens/new", {"name": "x"}).status_code == 403


def test_pages_are_not_kept_by_caches_between(alice: Client) -> None:
    response = alice.get("/memories")
    assert "private" in response.headers["Cache-Control"]
    assert "HX-Request" in response.headers["Vary"]


# ----------------------------------------------------------------------------------------------------------------- memories


def test_a_list_and_its_part_are_the_same_rows(alice: Client, tea: Any) -> None:
    page = text_of(alice, "/memories")
    part = alice.get("/memories", headers={"HX-Request": "true"}).content.decode()
    assert "<html" in page
    assert "<html" not in part
    assert "Tea at four" in page
    assert "Tea at four" in part


def test_pages_follow_each_other_with_their_filters(world: World, alice: Client) -> None:
    for number in range(25):
        call(world.operator, "memory_save", title=f"Night {number}", body="x", kind="fact")
    page = text_of(alice, "/memories", kind="fact", query="")
    following = page.partition('rel="next"')[0].rpartition('href="')[2].partition('"')[0].replace("&amp;", "&")
    assert following.startswith("/memories?kind=fact&cursor=")
    second = alice.get(following).content.decode()
    assert second.count("row-title") == 5
    assert 'href="/memories?kind=fact"' in second


@pytest.mark.parametrize("path", ["/", "/memories", "/search?query=night", "/workspaces", "/memories/trash"])
def test_a_long_list_asks_the_database_no_more_often_than_a_short_one(world: World, alice: Client, path: str) -> None:
    def asked(rows: int, first: int) -> int:
        nights = [{"title": f"Night {first + n}", "body": "x"} for n in range(rows)]
        call(world.operator, "memory_save_many", memories=nights, project_id=world.workspace.pk)
        with CaptureQueriesContext(connection) as queries:
            assert alice.get(path).status_code == 200
        return len(queries)

    asked(1, 0)
    assert asked(1, 1) == asked(15, 2)


@pytest.mark.parametrize(
    "path",
    [
        "/memories?cursor=broken",
        "/memories?kind=nothing",
        "/memories?status=nothing",
        "/memories?query=...",
        "/memories?query=x&cursor=broken",
        "/search?query=...",
        "/search?query=x&cursor=broken",
        "/search?query=" + "x" * 3000,
    ],
)
def test_a_filter_that_nobody_offered_is_refused_in_words(alice: Client, path: str) -> None:
    assert "empty-state" in text_of(alice, path)


@pytest.mark.parametrize("path", ["/memories/trash", "/checkpoints", "/workspaces"])
def test_a_cursor_cut_off_leads_back_to_the_first_page(alice: Client, path: str) -> None:
    assert alice.get(path, {"cursor": "broken"}).headers["Location"] == path


def test_a_workspace_that_is_not_there_is_missing(alice: Client) -> None:
    for path in ("/memories", "/search?query=x", "/checkpoints"):
        assert alice.get(path + ("&" if "?" in path else "?") + "project_id=nowhere").status_code == 404


def test_a_search_marks_what_it_found(alice: Client, tea: Any) -> None:
    assert "<mark>minutes</mark>" in text_of(alice, "/search", query="minutes")
    assert "<mark>minutes</mark>" in text_of(alice, "/memories", query="minutes", kind="rule")
    assert "No memory matches" in text_of(alice, "/memories", query="minutes", kind="fact")


def test_a_new_memory_goes_where_it_is_told(world: World, alice: Client) -> None:
    fields = {"title": "Rain", "body": "Take a coat.\r\n", "kind": "note", "tags": "a, b，a、#c"}
    sent = {**fields, "project_id": world.workspace.pk}
    response = alice.post("/memories/new", sent, follow=True)
    assert "“Rain” is saved." in response.content.decode()
    saved = Memory.objects.get()
    assert saved.scope_id == f"project/{world.workspace.pk}"
    assert saved.tags == ["a", "b", "c"]
    assert body_of(world, saved) == "Take a coat.\n"

    again = alice.post("/memories/new", sent).content.decode()
    assert "A memory called “Rain” already exists here" in again
    assert "Choose another title, or edit the memory that has this one." in again
    assert f'<a href="/memory/{saved.stable_id}">Open that memory</a>' in again
    assert "Take a coat." in again
    assert alice.post("/memories/new", {**sent, "project_id": "global"}).status_code == 302
    assert Memory.objects.count() == 2


def test_a_refused_field_is_told_beside_it(alice: Client) -> None:
    page = alice.post("/memories/new", {"title": "x" * 500, "kind": "note", "project_id": "global"}).content.decode()
    assert "This must have at most 200 characters." in page
    assert 'aria-invalid="true"' in page
    assert Memory.objects.count() == 0


def test_a_secret_is_refused_and_the_text_kept(alice: Client) -> None:
    body = "key: AKIA" + "QWERTYUIOPASDFGH"
    page = alice.post("/memories/new", {"title": "Keys", "body": body, "kind": "note", "project_id": "global"})
    assert "Take the secret out of the text." in page.content.decode()
    assert Memory.objects.count() == 0


def test_a_text_that_nobody_touched_keeps_its_bytes(world: World, alice: Client, tea: Any) -> None:
    path = f"/memory/{tea.memory_id}/edit"
    assert 'name="body_ends" value="crlf"' in text_of(alice, path)
    assert alice.post(path, form(tea, title="Tea at five")).status_code == 302
    assert body_of(world, tea) == "Green tea,\r\n**two** minutes.\r\n"
    changed = form(tea, body="Green tea,\r\nthree minutes.\r\n", revision=2)
    assert alice.post(path, changed).status_code == 302
    assert body_of(world, tea) == "Green tea,\r\nthree minutes.\r\n"


def test_a_newer_revision_is_shown_and_not_written_over(world: World, alice: Client, tea: Any) -> None:
    path = f"/memory/{tea.memory_id}/edit"
    call(world.operator, "memory_update", memory_id=tea.memory_id, revision=1, title="Tea at six", body="Black tea.\n")
    page = alice.post(path, form(tea, body="My tea.\r\n")).content.decode()
    assert "This memory changed while you were writing" in page
    assert 'name="revision" value="2"' in page
    assert "Tea at six" in page
    assert "Black tea." in page
    assert body_of(world, tea) == "Black tea.\n"
    assert alice.post(path, form(tea, body="My tea.\n", revision=2, body_ends="")).status_code == 302
    assert body_of(world, tea) == "My tea.\n"


def test_a_preview_saves_nothing(world: World, alice: Client, tea: Any) -> None:
    assert "<em>x</em>" in alice.post("/memories/preview", {"body": "*x*"}).content.decode()
    page = alice.post(f"/memory/{tea.memory_id}/edit", form(tea, body="*x*", preview="1")).content.decode()
    assert "<em>x</em>" in page
    assert body_of(world, tea).startswith("Green tea")


def test_deleted_is_in_the_trash_with_its_text_until_it_is_restored(alice: Client, tea: Any) -> None:
    path = f"/memory/{tea.memory_id}"
    assert "is in the trash now" in alice.post(f"{path}/delete", {"revision": "1"}, follow=True).content.decode()
    assert "Tea at four" not in text_of(alice, "/memories")
    assert "Tea at four" in text_of(alice, "/memories/trash")
    page = text_of(alice, path)
    assert "<strong>two</strong>" in page
    assert "Deleted" in page
    assert f"{path}/edit" not in page
    assert "Revision 2" in text_of(alice, f"{path}/history")
    assert alice.get(f"{path}/edit").status_code == 404
    assert "is restored." in alice.post(f"{path}/restore", follow=True).content.decode()
    assert "Tea at four" in text_of(alice, "/memories")


def test_a_button_pressed_too_late_does_nothing(world: World, alice: Client, tea: Any) -> None:
    call(world.operator, "memory_update", memory_id=tea.memory_id, revision=1, body="Newer.\n")
    response = alice.post(f"/memory/{tea.memory_id}/delete", {"revision": "1"}, follow=True)
    assert "Somebody changed it in the meantime." in response.content.decode()
    assert "Newer." in text_of(alice, f"/memory/{tea.memory_id}")


def test_history_shows_what_changed_and_goes_back(world: World, alice: Client, tea: Any) -> None:
    call(
        world.operator,
        "memory_update",
        memory_id=tea.memory_id,
        revision=1,
        body="New.\n",
        kind="fact",
        reason="Why not.",
    )
    path = f"/memory/{tea.memory_id}"
    history = text_of(alice, f"{path}/history")
    assert "Why not." in history
    assert f"{path}/difference?old=1&amp;new=2" in history
    difference = text_of(alice, f"{path}/difference", old=1, new=2)
    assert "From revision 1 to revision 2" in difference
    assert "diff-added" in difference
    assert "Fact" in difference
    assert "<strong>two</strong>" in text_of(alice, f"{path}/history/1")
    assert alice.get(f"{path}/history/9").status_code == 404
    assert alice.get(f"{path}/difference?old=x").headers["Location"] == f"{path}/history"
    response = alice.post(f"{path}/revert", {"to_revision": "1", "revision": "2"}, follow=True)
    assert "Revision 1 is the current text again." in response.content.decode()
    assert body_of(world, tea).startswith("Green tea")


def test_a_memory_is_found_by_slug_and_by_path(alice: Client, tea: Any) -> None:
    assert "Tea at four" in text_of(alice, "/memory/tea-at-four")
    assert "Tea at four" in text_of(alice, f"/memory/{tea.path}")


def test_hostile_words_stay_words_everywhere(world: World, alice: Client) -> None:
    bad = '"><script>alert(1)</script>'
    saved: Any = call(world.operator, "memory_save", title=bad, body=bad, summary=bad, tags=[bad])
    call(world.operator, "checkpoint_save", title=bad, completed=bad)
    call(world.operator, "project_create", name=bad, description=bad)
    for path in ("/", "/memories", f"/memory/{saved.memory_id}", f"/memory/{saved.memory_id}/edit", "/checkpoints",
                 f"/memory/{saved.memory_id}/history", "/workspaces", "/search?query=script", "/memories?query=script",
                 "/memories?tag=%22%3E%3Cscript%3E", "/tokens/new"):  # fmt: skip
        assert "<script>alert" not in alice.get(path).content.decode(), path


# --------------------------------------------------------------------------------------------- checkpoints, workspaces, tokens


def test_checkpoints_of_all_workspaces_and_of_one(world: World, alice: Client) -> None:
    here = {"project_id": world.workspace.pk}
    saved: Any = call(world.operator, "checkpoint_save", title="Half way", completed="*Walls*.", important=True, **here)
    call(world.operator, "checkpoint_save", title="Elsewhere", completed="x")
    page = text_of(alice, "/checkpoints")
    assert "Half way" in page
    assert "Elsewhere" in page
    assert "Elsewhere" not in text_of(alice, "/checkpoints", **here)
    assert "Elsewhere" not in text_of(alice, "/checkpoints", important="true")
    assert "<em>Walls</em>" in text_of(alice, f"/checkpoint/{saved.memory_id}")
    assert alice.get(f"/memory/{saved.memory_id}").headers["Location"] == f"/checkpoint/{saved.memory_id}"
    assert alice.get("/checkpoint/none").status_code == 404


def test_a_workspace_is_made_changed_and_put_away(world: World, alice: Client) -> None:
    made = alice.post("/workspaces/new", {"name": "Garden", "workspace_type": "personal"})
    path = made.headers["Location"]
    assert "Garden" in text_of(alice, path)
    taken = {"name": "Other", "workspace_type": "development", "git_remote": "git@git.example.org:team/relay.git"}
    assert world.workspace.name == "Relay"
    assert "Another workspace has this git_remote already." in alice.post("/workspaces/new", taken).content.decode()
    changed = {"name": "Allotment", "workspace_type": "personal", "archived": "on", "revision": "1"}
    assert "“Allotment” is saved." in alice.post(f"{path}/edit", changed, follow=True).content.decode()
    assert "Archived" in text_of(alice, "/workspaces")
    stale = alice.post(f"{path}/edit", {**changed, "name": "Late"}).content.decode()
    assert "The workspace has changed" in stale
    assert alice.get("/workspace/none").status_code == 404


def test_a_token_is_shown_once_and_kept_by_nobody(world: World, alice: Client) -> None:
    sent = {"name": "laptop", "profile": "shared", "toolset": "agent", "rights": ["read", "write"], "expires": "30"}
    response = alice.post("/tokens/new", sent)
    page = response.content.decode()
    token = "mrl_" + page.partition("mrl_")[2].partition("<")[0]
    assert "no-store" in response.headers["Cache-Control"]
    assert page.count(token) >= 6
    listed = text_of(alice, "/tokens")
    assert token not in listed
    assert "laptop" in listed
    token_id = listed.partition("/token/")[2].partition("/")[0]
    assert "is revoked." in alice.post(f"/token/{token_id}/revoke", follow=True).content.decode()
    assert "laptop" not in text_of(alice, "/tokens")
    assert "laptop" in text_of(alice, "/tokens", revoked="true")
    assert alice.post("/token/none/revoke").status_code == 404


def test_a_token_without_rights_is_refused_beside_its_field(alice: Client) -> None:
    page = alice.post("/tokens/new", {"name": "x", "profile": "shared", "toolset": "agent"}).content.decode()
    assert "This field is required." in page


def test_clients_are_told_the_address_that_the_browser_used(alice: Client, settings: Any) -> None:
    page = alice.get("/clients", headers={"host": "localhost:1234"}).content.decode()
    assert page.count("http://localhost:1234/mcp") >= 5
    settings.PUBLIC_URL = "https://memory.example.org"
    assert "https://memory.example.org/mcp" in text_of(alice, "/clients")


def test_the_bridge_is_a_file_for_anybody(client: Client, db: None) -> None:
    response = client.get("/client/memrelay-stdio")
    assert response.headers["Content-Disposition"] == 'attachment; filename="memrelay_stdio.py"'
    assert b"MEMRELAY_TOKEN" in response.content


def test_the_hook_is_a_file_for_anybody_and_the_page_says_how_to_install_it(client: Client, alice: Client) -> None:
    response = client.get("/client/memrelay-hook")
    assert response.headers["Content-Disposition"] == 'attachment; filename="memrelay-hook"'
    compile(response.content, "memrelay-hook", "exec")
    page = alice.get("/clients", headers={"host": "localhost:1234"}).content.decode()
    assert "memrelay-hook install --url http://localhost:1234 --token-file ~/.memrelay/token" in page
    assert "curl -fsS http://localhost:1234/client/memrelay-hook" in page


def test_a_first_dashboard_says_how_to_begin(world: World, alice: Client) -> None:
    page = text_of(alice, "/")
    assert "First steps" in page
    assert "claude mcp add" in page
    call(world.operator, "memory_save", title="x", body="y")
    assert "First steps" not in text_of(alice, "/")


def test_vanished_files_wait_for_somebody_to_decide(world: World, alice: Client, bob: Client) -> None:
    saved: Any = [call(world.operator, "memory_save", title=f"Night {n}", body="x") for n in range(3)]
    all_durable()
    for one in saved:
        file_of_saved(one).unlink()
    Scope.objects.filter(key="global/shared").update(alarm={"code": "files_vanished", "missing": 3, "files": 3})
    assert 'href="/alarm/global/shared"' in text_of(alice, "/")
    assert "3 of 3 files are gone." in text_of(alice, "/alarm/global/shared")
    assert "An administrator decides" in text_of(bob, "/alarm/global/shared")
    assert bob.post("/alarm/global/shared", {"decision": "accept_deletions"}).status_code == 403
    response = alice.post("/alarm/global/shared", {"decision": "restore_files"}, follow=True)
    assert "It is decided; 3 memories were put in order." in response.content.decode()
    assert all(file_of_saved(one).exists() for one in saved)
    assert alice.get("/alarm/global/shared").status_code == 404


def test_a_page_that_is_not_there_says_so_in_the_readers_language(alice: Client) -> None:
    alice.cookies["memrelay_language"] = "zh-hans"
    response = alice.get("/nothing-here")
    assert response.status_code == 404
    assert "页面不存在" in response.content.decode()


def test_a_memory_shows_its_links_both_ways_what_is_not_written_and_what_it_is_like(
    world: World, alice: Client
) -> None:
    said = "The courier service retries a delivery three times, then it calls the shop and asks for another address."
    first: Any = call(world.operator, "memory_save", title="Courier retries", body=said)
    body = f"{said} See [[Courier retries|this]] and [[Runbook]]."
    second: Any = call(world.operator, "memory_save", title="Courier retries thrice", body=body)
    page = alice.get(f"/memory/{second.memory_id}").content.decode()
    assert f'<a href="/memory/{first.memory_id}" class="memory-link">this</a>' in page
    assert '<span class="memory-link-missing" title="Not written yet">Runbook</span>' in page
    assert "Possible duplicate" in page and "Nearly the same" in page
    back = text_of(alice, f"/memory/{first.memory_id}").partition("Linked from")[2]
    assert f'<a href="/memory/{second.memory_id}">Courier retries thrice</a>' in back
    call(world.operator, "memory_save", title="Runbook", body="x")
    assert 'class="memory-link">Runbook</a>' in alice.get(f"/memory/{second.memory_id}").content.decode()

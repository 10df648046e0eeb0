"""The Git server as a page: connecting, trusting, the matrix, and the ways out of a remote that went another way."""

import pytest
from django.test import Client

from apps.memory_git.jobs import work_here
from apps.memory_git.models import GitConnection, MemoryRepository
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import HostKeyUnknown
from apps.memory_git.remotes.ssh import HostKey
from tests.console.looking import sent, text_of
from tests.memory_git.conftest import Git, Saving, memory_git, save  # noqa: F401 - fixtures
from tests.memory_git.remotes.conftest import Server, keyring, server  # noqa: F401 - fixtures
from tests.world import World

pytestmark = pytest.mark.django_db
FORM = {"user_name": "", "branch": "main", "allow_write_test": "on", "allow_push_to_create": "on", "enabled": "on"}


def connect(alice: Client, server: Server, **fields: str) -> str:  # noqa: F811
    return sent(alice, "/git/connection", url=server.url(), revision="0", test="1", **{**FORM, **fields})


def test_without_a_server_the_page_is_neutral_and_only_for_administrators(alice: Client, bob: Client) -> None:
    page = text_of(alice, "/git/connection")
    assert "No Git server is connected" in page and "notice-error" not in page
    assert bob.get("/git/connection").status_code == 403
    assert "Git server" in text_of(alice, "/git")


def test_the_matrix_shows_what_was_found_and_no_secret(alice: Client, server: Server) -> None:  # noqa: F811
    server.create()
    page = connect(alice, server, secret="tok-never-shown")
    assert "The connection is saved." in page
    assert "tok-never-shown" not in page and "Not known yet" in page and page.count(">Yes<") == 5
    assert "The server answers." in sent(alice, "/git/connection/test")
    page = sent(alice, "/git/connection", url=server.url("other.git"), revision="1", test="1", **FORM)
    assert "badge-danger" in page and f"There is no repository at {server.url('other.git')}" in page
    assert "taken away" in sent(alice, "/git/connection/delete")
    assert not GitConnection.objects.exists()


def test_a_wrong_field_is_told_beside_it(alice: Client, server: Server) -> None:  # noqa: F811
    page = text_of_post(alice, url="https://user:hunter2@git.example.org/x.git")
    assert "they have fields of their own" in page


def text_of_post(alice: Client, **fields: str) -> str:
    return alice.post("/git/connection", {**FORM, "revision": "0", **fields}).content.decode()


def test_a_fingerprint_is_compared_and_trusted_by_a_person(
    alice: Client, world: World, data_folder, monkeypatch
) -> None:
    from apps.base.keyring import ensure_keyring

    ensure_keyring()
    shown = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)

    def refused(self: Remote) -> dict[bytes, bytes]:
        raise HostKeyUnknown(fingerprint=str(shown))

    monkeypatch.setattr(Remote, "host_keys", lambda self: [shown])
    monkeypatch.setattr(Remote, "refs", refused)
    monkeypatch.setattr("apps.memory_git.remotes.probing._resolve", lambda address: None)
    page = sent(
        alice, "/git/connection", url="git@git.example.org:me/x.git", secret="x", revision="0", test="1", **FORM
    )
    assert "Is this the right SSH server?" in page and str(shown) in page
    page = sent(alice, "/git/connection/trust", fingerprint=str(shown))
    assert "Is this the right SSH server?" not in page
    assert GitConnection.objects.get().host_keys == [str(shown)]


def test_a_remote_that_went_another_way_offers_the_three_choices(
    alice: Client,
    memory_git: Git,  # noqa: F811
    save: Saving,  # noqa: F811
    server: Server,  # noqa: F811
) -> None:
    server.create()
    connect(alice, server)
    memory_git.on()
    server.push_foreign()
    save("Ours")
    memory_git.work()
    row = MemoryRepository.objects.get()
    place = f"/git/repository/{row.pk}"
    page = text_of(alice, f"{place}/remote")
    assert "Remote went another way" in page and "Bind an empty repository" in page and "Stay local" in page
    assert "It is being looked at." in sent(alice, f"{place}/inspect")
    work_here()
    assert "refused" in text_of(alice, f"{place}/remote")  # A foreign document without an id.
    good = "---\nstable_id: mem_01hzzzzzzzzzzzzzzzzzzzzzzz\ntitle: Good\n---\nText.\n"
    server.push_foreign(files={"global/memories/good.md": good, "global/memories/none.md": "No head."})
    sent(alice, f"{place}/inspect")
    work_here()
    page = text_of(alice, f"{place}/remote")
    assert "1 document is not in order and stays out" in page and "global/memories/none.md" in page
    assert "Take in what is ticked" in page and "mem_01hzzzzzzzzzzzzzzzzzzzzzzz" in page
    assert "has commits that this history does not have" in sent(alice, f"{place}/remote", url=server.url())
    server.create("second.git")
    assert "It is bound" in sent(alice, f"{place}/remote", url=server.url("second.git"))
    assert "Everything is pushed." in sent(alice, f"{place}/sync")
    assert "It stays local from now on" in sent(alice, f"{place}/unbind")
    assert "Local only" in text_of(alice, "/git/connection")

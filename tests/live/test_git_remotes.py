"""Remotes against genuine servers: Git's HTTP backend behind nginx, OpenSSH with git-shell, Gitolite behind both."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dulwich.repo import Repo

from apps.base.keyring import ensure_keyring
from apps.memory_git.jobs import work_here
from apps.memory_git.models import MemoryRepository
from apps.memory_git.remotes import failures
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import parse
from apps.memory_git.remotes.client import Lease, Remote
from apps.memory_git.remotes.probing import probe
from tests.doubles.connect_proxy import ConnectProxy
from tests.doubles.git_servers import PASSPHRASE, TOKEN, USER, GitServers
from tests.live.server import PROJECT
from tests.memory_git.remotes.made import MAIN, bare, commit, repository
from tests.world import World, call


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServers]:
    # A short name: the path of a Unix socket may have 107 bytes.
    with GitServers(tmp_path_factory.mktemp("g")) as running:
        yield running


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Repo]:
    with repository(tmp_path / "ours") as made:
        yield made


def with_token(servers: GitServers) -> Access:
    return Access(user=USER, secret=TOKEN, authorities=servers.authority)


def with_key(servers: GitServers) -> Access:
    pins = tuple(f"{kind} {fingerprint}" for kind, fingerprint in servers.host_fingerprints.items())
    return Access(private_key=servers.key(), passphrase=PASSPHRASE, host_keys=pins)


DOORS: dict[str, tuple[Callable[[GitServers, str], str], Callable[[GitServers], Access]]] = {
    "https": (GitServers.https_url, with_token),
    "ssh": (GitServers.ssh_url, with_key),
}


@pytest.mark.parametrize("door", DOORS)
def test_acc_031_every_capability_is_found_by_doing_it(servers: GitServers, door: str):
    url, access = DOORS[door]
    name = f"probe-{door}.git"
    path = servers.create(name)
    foreign = servers.push_as_somebody_else(path) if door == "https" else ""
    found = probe(parse(url(servers, name)), access(servers), branch="main", write=True)
    assert {name: finding.state.value for name, finding in found.items()} == {
        "url_resolution": "supported",
        "ls_remote": "supported",
        "fetch": "supported",
        "push": "supported",
        "ref_deletion": "supported",
        "push_to_create": "unknown",
    }
    left = servers.git("for-each-ref", "--format=%(refname) %(objectname)", at=path)
    assert left == (f"refs/heads/main {foreign}" if foreign else "")


def test_acc_031_an_account_that_may_only_read_is_told_so(servers: GitServers):
    servers.create("read-only.git", read_only=True)
    address = parse(servers.https_url("read-only.git"))
    found = probe(address, with_token(servers), branch="main", write=True)
    assert (found["ls_remote"].state, found["push"].state) == ("supported", "unsupported")
    assert found["push"].code == "GIT_REMOTE_FORBIDDEN"


@pytest.mark.parametrize("door", DOORS)
def test_pushes_in_a_row_are_what_genuine_git_reads_and_a_stale_lease_is_refused(
    servers: GitServers, ours: Repo, door: str, tmp_path: Path
):
    url, access = DOORS[door]
    name = f"push-{door}.git"
    path = servers.create(name)
    remote = Remote(parse(url(servers, name)), access(servers))
    first = commit(ours, {f"{number}.md": f"Note {number}\n" for number in range(50)})
    remote.push(ours, Lease(MAIN, None, first))
    second = commit(ours, {"1.md": "Changed\n"})
    remote.push(ours, Lease(MAIN, first, second))
    assert servers.git("rev-list", "--count", "main", at=path) == "2"
    servers.git("fsck", "--strict", "--full", at=path)
    foreign = servers.push_as_somebody_else(path)
    third = commit(ours, {"2.md": "Changed\n"})
    with pytest.raises(failures.RemoteMoved):
        remote.push(ours, Lease(MAIN, second, third))
    assert servers.git("rev-parse", "main", at=path) == foreign
    with bare(tmp_path / "staging.git") as staging:
        assert remote.fetch(staging, [MAIN]) == {MAIN: foreign.encode()}
        assert staging[foreign.encode()].parents == [second]


def test_every_key_of_ours_opens_the_door_and_a_strangers_does_not(servers: GitServers):
    servers.create("keys.git")
    remote, access = parse(servers.ssh_url("keys.git")), with_key(servers)
    for name in ("id_rsa", "id_ecdsa"):
        assert Remote(remote, replace(access, private_key=servers.key(name), passphrase="")).refs() == {}
    for wrong, failure in (
        ({"passphrase": ""}, failures.PassphraseMissing),
        ({"passphrase": "another"}, failures.KeyUnreadable),
        ({"private_key": "no key at all"}, failures.KeyUnreadable),
        ({"private_key": servers.key("id_stranger"), "passphrase": ""}, failures.RemoteAuthFailed),
    ):
        with pytest.raises(failure):
            Remote(remote, replace(access, **wrong)).refs()


def test_the_host_key_is_shown_before_it_is_trusted_and_another_one_is_refused(servers: GitServers):
    servers.create("host.git")
    address = parse(servers.ssh_url("host.git"))
    shown = [str(key) for key in Remote(address, Access()).host_keys()]
    assert shown == [f"{kind} {fingerprint}" for kind, fingerprint in servers.host_fingerprints.items()]
    access = with_key(servers)
    for pins in ((shown[0],), (shown[1],), (shown[1].split()[1], shown[0].split()[1])):
        assert Remote(address, replace(access, host_keys=pins)).refs() == {}
    with pytest.raises(failures.HostKeyUnknown, match=re.escape(shown[0])):
        Remote(address, replace(access, host_keys=())).refs()
    with pytest.raises(failures.HostKeyChanged):
        Remote(address, replace(access, host_keys=("ssh-ed25519 SHA256:" + "A" * 43,))).refs()


def test_each_refusal_of_an_https_server_has_its_own_failure(servers: GitServers):
    servers.create("refusals.git")
    access = with_token(servers)
    url = servers.https_url("refusals.git")
    for address, how, failure in (
        (url, replace(access, secret="wrong"), failures.RemoteAuthFailed),
        (url, replace(access, user="", secret=""), failures.RemoteAuthFailed),
        (url, replace(access, authorities=""), failures.RemoteUntrusted),
        (url.replace("localhost", "127.0.0.1"), access, failures.RemoteUntrusted),
        (servers.https_url("nothing.git"), access, failures.RemoteRepositoryMissing),
        (servers.https_url("x.git", place="forbidden"), access, failures.RemoteForbidden),
        (servers.https_url("x.git", place="failing"), access, failures.RemoteServerFailed),
        (servers.https_url("x.git", place="page"), access, failures.RemoteNotGit),
        (servers.https_url("x.git", place="moved"), access, failures.RemoteRedirected),
        ("https://no-such-host.invalid/x.git", access, failures.RemoteNameUnknown),
    ):
        with pytest.raises(failure) as refused:
            Remote(parse(address), how).refs()
        assert TOKEN not in str(refused.value)
        assert TOKEN not in repr(refused.value.__context__)
    with pytest.raises(failures.RemoteRepositoryMissing):
        Remote(parse(servers.ssh_url("nothing.git")), with_key(servers)).refs()


@pytest.mark.parametrize("door", ["https", "ssh"])
def test_acc_033_a_first_push_makes_the_repository_where_the_server_allows_it(
    servers: GitServers, ours: Repo, door: str
):
    made = commit(ours, {"a.md": "one\n"})
    name = f"memrelay/alice/pushed-by-{door}"
    if door == "https":
        address, access = parse(servers.https_url(f"{name}.git", place="gitolite")), with_token(servers)
    else:
        address = parse(servers.gitolite_ssh_url(name))
        access = replace(with_key(servers), private_key=servers.key("id_gitolite"), passphrase="")
    Remote(address, access).push(ours, Lease(MAIN, None, made))
    path = servers.folder / "gitolite" / "repositories" / f"{name}.git"
    assert servers.git("rev-parse", "main", at=path) == made.decode()
    with pytest.raises(failures.RemoteForbidden):
        Remote(replace(address, path=address.path.replace("alice", "bob")), access).push(ours, Lease(MAIN, None, made))


def connect(world: World, **arguments: Any) -> Any:
    ensure_keyring()
    return call(world.operator, "git_connection_save", **arguments)


def save(world: World, title: str) -> None:
    world.alices_agent.call("memory_save", title=title, body="Text.", scope="shared")


@pytest.mark.django_db
def test_acc_035_a_server_that_is_cut_off_gets_every_commit_in_order_when_it_is_back(
    servers: GitServers, world: World, settings: Any
):
    path = servers.create("cut.git")
    told = connect(world, url=servers.https_url("cut.git"), user_name=USER, secret=TOKEN, authorities=servers.authority)
    assert told.error is None
    call(world.operator, "git_settings_update", enabled=True)
    work_here()
    servers.stop()
    settings.GIT_RETRY_SECONDS = 600
    for number in range(5):
        save(world, f"Note {number}")
        work_here()
    row = MemoryRepository.objects.get()
    assert (row.status, row.error_code, row.behind) == ("waiting_remote", "GIT_REMOTE_UNREACHABLE", 5)
    servers.start()
    told = call(world.operator, "memory_repository_sync", repository_id=row.pk)
    assert (told.status, told.behind) == ("ready", 0)
    assert servers.git("log", "--reverse", "--format=%s", "main", at=path).splitlines() == [
        "Git baseline",
        *(f"Save Note {number}" for number in range(5)),
    ]
    servers.git("fsck", "--strict", "--full", at=path)


@pytest.mark.django_db
def test_acc_033_and_039_over_ssh_the_fingerprint_is_trusted_first_and_gitolite_makes_the_repository(
    servers: GitServers, world: World
):
    url = servers.gitolite_ssh_url("memrelay/alice/{repo}")
    call(world.operator, "git_settings_update", strategy="per_workspace")
    told = connect(world, url=url, private_key=servers.key("id_gitolite"), allow_write_test=False)
    assert told.error.code == "GIT_HOST_KEY_UNKNOWN"
    shown = [key.fingerprint for key in told.shown_host_keys]
    assert shown == [f"{kind} {fingerprint}" for kind, fingerprint in servers.host_fingerprints.items()]
    told = connect(world, host_keys=shown)
    assert told.error is None
    save(world, "A shared note")
    call(world.operator, "git_settings_update", enabled=True)
    world.alices_agent.call("memory_save", title="A relay note", body="x", project_id=world.workspace.pk)
    work_here()
    for row in MemoryRepository.objects.all():
        there = servers.folder / "gitolite" / "repositories" / "memrelay" / "alice" / f"{row.name}.git"
        assert servers.git("rev-parse", row.branch, at=there) == row.head == row.pushed_commit
    relay = MemoryRepository.objects.get(scope_key=f"project/{world.workspace.pk}")
    assert (relay.status, relay.push_to_create) == ("ready", "supported")
    assert call(world.operator, "git_connection_get").capabilities["push_to_create"].state == "supported"


@pytest.mark.django_db
def test_acc_034_a_server_that_makes_no_repositories_says_so_with_the_whole_address(servers: GitServers, world: World):
    url = servers.ssh_url("later.git")
    pins = [f"{kind} {fingerprint}" for kind, fingerprint in servers.host_fingerprints.items()]
    connect(world, url=url, private_key=servers.key(), passphrase=PASSPHRASE, host_keys=pins)
    call(world.operator, "git_settings_update", enabled=True)
    work_here()
    row = MemoryRepository.objects.get()
    assert (row.status, row.push_to_create) == ("remote_repository_missing", "unsupported")
    assert url in row.error
    servers.create("later.git")
    assert call(world.operator, "memory_repository_sync", repository_id=row.pk).status == "ready"


@pytest.mark.django_db
def test_acc_041_an_empty_data_folder_is_filled_from_the_remote_by_a_command(
    servers: GitServers, world: World, tmp_path_factory: pytest.TempPathFactory
):
    servers.create("cold.git")
    url = servers.https_url("cold.git")
    connect(world, url=url, user_name=USER, secret=TOKEN, authorities=servers.authority)
    save(world, "Brought back")
    call(world.operator, "git_settings_update", enabled=True)
    work_here()
    data = tmp_path_factory.mktemp("cold")
    command = [sys.executable, str(PROJECT / "manage.py"), "git_bootstrap", url]
    given = json.dumps({"user": USER, "secret": TOKEN, "authorities": servers.authority})
    environment = {**os.environ, "MEMRELAY_DATA": str(data), "MEMRELAY_EMBEDDING": "off"}
    del environment["DJANGO_SETTINGS_MODULE"]
    done = subprocess.run(command, input=given, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "From the remote: 1 documents and 1 commits" in done.stdout
    assert "Back: 1 memories" in done.stdout
    for lost in ("tokens and sessions", "key ring", "file repository"):
        assert lost in done.stdout
    assert TOKEN not in done.stdout + done.stderr
    with sqlite3.connect(data / "memrelay" / "db" / "memrelay.sqlite3") as database:
        assert database.execute("SELECT title FROM memories_memory").fetchall() == [("Brought back",)]
    again = subprocess.run(command, input=given, capture_output=True, text=True, env=environment, timeout=120)
    assert again.returncode != 0
    assert "has a database" in again.stderr


def test_a_proxy_leads_to_the_server_and_its_refusal_is_told_as_such(servers: GitServers, ours: Repo):
    path = servers.create("proxied.git")
    address = parse(servers.https_url("proxied.git"))
    with ConnectProxy() as proxy:
        access = replace(with_token(servers), proxy=proxy.url())
        made = commit(ours, {"a.md": "one\n"})
        Remote(address, access).push(ours, Lease(MAIN, None, made))
        assert servers.git("rev-parse", "main", at=path) == made.decode()
        assert set(proxy.tunnels) == {f"localhost:{servers.https}"}
        with pytest.raises(failures.ProxyFailed) as refused:
            Remote(address, replace(access, proxy=proxy.url("wrong-proxy-pass"))).refs()
        assert "wrong-proxy-pass" not in str(refused.value)
    with pytest.raises(failures.ProxyFailed):
        Remote(address, access).refs()

"""The connection: what is refused on saving, and that no secret ever comes out again (GIT-014, GIT-022..027, ACC-039)."""

import json
import logging
from pathlib import Path

import pytest
from django.conf import settings
from django.core import serializers
from django.db import connection as database

from apps.base.errors import Invalid
from apps.memory_git.mirror.credentials import access_of
from apps.memory_git.models import GitConnection, MemoryRepository
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import HostKeyUnknown
from apps.memory_git.remotes.ssh import HostKey
from tests.world import call

pytestmark = pytest.mark.django_db

SECRETS = {
    "secret": "tok-9f8e7d6c5b4a-secret",
    "passphrase": "horse-battery-pass",
    "proxy": "http://proxy-user:proxy-pass-123@127.0.0.1:9",
}


def key_with(passphrase: str) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

    made = Ed25519PrivateKey.generate()
    return made.private_bytes(
        Encoding.PEM, PrivateFormat.OpenSSH, BestAvailableEncryption(passphrase.encode())
    ).decode()


def save(world, **arguments):
    arguments.setdefault("url", "https://git.example.org/me/memory.git")
    return call(world.operator, "git_connection_save", test=False, **arguments)


def test_nothing_is_connected_at_first_and_that_is_no_fault(world):
    told = call(world.operator, "git_connection_get")
    assert (told.configured, told.error, told.mode) == (False, None, "")
    assert {one.state for one in told.capabilities.values()} == {"unknown"}
    assert not GitConnection.objects.exists()


def test_only_administrators_have_to_do_with_it(world):
    for name in ("git_connection_get", "git_connection_test", "git_connection_delete"):
        with pytest.raises(Exception, match="right to administer"):
            world.bobs_agent.call(name)


def test_acc_038_a_whole_address_is_for_one_repository_and_a_template_for_many(world):
    with pytest.raises(Invalid) as refused:
        save(world, url="https://git.example.org/me/{repo}.git")
    assert "url" in refused.value.fields
    assert save(world).mode == "single"
    call(world.operator, "git_connection_delete")
    call(world.operator, "git_settings_update", strategy="per_workspace")
    with pytest.raises(Invalid):
        save(world)
    assert save(world, url="https://git.example.org/me/{repo}.git").mode == "per_workspace"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"url": "https://user:hunter2@git.example.org/x.git"}, "url"),
        ({"url": "file:///etc"}, "url"),
        ({"user_name": "a:b"}, "user_name"),
        ({"host_keys": ["MD5:aa:bb"]}, "host_keys"),
        ({"authorities": "no certificate"}, "authorities"),
        ({"proxy": "socks5://proxy:1080"}, "proxy"),
        ({"secret": "two\nlines"}, "secret"),
        ({"private_key": "no key", "url": "git@git.example.org:me/x.git"}, "private_key"),
    ],
)
def test_what_cannot_work_is_refused_by_field_and_never_repeated(world, arguments, field):
    with pytest.raises(Invalid) as refused:
        save(world, **arguments)
    assert list(refused.value.fields) == [field]
    assert "hunter2" not in str(refused.value)
    assert not GitConnection.objects.exists()


def test_a_key_needs_its_passphrase_when_it_is_saved(world):
    key = key_with("horse-battery-pass")
    url = "git@git.example.org:me/x.git"
    for wrong in ({}, {"passphrase": "another"}):
        with pytest.raises(Invalid):
            save(world, url=url, private_key=key, **wrong)
    told = save(world, url=url, private_key=key, passphrase="horse-battery-pass")
    assert (told.has_private_key, told.has_passphrase, told.has_secret) == (True, True, False)


def test_what_is_left_out_stays_and_null_takes_it_away(world):
    save(world, secret="first", user_name="me")
    told = save(world, name="My mirror")
    assert (told.has_secret, told.user_name, told.name, told.revision) == (True, "me", "My mirror", 2)
    assert access_of(GitConnection.objects.get()).secret == "first"
    assert save(world).revision == 2
    assert save(world, secret=None).has_secret is False


def test_another_server_needs_the_credentials_anew(world):
    save(world, secret="first")
    with pytest.raises(Invalid) as refused:
        save(world, url="https://evil.example.org/me/memory.git")
    assert list(refused.value.fields) == ["secret"]
    save(world, url="https://git.example.org/other/memory.git")
    assert save(world, url="https://evil.example.org/x.git", secret="second").url == "https://evil.example.org/x.git"


def test_a_save_that_read_an_older_revision_is_refused(world):
    save(world, secret="first")
    with pytest.raises(Exception, match="changed meanwhile"):
        save(world, name="Mine", revision=0)
    assert save(world, name="Mine", revision=1).revision == 2


def test_acc_039_secrets_are_sealed_and_never_come_out_again(world, caplog, tmp_path, server, memory_git, monkeypatch):
    caplog.set_level(logging.DEBUG)
    key = key_with(SECRETS["passphrase"])
    path = server.create()
    rest = world.alices_agent.rest
    answers = [
        rest.send("POST", "/git/connections", {"url": server.url(), "private_key": key, **SECRETS}).content.decode()
    ]
    memory_git.on()
    answers += [
        rest.get("/git/connections").content.decode(),
        rest.post("/git/connections/test").content.decode(),
        rest.send("PATCH", "/git/connections", {"name": "again"}).content.decode(),
        rest.get("/git/status").content.decode(),
    ]
    assert all('"has_secret": true' in answer or '"has_secret":true' in answer for answer in answers[:4]), answers[0]
    row = GitConnection.objects.get()
    everything = [
        *answers,
        caplog.text,
        repr(access_of(row)),
        serializers.serialize("json", GitConnection.objects.all()),
        json.dumps([str(value) for value in MemoryRepository.objects.values()], default=str),
    ]
    for folder in (Path(settings.MEMORIES_FOLDER), path):
        everything += [file.read_bytes().decode("latin-1") for file in folder.rglob("*") if file.is_file()]
    with database.cursor() as cursor:
        cursor.execute("SELECT * FROM memory_git_gitconnection")
        everything += [
            str(value) if not isinstance(value, bytes) else value.decode("latin-1") for value in cursor.fetchone()
        ]
    middle_of_key = key.splitlines()[2]
    for needle in (*SECRETS.values(), "proxy-pass-123", middle_of_key):
        assert not [text[:80] for text in everything if needle in text]


def test_a_sealed_secret_does_not_open_in_another_row(world):
    save(world, secret="first")
    GitConnection.objects.update(id="gcn_another")
    with pytest.raises(Exception, match="does not open"):
        access_of(GitConnection.objects.get())


def test_a_test_fills_the_matrix_and_says_when(world, server):
    server.create()
    told = server.connect()
    states = {name: one.state for name, one in told.capabilities.items()}
    assert states.pop("push_to_create") == "unknown"
    assert set(states.values()) == {"supported"}
    assert told.tested_at and told.succeeded_at and told.error is None
    told = server.connect("another.git")
    assert told.capabilities["ls_remote"].state == "error"
    assert told.error.code == "REMOTE_REPOSITORY_MISSING"
    assert server.url("another.git") in told.error.message
    assert told.succeeded_at is None


def test_an_ssh_server_is_trusted_by_its_fingerprint(world, monkeypatch):
    shown = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)

    def refused(self):
        raise HostKeyUnknown(fingerprint=str(shown))

    monkeypatch.setattr(Remote, "host_keys", lambda self: [shown])
    monkeypatch.setattr(Remote, "refs", refused)
    monkeypatch.setattr("apps.memory_git.remotes.probing._resolve", lambda address: None)
    told = call(world.operator, "git_connection_save", url="git@git.example.org:me/x.git", secret="x")
    assert [(key.fingerprint, key.trusted) for key in told.shown_host_keys] == [(str(shown), False)]
    assert told.error.code == "GIT_HOST_KEY_UNKNOWN"
    assert str(shown) in told.error.message
    told = call(world.operator, "git_connection_save", host_keys=[str(shown)])
    assert [key.trusted for key in told.shown_host_keys] == [True]


def test_taking_it_away_destroys_the_secrets_and_twice_does_no_more(world):
    save(world, secret="first")
    for _time in range(2):
        assert call(world.operator, "git_connection_delete").configured is False
    assert not GitConnection.objects.exists()

import os
import stat
import sys

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from apps.accounts.models import McpToken, User
from apps.instance.serving import first_access, secret_key, static_files, tables
from apps.instance.serving.bells import release_bells
from apps.instance.serving.first_access import FirstAccess, ensure_first_access
from apps.instance.serving.folders import prepare_folders
from apps.instance.serving.greeting import greeting
from apps.instance.serving.secret_key import begin_anew_with_the_key, ensure_secret_key, key_file


@pytest.fixture
def data(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path / "data"
    settings.STATE_FOLDER = settings.DATA_FOLDER / "memrelay"
    settings.MEMORIES_FOLDER = settings.DATA_FOLDER / "basic-memory" / "memories"
    settings.DATABASE_FILE = settings.STATE_FOLDER / "db" / "memrelay.sqlite3"
    for name in ("run", "keys", "tmp"):
        folder = {"run": "RUN_FOLDER", "keys": "KEYS_FOLDER", "tmp": "TEMPORARY_FOLDER"}[name]
        setattr(settings, folder, settings.STATE_FOLDER / name)
    return settings.DATA_FOLDER


@pytest.fixture
def private_umask():
    mask = os.umask(0o022)
    yield
    os.umask(mask)


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_all_folders_are_private_even_one_that_was_open_before(data, private_umask):
    data.mkdir(mode=0o755)
    prepare_folders()
    assert {mode(folder) for folder in [data, *data.rglob("*")]} == {0o700}
    prepare_folders()


def test_a_key_is_made_once_and_kept(data, settings, private_umask):
    settings.SECRET_KEY_GIVEN = False
    prepare_folders()
    ensure_secret_key()
    key = key_file().read_text()
    ensure_secret_key()
    assert key_file().read_text() == key and len(key) >= 50
    assert mode(settings.KEYS_FOLDER / "secret_key") == 0o600


def test_a_command_that_was_there_before_the_key_begins_anew(data, settings, private_umask, monkeypatch):
    begun = []
    monkeypatch.setattr(secret_key.os, "execv", lambda *arguments: begun.append(arguments))
    settings.SECRET_KEY_GIVEN = False
    prepare_folders()
    ensure_secret_key()

    settings.SECRET_KEY = "not-started-yet"
    begin_anew_with_the_key()
    assert begun == [(sys.executable, sys.orig_argv)]

    settings.SECRET_KEY = key_file().read_text()
    begin_anew_with_the_key()
    assert len(begun) == 1


def test_the_operators_key_is_written_nowhere(data, settings, private_umask):
    settings.SECRET_KEY_GIVEN = True
    prepare_folders()
    ensure_secret_key()
    assert list(settings.KEYS_FOLDER.iterdir()) == []


@pytest.mark.django_db
def test_tables_that_are_current_are_left_alone(monkeypatch):
    monkeypatch.setattr(tables, "call_command", lambda *a, **k: pytest.fail("it migrated"))
    assert tables.migrate() is False


def test_static_files_are_gathered_only_when_a_source_changed(settings, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.css").write_text("a {}")
    settings.STATICFILES_DIRS, settings.STATIC_ROOT = [source], tmp_path / "gathered"
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    static_files.get_finders.__globals__["get_finder"].cache_clear()
    try:
        assert static_files.gather_static_files() is True
        assert (tmp_path / "gathered" / "a.css").read_text() == "a {}"
        assert static_files.gather_static_files() is False
        (source / "a.css").write_text("a { color: red }")
        assert static_files.gather_static_files() is True
        assert "red" in (tmp_path / "gathered" / "a.css").read_text()
    finally:
        static_files.get_finders.__globals__["get_finder"].cache_clear()


@pytest.mark.django_db
def test_without_a_terminal_the_first_access_stands_in_a_private_file(data, settings):
    settings.STATE_FOLDER.mkdir(parents=True)
    access = ensure_first_access()

    note = settings.STATE_FOLDER / "first-sign-in.txt"
    assert mode(note) == 0o600
    assert User.objects.get(is_superuser=True).check_password(note.read_text().split("password ")[1].split()[0])
    assert McpToken.objects.count() == 1
    assert access.token == "" and "first-sign-in.txt" in access.told[0]
    assert ensure_first_access() == FirstAccess()


@pytest.mark.django_db
def test_on_a_terminal_it_is_shown_and_written_nowhere(data, settings, monkeypatch):
    monkeypatch.setattr(first_access.sys.stdout, "isatty", lambda: True, raising=False)
    access = ensure_first_access()

    shown = greeting("127.0.0.1", 8765, access)
    assert access.token in shown and "password" in shown
    assert f'memrelay http://127.0.0.1:8765/mcp --header "Authorization: Bearer {access.token}"' in shown
    assert not settings.STATE_FOLDER.exists()


@pytest.mark.parametrize(
    ("public", "host", "address"),
    [
        ("", "127.0.0.1", "http://127.0.0.1:8765"),
        ("", "0.0.0.0", "http://127.0.0.1:8765"),
        ("", "::1", "http://[::1]:8765"),
        ("https://memory.example.org", "127.0.0.1", "https://memory.example.org"),
    ],
)
def test_the_greeting_names_the_address_that_works(settings, public, host, address):
    settings.PUBLIC_URL = public
    shown = greeting(host, 8765, FirstAccess())
    assert f"Console: {address}/\n" in shown
    assert f'{address}/mcp --header "Authorization: Bearer <token>"' in shown


@pytest.mark.django_db
def test_jobs_of_a_killed_cluster_are_offered_again_at_once():
    later = timezone.now() + timezone.timedelta(hours=1)
    earlier = timezone.now() - timezone.timedelta(minutes=1)
    taken = OrmQ.objects.create(key="memrelay", payload="", lock=later)
    waiting = OrmQ.objects.create(key="memrelay", payload="", lock=earlier)
    foreign = OrmQ.objects.create(key="other", payload="", lock=later)

    assert release_bells() == 1

    assert OrmQ.objects.get(pk=taken.pk).lock <= timezone.now()
    assert OrmQ.objects.get(pk=waiting.pk).lock == earlier
    assert OrmQ.objects.get(pk=foreign.pk).lock == later

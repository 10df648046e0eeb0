import math
import sqlite3

import pytest

from apps.instance import checks


def ids(messages) -> list[str]:
    return [message.id for message in messages]


def all_have_hints(messages) -> bool:
    return all(message.hint for message in messages)


def test_a_sound_instance_passes_all_checks(settings, tmp_path):
    settings.DATA_FOLDER, settings.KEYS_FOLDER = tmp_path, tmp_path / "keys"
    assert [message for check in checks.CHECKS for message in check()] == []


def test_a_data_folder_that_is_a_file_is_named(settings, tmp_path):
    settings.DATA_FOLDER = tmp_path / "data"
    settings.DATA_FOLDER.write_text("no folder")
    found = checks.data_folder_is_usable()
    assert ids(found) == ["memrelay.E001"] and all_have_hints(found)


def test_a_data_folder_that_cannot_be_written_is_named(settings, tmp_path, monkeypatch):
    settings.DATA_FOLDER = tmp_path / "not" / "yet" / "there"
    asked = []
    monkeypatch.setattr(checks.os, "access", lambda path, mode: asked.append(path))
    found = checks.data_folder_is_usable()
    assert ids(found) == ["memrelay.E002"] and all_have_hints(found)
    assert asked == [tmp_path], "the nearest folder that exists decides"


def test_a_setting_that_cannot_work_is_named_with_what_can(settings):
    settings.SETTING_FAULTS = [
        ("MEMRELAY_RECALL", bool, 0, math.inf),
        ("MEMRELAY_SEARCH_LIMIT", int, 1, 200),
        ("MEMRELAY_SEARCH_LIMIT", int, 1, 200),
        ("MEMRELAY_SEARCH_DEPTH", int, 1, math.inf),
        ("MEMRELAY_SEARCH_MEANING_FLOOR", float, -math.inf, math.inf),
    ]
    found = checks.settings_can_work()
    assert ids(found) == ["memrelay.E009"] * 4
    assert "MEMRELAY_SEARCH_LIMIT" in found[1].msg and found[1].hint == "Write a number from 1 to 200."
    assert (found[0].hint, found[2].hint) == ("Write on or off.", "Write a whole number, 1 or more.")


def test_a_key_that_others_can_read_is_named(settings, tmp_path):
    settings.KEYS_FOLDER = tmp_path
    (tmp_path / "good").touch(mode=0o600)
    (tmp_path / "bad").touch()
    (tmp_path / "bad").chmod(0o640)
    found = checks.keys_are_private()
    assert ids(found) == ["memrelay.E003"] and "bad" in found[0].msg


@pytest.mark.parametrize(
    ("given", "key", "expected"),
    [(True, "short", ["memrelay.E004"]), (True, "k" * 32, []), (False, "not-started-yet", [])],
)
def test_a_given_key_has_to_be_long(settings, given, key, expected):
    settings.SECRET_KEY_GIVEN, settings.SECRET_KEY = given, key
    assert ids(checks.secret_key_is_long()) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"PUBLIC_URL": "memory.example.org"}, ["memrelay.E005"]),
        ({"PUBLIC_URL": "http://example.org/memory"}, ["memrelay.E005"]),
        ({"PUBLIC_URL": "https://example.org", "BEHIND_PROXY": True}, []),
        ({"PUBLIC_URL": "https://example.org"}, ["memrelay.W002"]),
        ({"BEHIND_PROXY": True}, ["memrelay.W001"]),
        ({"ALLOWED_HOSTS": ["*"]}, ["memrelay.W003"]),
        ({"HOST": "0.0.0.0"}, ["memrelay.W004"]),
        ({"HOST": "0.0.0.0", "EXTRA_HOSTS": ["memory.local"]}, []),
    ],
)
def test_addresses_that_do_not_fit_together_are_named(settings, changes, expected):
    for name, value in changes.items():
        setattr(settings, name, value)
    found = list(checks.addresses_fit())
    assert ids(found) == expected and all_have_hints(found)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [("Asia/Shanghai", []), ("Mars/Olympus", ["memrelay.E006"]), ("../etc/passwd", ["memrelay.E006"])],
)
def test_the_zone_has_to_be_known(settings, zone, expected):
    settings.CALLER_ZONE = zone
    assert ids(checks.zone_is_known()) == expected


def test_the_language_has_to_be_known(settings):
    settings.LANGUAGE_GIVEN = "tlh"
    assert ids(checks.language_is_known()) == ["memrelay.E007"]


def test_an_old_sqlite_is_named(monkeypatch):
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 30, 0))
    assert ids(checks.sqlite_can_search()) == ["memrelay.E008"]

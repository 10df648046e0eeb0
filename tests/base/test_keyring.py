"""The key ring and what it seals (D-32, D-48)."""

import json
import os
import threading

import pytest

from apps.base.keyring import KeyRingUnusable, add_key, ensure_keyring, load_keyring
from apps.base.sealing import SealBroken, SealingKeyMissing, key_of, needs_sealing_anew, seal, unseal

PLACE = {"table": "git_credential", "column": "token", "row": "7"}


@pytest.fixture(autouse=True)
def keys_folder(settings, tmp_path):
    settings.KEYS_FOLDER = tmp_path / "keys"
    return settings.KEYS_FOLDER


@pytest.fixture
def file(keys_folder):
    ensure_keyring()
    return keys_folder / "keyring.json"


# ------------------------------------------------------------------------------------------------- the ring


def test_the_first_start_makes_a_ring_that_only_the_server_can_read(keys_folder):
    ring = ensure_keyring()

    file = keys_folder / "keyring.json"
    assert (file.stat().st_mode & 0o777, keys_folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [len(key) for key in ring.keys.values()] == [32]
    assert ring.active in ring.keys
    assert sorted(path.name for path in keys_folder.iterdir()) == [".lock", "keyring.json"]


def test_the_second_start_keeps_the_ring():
    assert ensure_keyring() == ensure_keyring() == load_keyring()


def test_of_many_first_starts_one_makes_the_ring():
    rings = []
    threads = [threading.Thread(target=lambda: rings.append(ensure_keyring())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(rings) == 8 and all(ring == rings[0] for ring in rings)


def test_a_start_that_was_killed_half_way_does_not_stop_the_next(keys_folder):
    keys_folder.mkdir()
    (keys_folder / ".keyring.new").write_text("{")

    assert ensure_keyring().keys


def test_without_a_ring_nothing_is_sealed():
    with pytest.raises(KeyRingUnusable, match="no such file"):
        seal(b"secret", **PLACE)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_ring_that_others_can_read_is_refused_even_after_it_was_loaded(file, mode):
    load_keyring()
    file.chmod(mode)

    with pytest.raises(KeyRingUnusable, match=f"mode is {mode:04o}"):
        load_keyring()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1, "active": "k1"}', "damaged"),
        ('{"version": 1, "active": "k1", "keys": {"k1": "no base64!"}}', "damaged"),
        ('{"version": 1, "active": "k1", "keys": {}}', "no active key"),
        ('{"version": 1, "active": "k1", "keys": {"k1": "c2hvcnQ="}}', "wrong length"),
        ('{"version": 2, "active": "k1", "keys": {}}', "another version"),
    ],
)
def test_a_damaged_ring_is_refused_and_never_replaced(file, content, problem):
    file.write_text(content)

    for attempt in (load_keyring, ensure_keyring, add_key):
        with pytest.raises(KeyRingUnusable, match=problem):
            attempt()
    assert file.read_text() == content


def test_a_symlink_is_no_ring(file, tmp_path):
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")

    with pytest.raises(KeyRingUnusable):
        load_keyring()


def test_no_key_is_ever_printed(file):
    ring = load_keyring()
    told = json.loads(file.read_text())

    assert told["keys"][ring.active] not in repr(ring) and repr(ring.keys[ring.active]) not in repr(ring)
    file.write_text(json.dumps(told | {"active": "gone"}))
    with pytest.raises(KeyRingUnusable) as refused:
        load_keyring()
    assert told["keys"][ring.active] not in str(refused.value.as_dict())


# ------------------------------------------------------------------------------------------------- the seal


def test_what_is_sealed_opens_at_its_place(file):
    for plaintext in (b"", b"secret", "密码".encode(), os.urandom(5000)):
        sealed = seal(plaintext, **PLACE)
        assert unseal(sealed, **PLACE) == plaintext
        assert not plaintext or plaintext not in sealed


def test_the_same_value_is_never_sealed_the_same_way(file):
    assert len({seal(b"secret", **PLACE) for _ in range(20)}) == 20


@pytest.mark.parametrize(
    "elsewhere", [{"table": "model"}, {"column": "key"}, {"row": "8"}, {"column": "toke", "row": "n7"}]
)
def test_a_value_moved_to_another_place_does_not_open(file, elsewhere):
    sealed = seal(b"secret", **PLACE)

    with pytest.raises(SealBroken):
        unseal(sealed, **(PLACE | elsewhere))


def test_a_value_changed_in_any_bit_does_not_open(file):
    sealed = seal(b"secret", **PLACE)
    for place in range(len(sealed)):
        for bit in (1, 0x80):
            changed = bytearray(sealed)
            changed[place] ^= bit
            with pytest.raises((SealBroken, SealingKeyMissing)):
                unseal(bytes(changed), **PLACE)


def test_a_value_cut_anywhere_does_not_open(file):
    sealed = seal(b"secret", **PLACE)
    for length in range(len(sealed)):
        with pytest.raises((SealBroken, SealingKeyMissing)):
            unseal(sealed[:length], **PLACE)
    with pytest.raises(SealBroken):
        unseal(sealed + b"\0", **PLACE)


def test_a_rotation_seals_anew_and_what_was_sealed_before_still_opens(file):
    before = seal(b"secret", **PLACE)
    old_key = load_keyring().active
    assert not needs_sealing_anew(before)

    ring = add_key()

    assert ring.active != old_key and set(ring.keys) == {old_key, ring.active}
    assert needs_sealing_anew(before) and key_of(before) == old_key
    after = seal(unseal(before, **PLACE), **PLACE)
    assert key_of(after) == ring.active
    assert unseal(before, **PLACE) == unseal(after, **PLACE) == b"secret"


def test_a_value_whose_key_is_gone_names_the_key(file):
    sealed = seal(b"secret", **PLACE)
    key = key_of(sealed)
    ring = add_key()
    told = json.loads(file.read_text())
    del told["keys"][key]
    file.write_text(json.dumps(told))

    with pytest.raises(SealingKeyMissing, match=key):
        unseal(sealed, **PLACE)
    assert load_keyring().active == ring.active

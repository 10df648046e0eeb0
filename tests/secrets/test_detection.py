"""What the other rooms ask of detection (D-14, L-22)."""

import pytest

from apps.secrets.detection import describe, find_new_secrets, find_secrets, refuse_new_secrets
from apps.secrets.errors import CredentialDetected
from tests.secrets.made import TOKENS, key_block, some

TOKEN = TOKENS["github-token"]
VAULTED = "correct horse battery"


def values_of_a_vault() -> list[str]:
    return [VAULTED, "short"]


@pytest.fixture
def vault(settings):
    settings.SECRET_VALUE_SOURCES = [f"{__name__}.values_of_a_vault"]


def test_only_a_newly_added_secret_counts():
    """L-22."""
    old = f"the token is {TOKEN}"

    assert find_new_secrets(old, f"{old}, and a second line\nwith {TOKEN} again") == []
    assert [one.rule for one in find_new_secrets(old, f"{old} and {TOKENS['stripe-key']}")] == ["stripe-key"]
    assert [one.rule for one in find_new_secrets("", old)] == ["github-token"]


def test_a_changed_secret_is_a_new_one():
    assert find_new_secrets(f"token {TOKEN}", "token ghp_" + some(36, seed=8)) != []


def test_a_key_block_that_was_only_indented_is_no_new_one():
    assert find_new_secrets(key_block(), key_block(indent="    ", line_end="\r\n")) == []


def test_the_refusal_says_where_and_never_what():
    """SRC-061."""
    with pytest.raises(CredentialDetected) as refused:
        refuse_new_secrets("", f"one\ntwo {TOKEN}")

    answer = refused.value.as_dict()
    assert (answer["code"], refused.value.status) == ("CREDENTIAL_DETECTED", 422)
    assert answer["facts"] == {"locations": [{"rule": "github-token", "line": 2, "column": 5}]}
    assert answer["hint"]
    assert TOKEN not in repr(refused.value) + str(answer) + repr(find_secrets(TOKEN))


def test_a_text_without_a_new_secret_passes():
    refuse_new_secrets("", "plain prose")
    refuse_new_secrets(TOKEN, f"{TOKEN} and more")


def test_a_value_that_a_room_knows_is_found_as_it_stands(vault):
    text = f"say {VAULTED} twice: {VAULTED}; short is too short"

    assert describe(find_secrets(text)) == [
        {"rule": "known-value", "line": 1, "column": 5},
        {"rule": "known-value", "line": 1, "column": 34},
    ]


def test_without_a_source_nothing_is_known():
    assert find_secrets(VAULTED) == []


def test_a_known_value_is_refused_when_it_is_new(vault):
    with pytest.raises(CredentialDetected):
        refuse_new_secrets("before", f"before {VAULTED}")
    refuse_new_secrets(VAULTED, f"{VAULTED} after")

"""Memory Git as pages: switching it on, history and differences, a version and bringing it back, the other strategy."""

import re

import pytest
from django.test import Client

from apps.memory_git.jobs import work_here
from apps.memory_git.models import GitCommit, GitDeed, GitSettings
from tests.console.looking import sent, text_of
from tests.memory_git.conftest import Saving, save  # noqa: F401 - fixtures
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def committed(world: World, alice: Client, save: Saving) -> str:  # noqa: F811
    """A memory with two commits; answers its id."""
    sent(alice, "/git/switch", enabled="true")
    work_here()
    memory_id = save("Deploy", "Old text.")
    work_here()
    world.alices_agent.call("memory_update", memory_id=memory_id, revision=1, body="New text.")
    work_here()
    return memory_id


def test_off_is_neutral_and_the_page_tells_how_to_switch_it_on(alice: Client, bob: Client) -> None:
    page = text_of(alice, "/git")
    assert "There is no repository yet" in page and "Switch it on" in page and "notice-error" not in page
    assert "Switch it on" not in text_of(bob, "/git")
    assert "There are no commits yet" in text_of(bob, "/git/history")


def test_switching_it_on_and_off_again_from_the_page(alice: Client, bob: Client) -> None:
    assert "Memory Git is on." in sent(alice, "/git/switch", enabled="true")
    work_here()
    page = text_of(alice, "/git")
    assert "memrelay-memories" in page and "Up to date" in page
    assert bob.post("/git/switch", {"enabled": "false"}).status_code == 403
    assert "every history stays" in sent(alice, "/git/switch", enabled="false")


def test_history_leads_to_the_difference_and_to_the_version_that_comes_back(
    alice: Client, world: World, committed: str
) -> None:
    page = text_of(alice, "/git/history", resource_id=committed)
    assert "Save Deploy" in page and "Update Deploy" in page
    newest, oldest = GitCommit.objects.order_by("-position").first(), GitCommit.objects.get(position=2)
    assert newest is not None
    difference = text_of(alice, f"/git/commit/{newest.sha}")
    assert "New text." in difference and "Old text." in difference and "diff-added" in difference
    assert "Old text." in text_of(alice, f"/git/version/{oldest.sha}/{committed}")
    assert "That version is the current text again." in sent(alice, f"/git/version/{oldest.sha}/{committed}/restore")
    assert world.alices_agent.call("memory_get", memory_id=committed).body.strip() == "Old text."


def test_filters_that_match_nothing_and_addresses_made_by_hand(alice: Client, committed: str) -> None:
    assert "No commit matches" in text_of(alice, "/git/history", kind="nothing")
    assert alice.get("/git/history", {"since": "never"}).status_code == 302
    assert alice.get("/git/commit/zzz").status_code == 302
    assert alice.get("/git/commit/abcdef1").status_code == 404


def test_a_snapshot_is_restored_from_a_commits_page(alice: Client, bob: Client, world: World, committed: str) -> None:
    oldest = GitCommit.objects.get(position=2)
    assert "Restore the snapshot" not in text_of(bob, f"/git/commit/{oldest.sha}")
    place = f"/git/commit/{oldest.sha}/snapshot"
    assert f"{place}?repository_id={oldest.repository_id}" in text_of(alice, f"/git/commit/{oldest.sha}")
    page = text_of(alice, place, repository_id=oldest.repository_id)
    assert "They get the text and place of then" in page and "Deploy" in page and "Changed" in page
    assert alice.get(place).status_code == 302  # An address made by hand.
    assert bob.get(place, {"repository_id": oldest.repository_id}).status_code == 403
    sent(alice, place, repository_id=oldest.repository_id)
    work_here()
    assert world.alices_agent.call("memory_get", memory_id=committed).body.strip() == "Old text."
    assert "Restoring a snapshot" in text_of(alice, "/git")
    assert "Everything is as it was at that commit." in text_of(alice, place, repository_id=oldest.repository_id)


def test_the_other_strategy_is_shown_before_it_is_made(alice: Client, committed: str) -> None:
    page = text_of(alice, "/git/strategy")
    assert "memrelay-global" in page
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest is not None
    sent(alice, "/git/strategy", digest=digest[1])
    work_here()
    assert GitSettings.objects.get().strategy == "per_workspace"
    assert GitDeed.objects.get(kind="migration").state == "completed"


def test_who_commits_are_by_is_a_setting(alice: Client, committed: str) -> None:
    page = sent(alice, "/git", author_name="Keeper", author_email="not an address")
    assert GitSettings.objects.get().author_name == "MemRelay" and "not an address" in page
    sent(alice, "/git", author_name="Keeper", author_email="keeper@example.org")
    assert GitSettings.objects.get().author_name == "Keeper"

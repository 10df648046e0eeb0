"""Tokens: whom one stands for, what a refused one is told, and what asking costs (MCP-006, WS-042, WS-044)."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts import keys
from apps.accounts.keys import caller_for_token, digest_of, new_token
from apps.accounts.models import McpToken
from apps.base import clock
from apps.base.errors import NotSignedIn
from apps.operations.caller import CallerKind, Origin, Right

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def at(monkeypatch):
    def set_to(moment):
        monkeypatch.setattr(clock, "now", lambda: moment)

    set_to(NOON)
    return set_to


def test_a_token_is_its_prefix_and_43_url_safe_characters():
    token = new_token()
    assert token.startswith("mrl_") and len(token) == 47
    assert token != new_token()


def test_a_token_stands_for_what_was_given_to_it(world):
    agent = world.agent("builder", project_id=world.workspace.pk, profile_id=world.bobs_space.pk, toolset="full")
    caller = agent.caller
    assert (caller.name, caller.kind, caller.origin) == ("builder", CallerKind.TOKEN, Origin.AGENT)
    assert (caller.profile, caller.project_id, caller.toolset) == ("bob", world.workspace.pk, "full")
    assert caller.rights == {Right.READ, Right.WRITE}
    assert caller.token_id == McpToken.objects.get().pk
    assert caller.zone == settings.CALLER_ZONE


def test_an_unbound_token_belongs_to_shared(world):
    """WS-044."""
    assert world.agent("anyone").caller.profile == "shared"


def test_only_the_digest_is_kept(world):
    token = world.bobs_agent.token
    row = McpToken.objects.values().get()
    assert row["digest"] == digest_of(token)
    assert token not in str(row) and token.removeprefix("mrl_")[:5] not in str(row)


@pytest.mark.parametrize("token", ["", "mrl_", "mrl_" + "a" * 43, "nonsense", "mrl_\ud800", "mrl_\x00", "a" * 100_000])
def test_what_is_no_token_is_refused(world, token):
    with pytest.raises(NotSignedIn) as refused:
        caller_for_token(token)
    assert refused.value.advice == NotSignedIn().advice


def test_one_code_for_every_reason_but_the_holder_is_told_which(world, at):
    agent = world.agent("short-lived", expires_days=1)
    revoked = world.agent("dismissed")
    McpToken.objects.filter(name="dismissed").update(revoked_at=NOON)
    at(NOON + timedelta(hours=24))
    told = []
    for token in (agent.token, revoked.token, new_token()):
        with pytest.raises(NotSignedIn) as refused:
            caller_for_token(token)
        told.append((refused.value.code, "expired" in refused.value.advice, "revoked" in refused.value.advice))
    assert told == [("NOT_SIGNED_IN", True, False), ("NOT_SIGNED_IN", False, True), ("NOT_SIGNED_IN", False, False)]


def test_a_token_is_good_until_its_last_second(world, at):
    agent = world.agent("short-lived", expires_days=1)
    at(NOON + timedelta(hours=24, seconds=-1))
    assert agent.caller.name == "short-lived"


def test_a_known_token_costs_one_query(world, at):
    token = world.bobs_agent.token
    caller_for_token(token)
    with CaptureQueriesContext(connection) as queries:
        caller_for_token(token)
    assert len(queries) == 1


def test_the_lookup_uses_the_index_of_digests(world):
    with connection.cursor() as cursor:
        plan = str(cursor.execute(f"EXPLAIN QUERY PLAN {keys.FIND}", ["x"]).fetchall())
    assert "USING INDEX" in plan and "digest=?" in plan


def test_its_use_is_noted_once_a_minute(world, at):
    agent = world.bobs_agent

    def noted():
        return McpToken.objects.get().last_used_at

    assert noted() is None
    _ = agent.caller
    assert noted() == NOON
    at(NOON + timedelta(seconds=59))
    _ = agent.caller
    assert noted() == NOON
    at(NOON + timedelta(seconds=60))
    _ = agent.caller
    assert noted() == NOON + timedelta(seconds=60)


@pytest.mark.django_db(transaction=True)
def test_a_call_does_not_wait_for_another_writer_to_note_its_use():
    from tests.world import World

    agent = World().agent("patient")
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert agent.caller.name == "patient"
        assert McpToken.objects.get().last_used_at is None
    finally:
        other.execute("ROLLBACK")
        other.close()
    _ = agent.caller
    assert McpToken.objects.get().last_used_at is not None
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA busy_timeout").fetchone()[0] == 20_000

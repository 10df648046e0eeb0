"""People: signing in and its pauses, the one-time password, the memory space of a session (WS-043, WS-044, D-08b)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client, RequestFactory

from apps.accounts import first
from apps.accounts.addresses import client_address
from apps.accounts.models import SignInTries, User
from apps.base import clock
from tests.world import PASSWORD, Rest, World

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def at(monkeypatch):
    def set_to(moment):
        monkeypatch.setattr(clock, "now", lambda: moment)

    set_to(NOON)
    return set_to


@pytest.fixture
def visitor(world):
    """A browser nobody has signed in with yet; it sends CSRF tokens as a page would."""
    return Browser()


class Browser(Rest):
    def __init__(self):
        super().__init__(client=Client(enforce_csrf_checks=True, raise_request_exception=False))
        self.get("/session")

    def send(self, method, path, body, **extra):
        token = self.client.cookies["memrelay_csrf"].value
        return super().send(method, path, body, headers={"x-csrftoken": token}, **extra)

    def signs_in(self, name="alice", password=PASSWORD, **extra):
        return self.send("POST", "/session", {"name": name, "password": password}, **extra)


def test_a_person_signs_in_works_and_signs_out(world, visitor):
    _ = world.alice
    assert visitor.get("/projects").status_code == 401
    signed_in = visitor.signs_in()
    assert signed_in.status_code == 200, signed_in.content
    assert signed_in.json()["name"] == "alice" and signed_in.json()["rights"] == ["read", "write", "administer"]
    assert visitor.post("/projects", name="Wiki").status_code == 201
    assert visitor.send("DELETE", "/session", {}).status_code == 204
    assert visitor.get("/projects").status_code == 401


def test_a_session_changes_nothing_without_its_csrf_token(world):
    """The cookie travels with a request that a foreign page made."""
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(world.alice)
    rest = Rest(client=client)
    assert rest.get("/projects").status_code == 200
    refused = rest.post("/projects", name="Forged")
    assert refused.status_code == 403 and refused.json()["error"]["code"] == "CSRF_FAILED"
    for path in ("/session", "/session/profile", "/session/password"):
        body = {"name": "a", "password": "b", "profile_id": "shared", "old": "a", "new": "b"}
        method = "POST" if path == "/session" else "PUT"
        assert rest.send(method, path, body).json()["error"]["code"] in ("CSRF_FAILED", "INVALID")


def test_the_same_answer_for_a_wrong_name_a_wrong_password_and_a_closed_account(world, visitor):
    _ = world.alice
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    answers = {
        (answer.status_code, str(answer.json()))
        for answer in (visitor.signs_in("nobody"), visitor.signs_in(password="wrong"), visitor.signs_in("gone"))
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 401


def test_too_many_failures_for_one_name_make_a_pause_for_it(world, visitor, settings, at):
    settings.SIGN_IN_TRIES = 3
    _ = world.alice
    for number in range(3):
        assert visitor.signs_in(password="wrong", REMOTE_ADDR=f"192.0.2.{number}").status_code == 401
    at(NOON + timedelta(seconds=100))
    paused = visitor.signs_in(REMOTE_ADDR="192.0.2.9")
    assert paused.status_code == 429 and paused.json()["error"]["code"] == "SIGN_IN_PAUSED"
    assert paused["Retry-After"] == "800"
    assert visitor.signs_in("ALICE", REMOTE_ADDR="192.0.2.9").status_code == 429
    at(NOON + timedelta(seconds=900))
    assert visitor.signs_in(REMOTE_ADDR="192.0.2.9").status_code == 200


def test_too_many_failures_from_one_address_make_a_pause_for_it_alone(world, visitor, settings, at):
    settings.SIGN_IN_TRIES = 3
    _ = world.alice
    for number in range(3):
        visitor.signs_in(f"guess{number}", REMOTE_ADDR="192.0.2.1")
    assert visitor.signs_in(REMOTE_ADDR="192.0.2.1").status_code == 429
    assert visitor.signs_in(REMOTE_ADDR="192.0.2.2").status_code == 200


def test_a_success_clears_the_name_and_gives_the_address_one_try_back(world, visitor, settings, at):
    settings.SIGN_IN_TRIES = 3
    _ = world.alice
    for _ in range(2):
        visitor.signs_in(password="wrong")
    assert visitor.signs_in().status_code == 200
    again = Browser()
    assert again.signs_in(password="wrong").status_code == 401
    assert again.signs_in().status_code == 429  # The name is free again; this address has failed 3 times.


def test_what_is_counted_names_nobody(world, visitor):
    visitor.signs_in("my password by mistake")
    assert "mistake" not in str(list(SignInTries.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_guesses_sent_all_at_once_find_no_gap(settings):
    """Tries are counted before the password is looked at, in the database that all processes share."""
    settings.SIGN_IN_TRIES = 4
    _ = World().alice

    def guess(number):
        try:
            return Browser().signs_in(password=f"guess {number}").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = sorted(pool.map(guess, range(12)))
    assert answers == [401] * 4 + [429] * 8


def test_an_address_is_what_our_own_proxy_saw(settings):
    def address(**meta):
        return client_address(RequestFactory().get("/", **meta))

    forged = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "6.6.6.6, 198.51.100.7"}
    assert address(**forged) == "10.0.0.1"
    settings.BEHIND_PROXY = True
    assert address(**forged) == "198.51.100.7"
    assert address(REMOTE_ADDR="10.0.0.1") == "10.0.0.1"
    assert address(REMOTE_ADDR="") == "unknown"
    assert address(REMOTE_ADDR="2001:db8:1:2:3:4:5:6") == address(REMOTE_ADDR="2001:db8:1:2::9") == "2001:db8:1:2::/64"
    assert address(REMOTE_ADDR="::ffff:192.0.2.1") == "192.0.2.1"


def test_the_one_time_password_opens_nothing_but_its_change(world, visitor):
    password = first.ensure_administrator()
    assert first.ensure_administrator() is None
    assert visitor.signs_in("admin", password).json()["must_change_password"] is True
    refused = visitor.get("/projects")
    assert refused.status_code == 403 and refused.json()["error"]["code"] == "PASSWORD_MUST_CHANGE"
    assert visitor.client.get("/admin/").status_code == 302
    changed = visitor.put("/session/password", old=password, new="seven green bottles")
    assert changed.status_code == 200, changed.content
    assert visitor.get("/projects").status_code == 200
    assert visitor.client.get("/admin/").status_code == 200


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("not it", "seven green bottles", "old"),
        (PASSWORD, "short", "new"),
        (PASSWORD, "password123", "new"),
        (PASSWORD, PASSWORD, "new"),
    ],
)
def test_a_password_is_not_changed_without_the_old_one_or_to_a_weak_one(world, visitor, old, new, wrong):
    visitor.signs_in(world.alice.username)
    refused = visitor.put("/session/password", old=old, new=new)
    assert refused.status_code == 422 and list(refused.json()["error"]["facts"]["fields"]) == [wrong]
    world.alice.refresh_from_db()
    assert world.alice.check_password(PASSWORD)


def test_a_changed_password_ends_the_other_sessions(world, visitor):
    other = Browser()
    for browser in (visitor, other):
        assert browser.signs_in(world.alice.username).status_code == 200
    visitor.put("/session/password", old=PASSWORD, new="seven green bottles")
    assert visitor.get("/projects").status_code == 200
    assert other.get("/projects").status_code == 401


def test_the_note_of_the_first_start_is_private_and_goes_with_the_first_sign_in(world, visitor):
    _ = world.alice
    note = first.leave_note("secret")
    assert note.stat().st_mode & 0o777 == 0o600
    visitor.signs_in(password="wrong")
    assert note.exists()
    visitor.signs_in()
    assert not note.exists()


def test_the_first_token_is_made_once(world):
    assert first.ensure_first_token().startswith("mrl_")
    assert first.ensure_first_token() is None


def test_a_session_without_a_choice_belongs_to_shared(world):
    """WS-044."""
    session = world.at_the_console(world.member).get("/session").json()
    assert session["profile_id"] == "shared" and session["profiles"] == ["bob", "shared"]


def test_a_member_chooses_their_own_space_or_shared_and_no_other(world):
    """WS-043, D-08b."""
    world.operator_saves = world.alices_agent.call("usage_profile_save", profile_id="eve", name="Eve")
    bob = world.at_the_console(world.member)
    assert bob.put("/session/profile", profile_id="bob").json()["profile_id"] == "bob"
    refused = bob.put("/session/profile", profile_id="eve")
    assert refused.status_code == 403 and refused.json()["error"]["code"] == "PROFILE_OUT_OF_REACH"
    assert bob.get("/session").json()["profile_id"] == "bob"
    alice = world.at_the_console(world.alice)
    assert alice.put("/session/profile", profile_id="eve").json()["profile_id"] == "eve"
    assert alice.put("/session/profile", profile_id="nobody").status_code == 404


def test_a_space_that_is_disabled_later_gives_way_to_shared(world):
    bob = world.at_the_console(world.member)
    bob.put("/session/profile", profile_id="bob")
    world.alices_agent.call("usage_profile_save", profile_id="bob", enabled=False)
    assert bob.get("/session").json()["profile_id"] == "shared"
    assert bob.put("/session/profile", profile_id="bob").json()["error"]["code"] == "PROFILE_DISABLED"


def test_a_member_reads_and_writes_and_does_not_administer(world):
    bob = world.at_the_console(world.member)
    assert bob.post("/projects", name="Mine").status_code == 201
    assert bob.get("/tokens").status_code == 403


@pytest.mark.parametrize(
    ("cookie", "own", "zone"),
    [
        ("Asia/Tokyo", "Asia/Shanghai", "Asia/Tokyo"),
        ("Mars/Olympus", "Asia/Shanghai", "Asia/Shanghai"),
        ("", "", "UTC"),
        ("../../etc/passwd", "", "UTC"),
        ("a" * 5000, "", "UTC"),
    ],
)
def test_times_are_told_in_the_readers_zone(world, cookie, own, zone):
    """D-25."""
    world.member.zone = own
    world.member.save()
    bob = world.at_the_console(world.member)
    bob.client.cookies["memrelay_zone"] = cookie
    assert bob.get("/session").json()["zone"] == zone


def test_a_dead_session_cookie_is_no_session(world):
    client = Client(raise_request_exception=False)
    client.cookies["memrelay_session"] = "\x00nonsense"
    assert Rest(client=client).get("/projects").status_code == 401

"""The operator's commands: token_create, token_list, token_revoke, password_reset, perform."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.keys import caller_for_token
from apps.accounts.models import McpToken, SignInTries, User
from apps.base import clock
from apps.operations.caller import Right


def said(*command: Any, **options: Any) -> str:
    out = StringIO()
    call_command(*command, stdout=out, **options)
    return out.getvalue()


def test_token_create_prints_the_token_alone(world):
    printed = said(
        "token_create", "--name", "ci", "--profile", world.bobs_space.pk, "--project", world.workspace.pk,
        "--toolset", "full", "--rights", "read, administer", "--expires", "7",
    )  # fmt: skip
    caller = caller_for_token(printed.removesuffix("\n"))
    assert (caller.name, caller.profile, caller.project_id, caller.toolset) == ("ci", "bob", world.workspace.pk, "full")
    assert caller.rights == {Right.READ, Right.ADMINISTER}
    assert McpToken.objects.get().expires_at is not None


@pytest.mark.parametrize(
    "wrong",
    [
        ["--rights", "rule"],
        ["--rights", ""],
        ["--toolset", "all"],
        ["--profile", "nobody"],
        ["--project", "prj_x"],
        ["--expires", "0"],
    ],
)
def test_token_create_says_what_is_wrong_and_makes_nothing(world, wrong):
    with pytest.raises(CommandError):
        said("token_create", "--name", "ci", *wrong)
    assert not McpToken.objects.exists()


def test_tokens_are_listed_and_revoked_by_name_or_id(world):
    world.agent("one")
    two = world.agent("two").caller.token_id
    assert "one" in said("token_list") and two in said("token_list")
    said("token_revoke", "one")
    said("token_revoke", two)
    assert not McpToken.objects.filter(revoked_at=None).exists()
    assert "one" not in said("token_list")
    assert "revoked" in said("token_list", "--all")


def test_a_name_that_two_tokens_bear_revokes_neither(world):
    world.agent("twin")
    world.agent("twin")
    with pytest.raises(CommandError, match="tok_"):
        said("token_revoke", "twin")
    with pytest.raises(CommandError, match="no token"):
        said("token_revoke", "nobody")
    assert McpToken.objects.filter(revoked_at=None).count() == 2


def test_password_reset_prints_a_one_time_password_and_ends_pauses(world):
    SignInTries.objects.create(key="k", tries=99, since=clock.now())
    user = world.alice
    password = said("password_reset", "alice").strip()
    user.refresh_from_db()
    assert user.check_password(password) and user.must_change_password
    assert not SignInTries.objects.exists()


def test_password_reset_of_nobody_is_refused(world):
    with pytest.raises(CommandError, match="no user"):
        said("password_reset")
    User.objects.create_superuser("admin")
    assert said("password_reset").count("-") == 3


def test_perform_runs_any_operation(world):
    made = json.loads(said("perform", "project_create", '{"name": "Wiki"}'))
    assert made["slug"] == "wiki"
    listed = json.loads(said("perform", "project_list"))
    assert [project["project_id"] for project in listed["projects"]] == [made["project_id"]]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("project_get", '{"project_id": "nowhere"}', "NOT_FOUND"),
        ("project_gett", "{}", "NOT_FOUND"),
        ("project_create", "{}", "INVALID"),
        ("project_create", "[]", "INVALID"),
        ("project_create", "{name: x}", "INVALID"),
    ],
)
def test_perform_tells_a_refusal_on_standard_error_and_exits_with_1(world, name, arguments, code):
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        said("perform", name, arguments, stderr=errors)
    assert ended.value.code == 1
    assert json.loads(errors.getvalue())["error"]["code"] == code

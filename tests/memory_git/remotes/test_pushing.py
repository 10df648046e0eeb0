"""The mirror: every commit arrives in order, and neither side is ever overwritten (ACC-033..036)."""

import shutil
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.memory_git.jobs import ring_for_waiting
from apps.memory_git.models import GitCommit, GitConnection, MemoryRepository
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import RemoteAuthFailed, RemoteForbidden, RemoteMoved, RemoteRepositoryMissing
from tests.memory_git.conftest import git
from tests.world import call

pytestmark = pytest.mark.django_db


def test_what_is_saved_arrives_at_the_remote_in_order(memory_git, save, server, repository, states):
    path = server.create()
    server.connect()
    memory_git.on()
    for number in range(3):
        save(f"Note {number}")
    memory_git.work()
    assert server.subjects() == memory_git.subjects() == ["Git baseline", "Save Note 0", "Save Note 1", "Save Note 2"]
    assert set(states()) == {"completed"}
    row = repository()
    assert (row.status, row.behind, row.pushed_commit, row.remote_reachable) == ("ready", 0, row.head, True)
    shutil.rmtree(path)  # Nothing more is pushed, so nobody notices.
    memory_git.work()
    assert repository().status == "ready"


def test_history_of_before_the_connection_is_pushed_too(memory_git, save, server, repository):
    memory_git.on()
    save("Before")
    memory_git.work()
    server.create()
    server.connect()
    memory_git.work()
    assert server.subjects() == ["Git baseline", "Save Before"]
    assert repository().pushed_position == 2


def test_what_came_while_the_remote_was_away_arrives_also_where_something_was_taken_back(
    memory_git, save, server, repository, world
):
    """The tree of the last commit is one of before; the remote lacks what that one brought all the same."""
    server.create()
    server.connect()
    memory_git.on()
    server.away()
    kept = save("Kept", "Only here so far.")
    call(world.operator, "memory_delete", memory_id=save("Taken back"))
    memory_git.work()
    server.back()
    call(world.operator, "memory_repository_sync", repository_id=repository().pk)
    assert server.subjects() == memory_git.subjects() and repository().behind == 0
    path = next(path for path in memory_git.files() if path.endswith("/kept.md"))
    assert kept in git(server.folder / "memory.git", "show", f"main:{path}")


def test_acc_035_commits_go_on_while_the_remote_is_away_and_arrive_when_it_is_back(
    memory_git, save, server, repository, states
):
    server.create()
    server.connect()
    memory_git.on()
    server.away()
    for number in range(5):
        save(f"Note {number}")
        memory_git.work()
    row = repository()
    assert (row.status, row.behind, row.push_attempts) == ("remote_repository_missing", 5, 1)
    assert set(states()[-5:]) == {"pushing", "waiting_remote"} or set(states()[-5:]) == {"waiting_remote"}
    assert row.next_push_at - timezone.now() > timedelta(seconds=500)
    assert ring_for_waiting() == ""
    server.back()
    MemoryRepository.objects.update(next_push_at=timezone.now())
    assert ring_for_waiting()
    memory_git.work()
    assert server.subjects() == memory_git.subjects()
    assert len(server.subjects()) == 6
    assert set(states()) == {"completed"}


def test_acc_034_a_missing_repository_is_named_in_full_and_pushed_once_it_is_made(
    memory_git, save, server, repository, states, world
):
    server.connect()
    memory_git.on()
    save("A note")
    memory_git.work()
    row = repository()
    assert (row.status, row.error_code) == ("remote_repository_missing", "REMOTE_REPOSITORY_MISSING")
    assert server.url() in row.error
    assert row.push_to_create == "unsupported"
    assert call(world.operator, "git_connection_get").capabilities["push_to_create"].state == "unsupported"
    told = call(world.operator, "memory_repository_sync", repository_id=row.pk)
    assert (told.status, told.behind) == ("remote_repository_missing", 2)
    assert server.url() in told.error.message
    server.create()
    told = call(world.operator, "memory_repository_sync", repository_id=row.pk)
    assert (told.status, told.behind, told.error) == ("ready", 0, None)
    assert server.subjects() == ["Git baseline", "Save A note"]
    assert set(states()) == {"completed"}


def test_a_first_push_that_makes_the_repository_is_remembered(memory_git, server, repository, monkeypatch):
    genuine = Remote.push

    def making(self, *arguments, **options):
        if not server.folder.joinpath("memory.git").exists():
            server.create()
        return genuine(self, *arguments, **options)

    monkeypatch.setattr(Remote, "push", making)
    server.connect(allow_write_test=False)
    memory_git.on()
    assert server.subjects() == ["Git baseline"]
    assert repository().push_to_create == "supported"


def test_nothing_is_created_at_the_server_where_that_is_not_allowed(memory_git, server, repository, monkeypatch):
    monkeypatch.setattr(Remote, "push", lambda *_a, **_o: pytest.fail("pushed"))
    server.connect(allow_push_to_create=False, allow_write_test=False)
    memory_git.on()
    assert (repository().status, repository().push_to_create) == ("remote_repository_missing", "unknown")


@pytest.mark.parametrize("anew", [False, True])
def test_acc_036_a_remote_that_went_another_way_stops_pushes_and_nothing_is_overwritten(
    memory_git, save, server, repository, states, world, anew
):
    server.create()
    server.connect()
    memory_git.on()
    save("Ours")
    memory_git.work()
    foreign = server.push_foreign(anew=anew)
    save("Later")
    memory_git.work()
    row = repository()
    assert (row.status, row.error_code, row.remote_commit) == ("remote_diverged", "REMOTE_DIVERGED", foreign)
    assert states()[-1] == "waiting_remote"
    save("Later still")
    memory_git.work()
    call(world.operator, "memory_repository_sync", repository_id=row.pk)
    assert memory_git.subjects()[-1] == "Save Later still"
    assert server.subjects()[-1] == "A commit of somebody else"
    assert ring_for_waiting() == ""
    # The choices: another, empty repository ...
    with pytest.raises(Exception, match="has commits that this history does not have"):
        call(world.operator, "memory_repository_bind", repository_id=row.pk)
    server.create("second.git")
    call(world.operator, "memory_repository_bind", repository_id=row.pk, url=server.url("second.git"))
    memory_git.work()
    assert server.subjects("second.git") == memory_git.subjects()
    assert server.subjects()[-1] == "A commit of somebody else"
    # ... or none.
    call(world.operator, "memory_repository_unbind", repository_id=row.pk)
    save("Local only")
    memory_git.work()
    server.connect()
    memory_git.work()
    assert repository().remote_url == ""
    assert server.subjects("second.git")[-1] == "Save Later still"


def test_a_history_that_lost_its_newest_commits_never_winds_the_remote_back(memory_git, save, server, repository):
    server.create()
    server.connect()
    memory_git.on()
    save("Kept")
    memory_git.work()
    before = server.subjects()
    first = GitCommit.objects.order_by("position").first()
    # As after a restored backup: the branch and the rows end earlier than what was pushed.
    memory_git.run("update-ref", "refs/heads/main", first.sha)
    MemoryRepository.objects.update(head=first.sha, position=1)
    memory_git.work()
    assert server.subjects() == before
    assert repository().status == "remote_diverged"


@pytest.mark.parametrize(("worked_before", "status"), [(False, "configuration_error"), (True, "waiting_remote")])
def test_refused_credentials_are_a_fault_of_the_connection_unless_they_worked_before(
    memory_git, save, server, repository, monkeypatch, worked_before, status
):
    """D-18."""
    server.create()
    server.connect()
    GitConnection.objects.update(succeeded_at=timezone.now() if worked_before else None)

    def refused(*_arguments, **_options):
        raise RemoteAuthFailed()

    monkeypatch.setattr(Remote, "refs", refused)
    memory_git.on()
    assert repository().status == status
    assert (repository().next_push_at is not None) is worked_before


@pytest.mark.parametrize("failure", [RemoteForbidden, RemoteRepositoryMissing])
def test_a_first_push_that_is_refused_says_that_the_repository_is_missing(
    memory_git, server, repository, monkeypatch, failure
):
    def refused(*_arguments, **_options):
        raise failure(url="x")

    server.connect(allow_write_test=False)
    monkeypatch.setattr(Remote, "push", refused)
    memory_git.on()
    assert (repository().status, repository().push_to_create) == ("remote_repository_missing", "unsupported")


def test_a_push_that_crossed_somebody_elses_looks_again(memory_git, save, server, repository, monkeypatch):
    server.create()
    server.connect()
    genuine, tries = Remote.push, []

    def crossed(self, *arguments, **options):
        tries.append(1)
        if len(tries) == 1:
            raise RemoteMoved()
        return genuine(self, *arguments, **options)

    memory_git.on()
    monkeypatch.setattr(Remote, "push", crossed)
    save("A note")
    memory_git.work()
    assert repository().status == "waiting_remote"
    MemoryRepository.objects.update(next_push_at=None)
    memory_git.work()
    assert len(tries) == 2
    assert repository().status == "ready"


def test_each_workspace_has_a_remote_of_its_own(memory_git, save, server, world):
    call(world.operator, "git_settings_update", strategy="per_workspace")
    server.create("memrelay-global.git")
    server.connect("{repo}.git")
    save("Shared note")
    memory_git.on()
    save("Relay note", project_id=world.workspace.pk, scope="")
    memory_git.work()
    shared = MemoryRepository.objects.get(name="memrelay-global")
    relay = MemoryRepository.objects.get(scope_key=f"project/{world.workspace.pk}")
    assert (shared.status, relay.status) == ("ready", "remote_repository_missing")
    assert relay.remote_url == server.url(f"{relay.name}.git")
    call(world.operator, "project_update", project_id=world.workspace.pk, name="Quite another name")
    memory_git.work()
    relay.refresh_from_db()
    assert relay.remote_url == server.url(f"{relay.name}.git")
    server.create(f"{relay.name}.git")
    MemoryRepository.objects.update(next_push_at=None)
    memory_git.work()
    assert server.subjects(f"{relay.name}.git") == memory_git.subjects(root=relay.root)
    assert call(world.operator, "git_connection_get").repositories == MemoryRepository.objects.count()


def test_nothing_is_pushed_while_git_or_the_connection_is_off(memory_git, save, server, repository):
    server.create()
    server.connect()
    memory_git.on()
    save("One")
    server.connect(enabled=False)
    memory_git.work()
    assert server.subjects() == ["Git baseline"]
    server.connect(enabled=True)
    memory_git.off()
    memory_git.work()
    assert server.subjects() == ["Git baseline"]
    memory_git.on()
    assert server.subjects() == memory_git.subjects()


def test_taking_the_connection_away_keeps_both_sides(memory_git, save, server, repository, world, states):
    server.create()
    server.connect()
    memory_git.on()
    save("One")
    server.away()
    memory_git.work()
    call(world.operator, "git_connection_delete")
    assert repository().remote_url == ""
    assert (repository().status, states()[-1]) == ("ready", "cancelled")
    server.back()
    assert server.subjects() == ["Git baseline"]
    assert memory_git.subjects() == ["Git baseline", "Save One"]
    assert not GitConnection.objects.exists()

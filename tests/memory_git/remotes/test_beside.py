"""A push that takes its time holds up no commit (GIT-056)."""

import threading
import time

import pytest

from apps.memory_git.jobs import work, work_here
from apps.memory_git.mirror import pushing
from apps.memory_git.models import GitCommit
from apps.memory_git.remotes.client import Remote

pytestmark = pytest.mark.django_db(transaction=True)


def test_commits_are_made_while_a_push_waits_for_its_server(memory_git, save, server, repository, monkeypatch):
    server.create()
    server.connect()
    memory_git.on()
    genuine, at_work, may_go_on = Remote.push, threading.Event(), threading.Event()

    def slow(self, *arguments, **options):
        at_work.set()
        assert may_go_on.wait(20)
        return genuine(self, *arguments, **options)

    monkeypatch.setattr(Remote, "push", slow)
    save("First")
    worker = threading.Thread(target=work)
    worker.start()
    assert at_work.wait(20)
    save("While it is pushed")
    end = time.monotonic() + 20
    while GitCommit.objects.count() < 3 and time.monotonic() < end:
        time.sleep(0.02)
    assert memory_git.subjects()[-1] == "Save While it is pushed"
    assert server.subjects() == ["Git baseline"]
    may_go_on.set()
    worker.join(20)
    assert server.subjects() == memory_git.subjects()
    assert repository().behind == 0


def test_a_defect_of_pushing_puts_the_repository_off_and_commits_go_on(
    memory_git, save, server, repository, monkeypatch, caplog
):
    server.create()
    server.connect()
    memory_git.on()
    monkeypatch.setattr(pushing, "_brought", lambda *_arguments: 1 / 0)
    save("First")
    work_here()
    save("Second")
    work_here()
    assert memory_git.subjects()[-1] == "Save Second"
    assert repository().next_push_at is not None
    assert "ZeroDivisionError" in caplog.text

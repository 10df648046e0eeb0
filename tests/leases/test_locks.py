"""File locks: the kernel's, one descriptor an acquisition (L-26)."""

import os
import signal
import threading

import pytest
from django.db import transaction

from apps.base.transactions import SlowWorkInTransaction
from apps.leases import locks
from apps.leases.errors import AlreadyServing, LockTaken
from apps.leases.locks import file_lock, first_start_lock, process_lock, role_is_served, scope_lock
from tests.leases.actors import becomes_true


def test_a_lock_is_held_by_one_and_free_afterwards(tmp_path):
    path = tmp_path / "folder" / "lock"

    with file_lock(path):
        with pytest.raises(LockTaken), file_lock(path, blocking=False):
            pass
        with pytest.raises(LockTaken), file_lock(path, timeout=0.01):
            pass
    with file_lock(path, blocking=False):
        pass


def test_whoever_waits_gets_the_lock_when_it_is_given_back(tmp_path):
    path, order = tmp_path / "lock", []
    waiting = threading.Event()

    def wait_for_it() -> None:
        waiting.set()
        with file_lock(path, timeout=10):
            order.append("second")

    with file_lock(path):
        thread = threading.Thread(target=wait_for_it)
        thread.start()
        waiting.wait()
        order.append("first")
    thread.join()

    assert order == ["first", "second"]


def test_a_failure_inside_gives_the_lock_back(tmp_path):
    with pytest.raises(ZeroDivisionError), file_lock(tmp_path / "lock"):
        raise ZeroDivisionError
    with file_lock(tmp_path / "lock", blocking=False):
        pass


def test_the_lock_of_a_killed_process_is_free(actor, run_folder):
    one = actor()
    assert one.says("enter(process_lock('web'))") is None
    assert role_is_served("web")

    one.is_killed()

    assert not role_is_served("web")
    with process_lock("web"):
        assert role_is_served("web")


def test_a_second_server_of_the_same_role_is_refused(actor, monkeypatch):
    monkeypatch.setattr(locks, "PROBE_SECONDS", 0.01)
    with process_lock("worker"):
        assert actor().says("enter(process_lock('worker'))") == "AlreadyServing"
        with pytest.raises(AlreadyServing, match="role worker"), process_lock("worker"):
            pass
        with process_lock("web"):
            pass


def test_a_child_does_not_keep_its_parents_lock(actor):
    for child in ("a_sleeping_child()", "a_sleeping_program()"):
        one = actor()
        assert one.says("enter(process_lock('web'))") is None
        pid = one.says(child)

        one.is_killed()

        assert becomes_true(lambda: not role_is_served("web"))
        os.kill(pid, signal.SIGKILL)


def test_a_child_that_leaves_its_parents_block_does_not_touch_the_parents_lock(actor):
    one = actor()
    one.says("enter(process_lock('web'))")

    assert one.says("in_a_child(go_out)") is None

    assert role_is_served("web")


def test_scopes_are_locked_one_by_one():
    with scope_lock("project/a"), scope_lock("project/b"), first_start_lock():
        with pytest.raises(LockTaken), scope_lock("project/a", timeout=0):
            pass


@pytest.mark.django_db
def test_a_scope_is_not_locked_inside_a_transaction():
    """The order of locks: scope, then repository, then transaction."""
    with transaction.atomic(), pytest.raises(SlowWorkInTransaction):
        scope_lock("project/a")

"""Owners: alive as long as their process is, whatever it does (L-26, L-29)."""

import os
import signal
import threading
from time import monotonic_ns

import pytest

from apps.leases import owners
from apps.leases.owners import end_if_hung, leave, owner_is_alive, sweep_dead_owners, this_owner
from tests.leases.actors import becomes_true


@pytest.fixture
def impatient(monkeypatch):
    """Short times, so that a process is judged within the test."""
    monkeypatch.setattr(owners, "HUNG_SECONDS", 0.2)
    monkeypatch.setattr(owners, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(owners, "SECOND_LOOK_SECONDS", 0.1)


def quick(actor):
    """A process that beats fast, and its owner."""
    actor.says("setting(owners, HEARTBEAT_SECONDS=0.02)")
    return actor.says("this_owner()")


def wait_until_beat_is_old(owner: str) -> None:
    seen = owners._record(owner)
    assert seen
    deadline = seen.beat + int(owners.HUNG_SECONDS * 1e9)
    while monotonic_ns() <= deadline:
        threading.Event().wait(0.02)
    owners._me().beat()  # A busy machine must not make this process look as if it had slept, too.


def test_a_process_is_one_owner_until_it_leaves():
    first = this_owner()

    assert this_owner() == first
    assert owner_is_alive(first)

    leave()

    assert not owner_is_alive(first)
    assert this_owner() != first


@pytest.mark.parametrize("identity", ["", "4f9d2c8e-0000-4000-8000-000000000000"])
def test_whoever_never_entered_is_dead(identity):
    assert not owner_is_alive(identity)


def test_threads_of_a_process_are_the_same_owner():
    seen: set[str] = set()
    threads = [threading.Thread(target=lambda: seen.add(this_owner())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == {this_owner()}


def test_a_killed_process_is_dead(actor):
    one = actor()
    owner = one.says("this_owner()")
    assert owner_is_alive(owner)

    one.is_killed()

    assert not owner_is_alive(owner)


@pytest.mark.parametrize("child", ["a_sleeping_child()", "a_sleeping_program()"])
def test_a_child_that_outlives_its_parent_does_not_keep_the_parent_alive(actor, child):
    one = actor()
    owner = one.says("this_owner()")
    pid = one.says(child)

    one.is_killed()

    assert becomes_true(lambda: not owner_is_alive(owner))
    os.kill(pid, signal.SIGKILL)


def test_a_forked_child_is_an_owner_of_its_own(actor):
    one = actor()
    parent = one.says("this_owner()")

    child, sees_itself, sees_parent = one.says(
        f"in_a_child(lambda: (this_owner(), owner_is_alive(this_owner()), owner_is_alive('{parent}')))"
    )

    assert child != parent
    assert sees_itself and sees_parent
    assert owner_is_alive(parent) and not owner_is_alive(child)
    assert one.says("this_owner()") == parent


def test_the_sweep_removes_the_dead_and_leaves_the_living(actor, run_folder):
    living, dead = actor(), actor()
    kept = {living.says("this_owner()"), this_owner()}
    dead.says("this_owner()")
    dead.is_killed()

    assert sweep_dead_owners() == 1

    assert {path.name for path in (run_folder / "owners").iterdir()} == kept
    assert sweep_dead_owners() == 0
    assert all(owner_is_alive(owner) for owner in kept)


def test_a_sweep_never_removes_an_owner_that_is_just_entering(run_folder):
    over = threading.Event()

    def keep_sweeping() -> None:
        while not over.is_set():
            sweep_dead_owners()

    sweeper = threading.Thread(target=keep_sweeping)
    sweeper.start()
    try:
        for _ in range(200):
            owner = this_owner()
            assert (run_folder / "owners" / owner).exists() and owner_is_alive(owner)
            leave()
    finally:
        over.set()
        sweeper.join()


def test_a_process_that_stopped_beating_is_ended(actor, impatient):
    """L-29."""
    one = actor()
    owner = quick(one)
    os.kill(one.pid, signal.SIGSTOP)
    wait_until_beat_is_old(owner)
    assert owner_is_alive(owner)

    assert end_if_hung(owner)

    assert not owner_is_alive(owner)
    assert one.has_ended() == -signal.SIGKILL


def test_a_process_that_beats_is_left_alone(actor, impatient):
    one = actor()
    owner = quick(one)
    this_owner()

    assert not end_if_hung(owner)
    assert one.says("1 + 1") == 2


def test_a_process_that_wakes_before_the_second_look_is_left_alone(actor, impatient, monkeypatch):
    one = actor()
    owner = quick(one)
    os.kill(one.pid, signal.SIGSTOP)
    wait_until_beat_is_old(owner)

    woken = []

    def wake_it(_seconds: float) -> None:
        os.kill(one.pid, signal.SIGCONT)
        woken.append(one.says("owners._me().beat()"))

    monkeypatch.setattr(owners, "sleep", wake_it)

    assert not end_if_hung(owner)
    assert woken
    assert one.says("1 + 1") == 2


@pytest.mark.parametrize("change", [{"started": 1}, {"world": "another container"}, {"world": ""}])
def test_a_process_that_is_not_certainly_the_owner_is_left_alone(actor, impatient, run_folder, change):
    """A process number may be in use again, or mean another process in another container."""
    one = actor()
    owner = quick(one)
    os.kill(one.pid, signal.SIGSTOP)
    seen = owners._record(owner)
    assert seen
    who = {"pid": seen.pid, "started": seen.started, "world": seen.world} | change
    (run_folder / "owners" / owner).write_text(f"{seen.beat}\n{owners.json.dumps(who)}")
    wait_until_beat_is_old(owner)

    assert not end_if_hung(owner)
    os.kill(one.pid, signal.SIGCONT)
    assert one.says("1 + 1") == 2


def test_nobody_is_judged_by_a_process_that_was_asleep_itself(actor, impatient, monkeypatch):
    one = actor()
    owner = quick(one)
    os.kill(one.pid, signal.SIGSTOP)
    wait_until_beat_is_old(owner)
    monkeypatch.setattr(owners, "HEARTBEAT_SECONDS", 60)
    this_owner()
    owners._me().last_beat -= int(1e9)

    assert not end_if_hung(owner)
    os.kill(one.pid, signal.SIGCONT)
    assert one.says("1 + 1") == 2


def test_a_half_written_or_foreign_file_says_nothing(run_folder):
    (run_folder / "owners").mkdir(parents=True)
    for name, content in {"a": "", "b": "12", "c": "x\n{}", "d": "12\n{}", "e": "12\n[1]"}.items():
        (run_folder / "owners" / name).write_text(content)
        assert not end_if_hung(name)

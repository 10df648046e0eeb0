"""Leases between genuine processes: races, kills, hangs (L-26, L-29, REL-002)."""

import os
import signal

from tests.leases.actors import becomes_true

TAKE = "held_as_tuple(take('job/1', kind='job'))"


def test_of_eight_processes_that_want_a_new_lease_exactly_one_gets_it(worker):
    one = worker()
    for number in range(3):
        answers = one.says(f"in_children(8, lambda: held_as_tuple(take('job/{number}', kind='job')))")
        assert sorted(answers, key=str) == [(f"job/{number}", 1), *[None] * 7]


def test_of_eight_processes_that_want_the_work_of_a_dead_one_exactly_one_gets_it(worker):
    dead, one = worker(), worker()
    assert dead.says(TAKE) == ("job/1", 1)
    assert one.says(TAKE) is None
    dead.is_killed()

    answers = one.says(f"in_children(8, lambda: {TAKE})")

    assert sorted(answers, key=str) == [("job/1", 2), *[None] * 7]


def test_slots_are_shared_by_all_processes(worker):
    one, other = worker(), worker()

    assert one.says("enter(slot('curation'))") and other.says("enter(slot('curation'))")
    assert one.says("enter(slot('curation'))") is None

    other.is_killed()

    assert one.says("enter(slot('curation'))") == ("slot/curation/1", 2)


def test_a_forked_child_does_not_hold_its_parents_lease(worker):
    one, other = worker(), worker()
    one.says(TAKE)

    assert one.says(f"in_a_child(lambda: {TAKE})") is None
    pid = one.says("a_sleeping_child()")
    one.is_killed()

    assert becomes_true(lambda: other.says(TAKE) is not None)
    os.kill(pid, signal.SIGKILL)


def test_the_work_of_a_hung_process_is_taken_over_after_it_was_ended(worker):
    """L-29: killed first, then taken over; what it would have applied is refused by its attempt."""
    hung, other = worker(), worker()
    for one in (hung, other):
        one.says("setting(owners, HUNG_SECONDS=0.3, HEARTBEAT_SECONDS=0.02, SECOND_LOOK_SECONDS=0.05)")
        one.says("this_owner()")
    assert hung.says(TAKE) == ("job/1", 1)
    assert other.says(TAKE) is None

    os.kill(hung.pid, signal.SIGSTOP)

    assert becomes_true(lambda: other.says(TAKE) == ("job/1", 2))
    assert hung.has_ended() == -signal.SIGKILL
    assert other.says("check_attempt('job/1', 1)") == "LeaseLost"
    assert other.says("check_attempt('job/1', 2)") is None


def test_a_living_process_is_never_robbed(worker):
    one, other = worker(), worker()
    one.says(TAKE)

    assert other.says(f"in_children(8, lambda: {TAKE})") == [None] * 8
    assert one.says("check_attempt('job/1', 1)") is None

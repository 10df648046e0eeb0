"""Leases in one process: taking, keeping, giving back, refusing (L-15, L-28, L-29)."""

import threading
from datetime import timedelta

import pytest
from django.db import transaction

from apps.base.clock import now
from apps.base.transactions import SlowWorkInTransaction, short_transaction
from apps.leases import services
from apps.leases.errors import LeaseLost, ScopeBusy
from apps.leases.held import Held, exclusive_key
from apps.leases.models import Lease
from apps.leases.owners import this_owner
from apps.leases.selectors import check_attempt, exclusive_lease_on, is_held, refuse_if_busy
from apps.leases.services import forget_released, holding, release, renew, slot, take, take_slot

pytestmark = pytest.mark.django_db
DEAD = "4f9d2c8e-0000-4000-8000-000000000000"


def left_by_the_dead(key: str, attempt: int = 1) -> None:
    Lease.objects.create(key=key, kind="job", owner=DEAD, attempt=attempt, taken_at=now(), heartbeat_at=now())


def test_a_lease_is_taken_once():
    held = take("job/1", kind="job")

    assert held == Held("job/1", this_owner(), 1)
    assert take("job/1", kind="job") is None
    assert take("job/2", kind="job") is not None
    assert is_held("job/1") and not is_held("job/3")


def test_what_is_given_back_can_be_taken_and_counts_on():
    first = take("job/1", kind="job")
    assert first and release(first)
    assert not is_held("job/1")

    second = take("job/1", kind="job")

    assert second and second.attempt == 2
    assert not release(first) and not renew(first)
    assert renew(second) and is_held("job/1")


def test_the_work_of_the_dead_is_taken_over_at_once():
    left_by_the_dead("job/1", attempt=4)
    assert not is_held("job/1")

    assert take("job/1", kind="job") == Held("job/1", this_owner(), 5)


def test_a_lease_is_not_taken_inside_a_transaction():
    with transaction.atomic(), pytest.raises(SlowWorkInTransaction):
        take("job/1", kind="job")


def test_an_older_attempt_does_not_apply_its_result():
    """L-29."""
    first = take("job/1", kind="job")
    assert first
    with short_transaction():
        check_attempt("job/1", first.attempt)

    release(first)
    with pytest.raises(LeaseLost):
        check_attempt("job/1", first.attempt)

    second = take("job/1", kind="job")
    assert second
    with pytest.raises(LeaseLost):
        check_attempt("job/1", first.attempt)
    check_attempt("job/1", second.attempt)
    with pytest.raises(LeaseLost):
        check_attempt("job/never", 1)


def test_holding_gives_back_at_the_end_even_after_a_failure():
    with pytest.raises(ZeroDivisionError), holding("job/1", kind="job") as held:
        assert held
        with holding("job/1", kind="job") as second:
            assert second is None
        assert is_held("job/1")
        raise ZeroDivisionError
    assert not is_held("job/1")


def test_a_scope_under_an_exclusive_lease_takes_no_changes_but_the_holders(django_assert_num_queries):
    """L-15."""
    refuse_if_busy("project/a")
    with holding(exclusive_key("project/a"), kind="restore") as held, short_transaction():
        with pytest.raises(ScopeBusy) as refused, django_assert_num_queries(1):
            refuse_if_busy("project/a")
        assert refused.value.facts == {"scope": "project/a", "work": "restore"}
        assert refused.value.status == 423 and refused.value.retryable

        refuse_if_busy("project/a", held=held)
        refuse_if_busy("project/b")
        lease = exclusive_lease_on("project/a")
        assert lease and lease.kind == "restore"
    refuse_if_busy("project/a")
    assert exclusive_lease_on("project/a") is None


def test_the_exclusive_lease_of_a_dead_process_keeps_nobody_out():
    left_by_the_dead(exclusive_key("project/a"))

    refuse_if_busy("project/a")
    assert exclusive_lease_on("project/a") is None


def test_there_are_as_many_slots_as_the_settings_say(settings):
    """L-28."""
    settings.SLOTS = {"curation": 2, "git": 1}

    first, second = take_slot("curation"), take_slot("curation")
    assert first and second and take_slot("curation") is None
    with slot("git") as held, slot("git") as full:
        assert held and full is None
    release(first)

    again = take_slot("curation")
    assert again and again.key == first.key

    settings.SLOTS = {"curation": 1}
    release(again)
    assert take_slot("curation") and take_slot("curation") is None


def test_leases_of_work_long_done_are_forgotten():
    done, running = take("job/1", kind="job"), take("job/2", kind="job")
    assert done and running
    release(done)

    assert forget_released(before=now() - timedelta(days=1)) == 0
    assert forget_released(before=now() + timedelta(seconds=1)) == 1
    assert is_held("job/2")


@pytest.mark.django_db(transaction=True)
def test_a_held_lease_has_a_heartbeat(monkeypatch):
    monkeypatch.setattr(services, "HEARTBEAT_SECONDS", 0.01)
    renewed = threading.Event()
    original = services.renew

    def renew_and_tell(held: Held) -> bool:
        still_ours = original(held)
        renewed.set()
        return still_ours

    monkeypatch.setattr(services, "renew", renew_and_tell)

    with holding("job/1", kind="job"):
        taken_at = Lease.objects.get(key="job/1").taken_at
        assert renewed.wait(10)
        assert Lease.objects.get(key="job/1").heartbeat_at > taken_at


@pytest.mark.django_db(transaction=True)
def test_the_heartbeat_ends_when_the_lease_is_somebody_elses(monkeypatch, caplog):
    monkeypatch.setattr(services, "HEARTBEAT_SECONDS", 0.01)
    caplog.set_level("WARNING", logger=services.logger.name)

    with holding("job/1", kind="job") as held:
        assert held
        heart = next(thread for thread in threading.enumerate() if thread.name == "lease job/1")
        Lease.objects.filter(key="job/1").update(owner=DEAD, attempt=2)
        heart.join(10)
        assert not heart.is_alive()

    assert "was taken over" in caplog.text
    assert Lease.objects.get(key="job/1").owner == DEAD

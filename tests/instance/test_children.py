import os
import signal
import time

import pytest

from apps.instance.errors import CannotListen
from apps.instance.serving import children
from apps.instance.serving.children import Child, pause_before
from apps.instance.serving.listening import listen
from apps.instance.serving.processes import Process, everyone, look_at


def sleep():
    time.sleep(60)


def wait_for(child: Child) -> None:
    while not child.has_ended():
        time.sleep(0.005)


@pytest.fixture
def child():
    one = Child("sleeper", sleep)
    yield one
    one.kill()


def test_pauses_grow_and_end_at_half_a_minute():
    assert [pause_before(deaths) for deaths in (1, 2, 3, 4, 5)] == [0.0, 0.5, 1.0, 2.0, 4.0]
    assert pause_before(50) == 30.0


def test_a_child_leads_a_group_of_its_own_and_hears_signals(child):
    child.start()
    while os.getpgid(child.pid) != child.pid:
        time.sleep(0.005)
    assert child.trouble() == ""
    child.ask_to_stop()
    wait_for(child)
    assert child.trouble() == "it was killed by SIGTERM"


def test_a_killed_child_may_start_again_at_once_and_one_that_keeps_dying_waits(child):
    for deaths in range(1, 6):
        child.start()
        os.kill(child.pid, signal.SIGKILL)
        wait_for(child)
        child.put_down(child.trouble())
        assert child.deaths == deaths
    assert child.state == "failing"
    assert child.last_trouble == "it was killed by SIGKILL"


def test_old_deaths_are_forgiven(child, monkeypatch):
    child.start()
    child.deaths = 3
    monkeypatch.setattr(children, "QUIET_SECONDS", -1.0)
    child.forgive()
    assert child.deaths == 0


def test_a_vanished_grandchild_is_trouble():
    family = Child("family", sleep, has_family=True)
    family.start()
    try:
        family.family = {family.pid: look_at(family.pid).started}
        assert family.trouble() == ""
        family.family = {family.pid: 1}  # The pid was given to another process.
        assert "vanished" in family.trouble()
    finally:
        family.kill()


def test_children_are_met_but_not_their_children():
    tree = [
        Process(pid=10, parent=1, started=5, zombie=False),
        Process(pid=11, parent=10, started=6, zombie=False),
        Process(pid=12, parent=11, started=7, zombie=False),
        Process(pid=14, parent=10, started=9, zombie=True),
        Process(pid=15, parent=10, started=10, zombie=False),
    ]
    family = Child("family", sleep, has_family=True)
    family.pid = 10
    family.meet(tree)
    assert family.family == {11: 6, 15: 10}


def test_this_process_stands_in_the_list_of_everyone():
    assert look_at(os.getpid()) in list(everyone())
    assert look_at(2**22 + 1) is None


def test_a_port_is_opened_and_the_reason_told_where_it_cannot_be():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CannotListen, match=f"Port {port} of 127.0.0.1 is in use by another program."):
            listen("127.0.0.1", port)
    with pytest.raises(CannotListen, match="is no address of this machine"):
        listen("no such host", 8765)
    with pytest.raises(CannotListen, match="There is no port 70000"):
        listen("127.0.0.1", 70000)


@pytest.fixture
def guest():
    """A child that is started when somebody wants it."""
    wanted: list[int] = []
    one = Child("guest", sleep, is_wanted=lambda: bool(wanted))
    one.wanted = wanted
    yield one
    one.kill()


def test_one_that_nobody_wants_rests(guest):
    assert guest.state == "resting"
    assert not guest.is_due()
    guest.wanted.append(1)
    assert guest.is_due()
    guest.start()
    assert guest.state == "running"
    assert not guest.is_due()


def test_a_clean_end_of_one_that_is_started_when_wanted_is_rest_and_no_trouble(guest):
    guest.work = bool
    guest.start()
    wait_for(guest)
    assert guest.has_come_to_rest()
    guest.rest()
    assert (guest.state, guest.deaths, guest.pid) == ("resting", 0, 0)


def test_one_that_dies_while_it_is_needed_starts_once_more_and_then_when_it_is_wanted(guest):
    for is_due in (True, False):
        guest.start()
        os.kill(guest.pid, signal.SIGKILL)
        wait_for(guest)
        assert not guest.has_come_to_rest()
        guest.put_down(guest.trouble())
        guest.next_start = 0.0
        assert guest.is_due() is is_due
    guest.wanted.append(1)
    assert guest.is_due()


def test_a_clean_end_of_any_other_child_is_trouble(child):
    child.work = bool
    child.start()
    wait_for(child)
    assert not child.has_come_to_rest()
    assert child.trouble() == "it ended with exit code 0"

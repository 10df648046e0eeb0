import json
import os
import time

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from apps.instance import health
from apps.instance.serving import state


@pytest.fixture(autouse=True)
def run_folder(settings, tmp_path):
    settings.RUN_FOLDER = tmp_path
    health._current.clear()
    return tmp_path


def serving(role: str, **states: str) -> None:
    told = {name: {"state": word, "pid": 1, "starts": 1, "trouble": ""} for name, word in states.items()}
    state.state_file(role).write_text(json.dumps({"pid": 1, "children": told}))


@pytest.fixture
def all_is_well(db):
    serving("web", web="running")
    serving("worker", jobs="running", keeper="running")
    state.beat()


def parts(client) -> dict[str, str]:
    response = client.get("/readyz")
    answer = response.json()
    assert (response.status_code == 200) == (answer["status"] == "ready")
    return {name: word for name, word in answer["parts"].items() if word != "ok"}


def test_healthz_asks_no_database(client, django_assert_num_queries):
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok"}
    assert "no-store" in response["Cache-Control"]


def test_a_server_whose_parts_all_work_is_ready(client, all_is_well):
    assert parts(client) == {}


def test_a_readiness_probe_costs_few_queries(client, all_is_well, django_assert_max_num_queries):
    client.get("/readyz")
    with django_assert_max_num_queries(3):
        client.get("/readyz")


def test_without_a_worker_it_is_not_ready(client, all_is_well):
    state.state_file("worker").unlink()
    assert parts(client) == {"worker": "not running", "keeper": "not running"}


def test_a_state_told_long_ago_is_not_believed(client, all_is_well):
    old = time.time() - 60
    os.utime(state.state_file("web"), (old, old))
    assert parts(client) == {"web": "not running"}


def test_a_child_that_keeps_dying_is_told(client, all_is_well):
    serving("worker", jobs="failing", keeper="restarting")
    assert parts(client) == {"worker": "failing", "keeper": "restarting"}


def test_a_keeper_that_stopped_beating_is_late(client, all_is_well):
    old = time.time() - 600
    os.utime(state.beat_file(), (old, old))
    assert parts(client) == {"keeper": "late"}


def test_jobs_that_nobody_takes_are_told(client, all_is_well):
    OrmQ.objects.create(key="memrelay", payload="", lock=timezone.now() - timezone.timedelta(seconds=301))
    assert parts(client) == {"jobs": "waiting"}


def test_tables_that_are_not_migrated_are_told(client, all_is_well, monkeypatch):
    monkeypatch.setattr(health, "tables_are_current", lambda: False)
    assert parts(client) == {"tables": "not migrated"}


def test_a_database_that_fails_is_told_and_the_rest_too(client, monkeypatch):
    def fails():
        raise health.DatabaseError

    monkeypatch.setattr(health, "tables_are_current", fails)
    serving("web", web="running")
    assert parts(client) == {"database": "failing", "worker": "not running", "keeper": "not running"}

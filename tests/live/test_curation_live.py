"""A curation with genuine processes: its worker is killed while the model thinks, the model goes away and comes back."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.curation.conftest import CHINESE, ENGLISH, GOOD
from tests.doubles.model import ModelDouble
from tests.live.server import LiveServer, children_of, wait_until

SENTENCES = ENGLISH + CHINESE


@pytest.fixture
def model() -> Iterator[ModelDouble]:
    with ModelDouble() as double:
        yield double


def rest(server: LiveServer) -> httpx2.Client:
    return httpx2.Client(
        base_url=f"{server.url}/api/v1", headers={"authorization": f"Bearer {server.token}"}, timeout=60
    )


def prepared(client: httpx2.Client, model: ModelDouble) -> str:
    """A workspace with thirty memories in two languages, and curation switched on; the workspace's id."""
    project = done(client.post("/projects", json={"name": "Relay"}))["project_id"]
    for number in range(30):
        body = f"{SENTENCES[number % len(SENTENCES)]} ({number})"
        done(client.post("/memories", json={"title": f"Note {number:02} 笔记", "body": body, "project_id": project}))
    connection = {"base_url": model.base_url, "text_model": "double-text", "token": "sk-test", "test": True}
    assert done(client.put("/curation/model-connection", json=connection))["state"] == "available"
    done(client.patch("/curation/settings", json={"enabled": True}))
    return str(project)


def done(answer: httpx2.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()


def job_of(client: httpx2.Client, job_id: str) -> Any:
    return done(client.get(f"/curation/jobs/{job_id}"))


def has_ended(client: httpx2.Client, job_id: str, seconds: float = 60) -> Any:
    finals = ("completed", "failed", "cancelled")
    wait_until(lambda: job_of(client, job_id)["state"] in finals, seconds, what="the curation has ended")
    return job_of(client, job_id)


def is_asking(model: ModelDouble, times: int = 1) -> None:
    wait_until(lambda: len(model.generations()) >= times, 30, what="the model is asked")


def kill_family(pid: int) -> None:
    for child in children_of(pid):
        kill_family(child)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def rows(server: LiveServer, statement: str) -> list[Any]:
    database = sqlite3.connect(f"file:{server.data}/memrelay/db/memrelay.sqlite3?mode=ro", uri=True)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()


def assert_one_run_and_one_revision_each(server: LiveServer, client: httpx2.Client, project: str, job: Any) -> None:
    assert (job["state"], job["result"], job["error"]) == ("completed", "applied", "")
    assert (job["sources_read"], job["documents_created"]) == (30, 2)
    assert rows(server, "SELECT state, count(*) FROM curation_curationjob GROUP BY state") == [("completed", 1)]
    revisions = rows(
        server,
        "SELECT m.path, count(*), max(r.number) FROM memories_memory m JOIN memories_memoryrevision r ON r.memory_id = m.id"
        " WHERE m.resource = 'curated' GROUP BY m.path ORDER BY m.path",
    )
    assert revisions == [("curated/current-state.md", 1, 1), ("curated/overview.md", 1, 1)]
    assert rows(server, "SELECT count(*) FROM memories_logicaloperation WHERE name = 'curation_apply'") == [(1,)]
    for item in done(client.get("/curation/documents", params={"project_id": project}))["documents"]:
        told = done(client.get(f"/curation/documents/{item['document_id']}", params={"include_sources": True}))
        assert len(told["sources"]) == 30 and told["body"].count("[[") >= 30
    folder = server.data / "basic-memory" / "memories" / "projects" / project / "curated"
    wait_until(lambda: len(list(folder.glob("*.md"))) == 2, what="both files are written")


def test_a_worker_killed_while_the_model_thinks_ends_in_one_run(tmp_path: Path, model: ModelDouble) -> None:
    with LiveServer(tmp_path, model_retry_seconds=0) as server, rest(server) as client:
        project = prepared(client, model)
        model.answer({**GOOD, "delay": 60})
        model.scenario(otherwise=GOOD)
        job = done(client.post("/curation/jobs", json={"project_id": project}))
        is_asking(model)
        wait_until(lambda: job_of(client, job["job_id"])["phase"] == "asking", what="it says so")
        kill_family(server.child("jobs"))
        ended = has_ended(client, job["job_id"])

        assert_one_run_and_one_revision_each(server, client, project, ended)
        assert [attempt["state"] for attempt in ended["attempts"]] == ["interrupted", "completed"]


def test_a_power_cut_while_the_model_thinks_ends_in_one_run(tmp_path: Path, model: ModelDouble) -> None:
    with LiveServer(tmp_path, model_retry_seconds=0) as server:
        with rest(server) as client:
            project = prepared(client, model)
            model.answer({**GOOD, "delay": 60})
            model.scenario(otherwise=GOOD)
            job = done(client.post("/curation/jobs", json={"project_id": project}))
            is_asking(model)
        server.kill9_all()
        server.start()
        with rest(server) as client:
            ended = has_ended(client, job["job_id"])
            assert_one_run_and_one_revision_each(server, client, project, ended)
            assert job["job_id"] == ended["job_id"] and ended["attempt"] == 2


def test_a_model_that_comes_back_wakes_the_job(tmp_path: Path, model: ModelDouble) -> None:
    with LiveServer(tmp_path, model_retry_seconds=0) as server, rest(server) as client:
        project = prepared(client, model)
        model.stop()
        job = done(client.post("/curation/jobs", json={"project_id": project}))
        wait_until(lambda: job_of(client, job["job_id"])["state"] == "waiting_dependency", 30, what="it waits")
        assert job_of(client, job["job_id"])["error_code"] == "MODEL_UNREACHABLE"
        assert done(client.get("/health"))["state"] != "failed"
        model.start()
        assert done(client.post("/curation/model-connection/test"))["state"] == "available"
        model.scenario(otherwise=GOOD)
        ended = has_ended(client, job["job_id"])

        assert_one_run_and_one_revision_each(server, client, project, ended)
        assert ended["retries"] == 0


def test_a_running_curation_is_cancelled_and_saves_go_on_meanwhile(tmp_path: Path, model: ModelDouble) -> None:
    with LiveServer(tmp_path, model_retry_seconds=0) as server, rest(server) as client:
        project = prepared(client, model)
        model.answer({**GOOD, "delay": 60})
        job = done(client.post("/curation/jobs", json={"project_id": project}))
        is_asking(model)
        done(client.post("/memories", json={"title": "Meanwhile", "body": "Saved.", "project_id": project}))
        assert done(client.post(f"/curation/jobs/{job['job_id']}/cancel"))["cancel_requested"] is True
        ended = has_ended(client, job["job_id"], 20)

        assert ended["state"] == "cancelled"
        assert done(client.get("/curation/documents", params={"project_id": project}))["documents"] == []
        assert rows(server, "SELECT count(*) FROM curation_curationcursor") == [(0,)]

"""An import with genuine processes: saves go on meanwhile, its worker is killed in the middle, each file comes in once."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.live.server import LiveServer, children_of, wait_until
from tests.memories.folder_world import fill, snapshot

FILES = 600
WORDS = "tea kettle house garden 茶壶 花园 error BENCH signal river stone cloud " * 12


@pytest.fixture
def source(tmp_path: Path) -> Path:
    notes = {
        f"f{number % 7}/note {number:04}.md": f"# Note {number:04}\n\n{WORDS}{number}\n" for number in range(FILES)
    }
    return fill(tmp_path / "vault", {**notes, "bad.md": b"\xff\xfe"})


def rest(server: LiveServer) -> httpx2.Client:
    return httpx2.Client(
        base_url=f"{server.url}/api/v1", headers={"authorization": f"Bearer {server.token}"}, timeout=60
    )


def kill_family(pid: int) -> None:
    """``kill -9`` of a process and all below it."""
    for child in children_of(pid):
        kill_family(child)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def job_of(client: httpx2.Client, job_id: str) -> Any:
    answer = client.get(f"/jobs/{job_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def rows(server: LiveServer, statement: str) -> list[Any]:
    database = sqlite3.connect(f"file:{server.data}/memrelay/db/memrelay.sqlite3?mode=ro", uri=True)
    try:
        return database.execute(statement).fetchall()
    finally:
        database.close()


def assert_each_file_is_there_once(server: LiveServer, job_id: str, saved: int = 0) -> None:
    assert rows(server, "SELECT count(*) FROM memories_importedfile")[0][0] == FILES
    titles = rows(server, "SELECT title, count(*) FROM memories_memory WHERE title LIKE 'Note %' GROUP BY title")
    assert len(titles) == FILES and all(count == 1 for _title, count in titles)
    assert rows(server, "SELECT count(*) FROM memories_memoryrevision")[0][0] == FILES + saved
    assert rows(server, "SELECT count(*) FROM search_text")[0][0] == FILES + saved
    folder = server.data / "basic-memory" / "memories" / "global" / "memories"
    wait_until(lambda: len(list(folder.rglob("note ????.md"))) == FILES, what="every file is written")
    states = rows(server, f"SELECT state, name FROM memories_logicaloperation WHERE job_id = '{job_id}'")
    assert states == [("closed", "memory_import")]


def test_saves_go_on_while_the_worker_is_killed_in_the_middle_of_an_import(tmp_path: Path, source: Path) -> None:
    before = snapshot(source)
    with LiveServer(tmp_path, import_folders=str(tmp_path), settle_seconds=1) as server, rest(server) as client:
        job = client.post("/memories/import", json={"folder": str(source), "request_id": "one"}).json()
        stopping, saved, slowest = threading.Event(), [], [0.0]

        def save_on() -> None:
            with rest(server) as own:
                while not stopping.is_set():
                    began = time.monotonic()
                    answer = own.post("/memories", json={"title": f"Saved {len(saved)}", "body": "meanwhile"})
                    slowest[0] = max(slowest[0], time.monotonic() - began)
                    assert answer.status_code == 201, answer.text
                    saved.append(answer.json()["memory_id"])

        saver = threading.Thread(target=save_on)
        saver.start()
        try:
            for share in (0.15, 0.5):
                wait_until(lambda share=share: job_of(client, job["job_id"])["done"] > FILES * share, 60)
                kill_family(server.child("jobs"))
            wait_until(lambda: job_of(client, job["job_id"])["state"] == "completed", 120, what="it is completed")
        finally:
            stopping.set()
            saver.join()
        done = job_of(client, job["job_id"])
        assert (done["imported"], done["skipped"], done["unchanged"], done["done"]) == (FILES, 1, 0, FILES + 1)
        assert [told["code"] for told in done["reports"]] == ["not_utf8"]
        assert len(saved) == len(set(saved)) > 10 and slowest[0] < 10
        again = client.post("/memories/import", json={"folder": str(source), "request_id": "one"}).json()
        assert again["job_id"] == job["job_id"] and again["state"] == "completed"
        assert_each_file_is_there_once(server, job["job_id"], saved=len(saved))
    assert snapshot(source) == before


def test_a_power_cut_in_the_middle_of_an_import_ends_with_each_file_once(tmp_path: Path, source: Path) -> None:
    with LiveServer(tmp_path, import_folders=str(tmp_path), settle_seconds=1) as server, rest(server) as client:
        job = client.post("/memories/import", json={"folder": str(source)}).json()
        wait_until(lambda: job_of(client, job["job_id"])["done"] > FILES * 0.3, 60)
        server.kill9_all()
        server.start()
        wait_until(lambda: job_of(client, job["job_id"])["state"] == "completed", 120, what="it is completed")
        assert_each_file_is_there_once(server, job["job_id"])


def test_an_interrupted_command_goes_on_from_where_it_was(tmp_path: Path, source: Path) -> None:
    with LiveServer(tmp_path) as server:
        command = [sys.executable, "manage.py", "memory_import", str(source)]
        running = subprocess.Popen(
            command, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        wait_until(lambda: (rows(server, "SELECT done FROM memories_folderjob") or [(0,)])[0][0] > 100, 60)
        running.send_signal(signal.SIGINT)
        shown, progress = running.communicate(timeout=60)
        assert running.returncode == 130 and "--resume job_" in shown and "files" in progress
        job_id = shown.partition("--resume ")[2].split()[0]
        assert rows(server, "SELECT state FROM memories_folderjob") == [("paused",)]
        assert f"Imported {FILES}, updated 0, unchanged 0, left out 1." in server.manage(
            "memory_import", "--resume", job_id
        )
        assert_each_file_is_there_once(server, job_id)

"""``manage.py rebuild`` as an operator runs it: refused beside a server, killed and run again, then served."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2

from tests.live.server import PROJECT, LiveServer


def rebuild(server: LiveServer, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {**server.environment, **settings}
    command = [sys.executable, "manage.py", "rebuild", *arguments]
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=120)


def seen(server: LiveServer) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {server.token}"}
    with httpx2.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=30) as client:
        listed = client.get("/memories", params={"limit": 100, "status": "any"}).json()["memories"]
        found = client.get("/memories/search", params={"query": "护城河"}).json()["results"]
        texts = [client.get(f"/memories/{memory['memory_id']}").json() for memory in listed]
    for told in (*listed, *found, *texts):
        told.pop("revision")
    return {"listed": listed, "found": found, "texts": texts}


def test_a_lost_database_is_rebuilt_and_served_again(tmp_path: Path) -> None:
    with LiveServer(tmp_path) as server:
        headers = {"authorization": f"Bearer {server.token}"}
        with httpx2.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=30) as client:
            for number in range(12):
                body = {"title": f"Note {number}", "body": "做好财务护城河。" if number % 2 else "plain"}
                assert client.post("/memories", json=body).status_code == 201
        before = seen(server)
        beside = rebuild(server, "--force")
        assert beside.returncode == 1 and "A server runs" in beside.stderr
        server.stop()
        database = server.data / "memrelay" / "db"
        refused = rebuild(server)
        assert refused.returncode == 1 and "--force" in refused.stderr
        shutil.rmtree(database)
        killed = rebuild(server, MEMRELAY_FAULT_POINT="inside-record")
        assert killed.returncode == -signal.SIGKILL and not (database / "memrelay.sqlite3").exists()
        done = rebuild(server)
        assert done.returncode == 0, done.stderr
        assert "Back: 12 memories" in done.stdout and "- sealed values" in done.stdout
        assert os.listdir(database) == ["memrelay.sqlite3"]
        forced = rebuild(server, "--force")
        assert forced.returncode == 0 and "memrelay.sqlite3.before-rebuild-" in forced.stdout
        server._token = ""  # The old one is among what does not come back.
        server.start()
        assert seen(server) == before

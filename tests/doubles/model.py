"""The model server as tests use it: started as a program, told what to answer, asked what it was asked."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent.parent
SCHEMA_WORDS = ("/v1/chat/completions", "/v1/responses")


class ModelDouble:
    """``with ModelDouble() as model: model.scenario(answers=[{"json": {...}}])``."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> "ModelDouble":
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it; after a stop on the port it had."""
        command = [sys.executable, "-m", "tests.doubles.model_server", "--port", str(self.port)]
        self.process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.port = int(self.process.stdout.readline())

    def stop(self) -> None:
        """End it: from now on nobody listens there."""
        if self.process is not None and self.process.stdout is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self) -> None:
        """The scenario as at the start, and nothing in the log."""
        self._control("PUT", "/_scenario", {})
        self._control("DELETE", "/_log")

    def scenario(self, **fields: Any) -> None:
        self._control("POST", "/_scenario", fields)

    def answer(self, *steps: dict[str, Any]) -> None:
        """Queue these answers, and forget what was asked so far."""
        self.scenario(answers=list(steps))
        self._control("DELETE", "/_log")

    def log(self) -> list[dict[str, Any]]:
        return self._control("GET", "/_log")

    def generations(self) -> list[dict[str, Any]]:
        """The requests for text among those of the log."""
        return [entry for entry in self.log() if entry["path"] in SCHEMA_WORDS]

    def _control(self, method: str, path: str, body: Any = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=content, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            return json.load(response)

"""The hook script: it changes nothing but its own entries, says nothing when something fails, and never holds a prompt up."""

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from client import memrelay_hook

TOKEN = "mrl_a-token-of-this-test"
PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s 1", "prompt": "When do we deploy?", "prompt_id": "p1"}
BLOCK = "<recalled-memory>\nOn Thursdays — 周四\n</recalled-memory>"
OTHERS = {
    "model": "opus",
    "permissions": {"allow": ["Bash(git *)"], "deny": []},
    "hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo 'memrelay-hook run'"}], "x": 1}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}],
    },
    "zeta": 1.5,
    "alpha": "中文",
}


class Ended(BaseException):
    """What takes the place of the end of the process."""


def ended(code: int) -> None:
    assert code == 0
    raise Ended


def _read(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    return stream.buffer.getvalue()  # type: ignore[attr-defined]


class Double:
    """Answers like MemRelay, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], str]] = []
        self.status, self.pause = 200, 0.0
        self.answer: Any = {"block": BLOCK, "count": 1, "silence": ""}
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                double.asked.append((self.path, body, self.headers["Authorization"]))
                time.sleep(double.pause)
                sent = double.answer if isinstance(double.answer, bytes) else json.dumps(double.answer).encode()
                with suppress(OSError):  # Who asked may have given up.
                    self.send_response(double.status)
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                    self.send_header("Content-Length", str(len(sent)))
                    self.end_headers()
                    self.wfile.write(sent)

            def log_message(self, *arguments: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@dataclass
class Done:
    returncode: int
    stdout: bytes
    stderr: bytes


class Home:
    """A person's home folder, and the script as they run it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.settings = folder / ".claude" / "settings.json"
        self.token = folder / "token"
        self.token.write_text(TOKEN + "\n")
        self.token.chmod(0o600)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), "USERPROFILE": str(self.folder)}

    def run(self, *arguments: str, event: Any = None, **environment: str) -> Done:
        """In this process: what would be its standard streams, its environment and its end are put in their place."""
        sent = event if isinstance(event, bytes) else json.dumps(event).encode()
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with pytest.MonkeyPatch.context() as patch, suppress(Ended):
            for name in ("MEMRELAY_TOKEN", "MEMRELAY_HOME"):
                patch.delenv(name, raising=False)
            for name, value in {**self.environment, **environment}.items():
                patch.setenv(name, value)
            patch.setattr(os, "_exit", ended)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            code = memrelay_hook.main(list(arguments))
            return Done(code, *(_read(stream) for stream in streams))
        return Done(0, *(_read(stream) for stream in streams))

    def install(self, *more: str) -> Done:
        return self.run("install", "--url", self.url, "--token-file", str(self.token), *more)

    def hook(self, event: Any, *more: str) -> Done:
        return self.run("run", "--url", self.url, "--token-file", str(self.token), *more, event=event)

    def write(self, content: Any) -> bytes:
        self.settings.parent.mkdir(exist_ok=True)
        raw = (
            content
            if isinstance(content, bytes)
            else (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        )
        self.settings.write_bytes(raw)
        return raw

    def failure(self) -> str:
        return (self.folder / ".memrelay" / "last-failure.txt").read_text()


@pytest.fixture
def double() -> Iterator[Double]:
    one = Double()
    yield one
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture
def person(tmp_path: Path, double: Double) -> Home:
    return Home(tmp_path, double.url)


# What it does with Claude Code's events.


def test_a_prompt_gets_the_block_as_additional_context(person: Home, double: Double) -> None:
    done = person.hook(PROMPT, "--project", "prj_1")
    answer = json.loads(done.stdout)
    assert answer["hookSpecificOutput"] == {"hookEventName": "UserPromptSubmit", "additionalContext": BLOCK}
    assert answer["systemMessage"] == "MemRelay recalled 1 memory."
    sent = {"message": "When do we deploy?", "session_id": "s 1", "message_id": "p1", "project_id": "prj_1"}
    assert double.asked == [("/api/v1/recall", sent, f"Bearer {TOKEN}")]
    assert (done.returncode, done.stderr) == (0, b"")


def test_nothing_recalled_says_nothing(person: Home, double: Double) -> None:
    double.answer = {"block": "", "count": 0, "silence": ""}
    done = person.hook(PROMPT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_compaction_releases_the_session(person: Home, double: Double) -> None:
    done = person.hook({"hook_event_name": "PreCompact", "session_id": "s/1", "trigger": "auto"})
    assert double.asked == [("/api/v1/recall/sessions/s%2F1/release", {"message_ids": []}, f"Bearer {TOKEN}")]
    assert done.stdout == b""


def test_a_stop_asks_nothing_and_reminds_once_where_that_is_wanted(person: Home, double: Double) -> None:
    stop = {"hook_event_name": "Stop", "session_id": "s1", "stop_hook_active": False}
    assert person.hook(stop).stdout == b""
    assert person.hook({**stop, "stop_hook_active": True}, "--remind").stdout == b""
    assert json.loads(person.hook(stop, "--remind").stdout)["decision"] == "block"
    assert person.hook(stop, "--remind").stdout == b""
    assert double.asked == []


def test_subagents_do_not_recall(person: Home, double: Double) -> None:
    assert person.hook({**PROMPT, "agent_id": "a1", "agent_type": "Explore"}).stdout == b""
    assert person.hook({**PROMPT, "prompt": "<task-notification>\nWhen do we deploy?"}).stdout == b""
    assert double.asked == []


def test_a_long_prompt_is_sent_with_its_beginning_and_its_end(person: Home, double: Double) -> None:
    person.hook({**PROMPT, "prompt": "start " + "x" * 200_000 + " end"})
    sent = double.asked[0][1]["message"]
    assert len(sent) <= 30_001 and sent.startswith("start ") and sent.endswith(" end")


# Silent on failure.


@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, {}), (401, {"error": {"code": "NOT_SIGNED_IN"}}), (302, {}), (200, b"<html>"), (200, b"[]"), (200, b"null")],
)
def test_a_bad_answer_leaves_the_prompt_alone(person: Home, double: Double, status: int, answer: Any) -> None:
    double.status, double.answer = status, answer
    done = person.hook(PROMPT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(double.asked) == 1, "No redirect is followed: the token goes nowhere else."
    assert person.failure() and TOKEN not in person.failure()


@pytest.mark.parametrize("event", [b"", b"no json", b"[]", b"null", b'{"hook_event_name": 5}', b'{"session_id": {}}'])
def test_strange_events_are_no_failure(person: Home, event: bytes) -> None:
    done = person.hook(event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_server_that_is_away_or_slow_holds_nothing_up(person: Home, double: Double) -> None:
    double.pause = 0.6
    started = time.monotonic()
    done = person.hook(PROMPT, "--timeout", "0.2")
    assert time.monotonic() - started < 0.6
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "0.2" in person.failure() or "timed out" in person.failure()
    away = person.run("run", "--url", "http://127.0.0.1:1", "--token-file", str(person.token), event=PROMPT)
    assert (away.returncode, away.stdout, away.stderr) == (0, b"", b"")


# Installing and taking out.


def commands(settings: Any) -> dict[str, list[str]]:
    return {
        event: [hook["command"] for group in groups for hook in group["hooks"]]
        for event, groups in settings["hooks"].items()
    }


def test_installing_keeps_everything_else_and_uninstalling_gives_it_back(person: Home) -> None:
    before = person.write(OTHERS)
    done = person.install()
    assert done.returncode == 0, done.stderr
    after = json.loads(person.settings.read_bytes())
    assert list(after) == list(OTHERS)
    assert after["hooks"]["PreToolUse"] == OTHERS["hooks"]["PreToolUse"]  # type: ignore[index]
    assert after["hooks"]["UserPromptSubmit"][0] == OTHERS["hooks"]["UserPromptSubmit"][0]  # type: ignore[index]
    assert {event: len(found) for event, found in commands(after).items()} == {
        "UserPromptSubmit": 2, "PreToolUse": 1, "PreCompact": 1, "Stop": 1,
    }  # fmt: skip
    assert TOKEN not in person.settings.read_text()
    assert person.settings.with_name("settings.json.before-memrelay").read_bytes() == before
    assert person.run("uninstall").returncode == 0
    assert person.settings.read_bytes() == before


def test_the_installed_command_works_as_it_stands(person: Home, double: Double) -> None:
    person.install("--project", "it's a name")
    command = commands(json.loads(person.settings.read_bytes()))["UserPromptSubmit"][0]
    done = subprocess.run(
        ["sh", "-c", command], input=json.dumps(PROMPT).encode(), capture_output=True, timeout=20,
        env=person.environment,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == BLOCK
    assert double.asked[0][1]["project_id"] == "it's a name"


def test_installing_twice_replaces_and_a_third_time_changes_nothing(person: Home) -> None:
    person.install()
    person.install("--timeout", "1", "--remind")
    raw = person.settings.read_bytes()
    assert {event: len(found) for event, found in commands(json.loads(raw)).items()} == dict.fromkeys(
        ("UserPromptSubmit", "PreCompact", "Stop"), 1
    )
    assert b"--remind" in raw
    assert b"Nothing to change" in person.install("--timeout", "1", "--remind").stdout
    person.run("uninstall")
    assert json.loads(person.settings.read_bytes()) == {}


def test_a_missing_settings_file_is_made_for_its_owner_alone(person: Home) -> None:
    assert person.install().returncode == 0
    assert person.settings.stat().st_mode & 0o777 == 0o600
    assert b"no hook" in person.run("status", "--settings", str(person.folder / "other.json")).stdout


@pytest.mark.parametrize(
    "broken",
    [
        b"{",
        b'{"a": 1,}',
        b"// a comment\n{}",
        b"[]",
        b'{"a": 1, "a": 2}',
        b'{"hooks": []}',
        b'{"hooks": {"Stop": {}}}',
        b"\xff\xfe",
    ],
)
def test_a_settings_file_that_is_not_sound_is_refused_and_left_alone(person: Home, broken: bytes) -> None:
    person.write(broken)
    for done in (person.install(), person.run("uninstall"), person.run("status")):
        assert done.returncode == 2 and b"settings.json" in done.stderr and b"Traceback" not in done.stderr
    assert person.settings.read_bytes() == broken
    assert [file.name for file in person.settings.parent.iterdir()] == ["settings.json"]


def test_forms_of_the_file_survive(person: Home) -> None:
    """A byte-order mark, tabs, CRLF, its mode, a link that leads to it."""
    real = person.folder / "dotfiles.json"
    raw = b'\xef\xbb\xbf{\r\n\t"a": 1,\r\n\t"half": "\\ud83d"\r\n}\r\n'
    real.write_bytes(raw)
    real.chmod(0o640)
    person.settings.parent.mkdir()
    person.settings.symlink_to(real)
    assert person.install().returncode == 0
    changed = real.read_bytes()
    assert changed.startswith(b"\xef\xbb\xbf{\r\n\t") and b"\\ud83d" in changed and real.stat().st_mode & 0o777 == 0o640
    assert person.run("uninstall").returncode == 0
    assert person.settings.is_symlink() and real.read_bytes() == raw


@pytest.mark.parametrize(
    "before",
    [
        b'{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}, "a": [1, 2], "b": 1e5}',
        b'{\r\n\t"a": 1,\r\n\t"b": [1, 2]\r\n}',
        b'{"hooks": {"Stop": []}}',
        b"",
    ],
)
def test_uninstalling_gives_every_byte_back_however_the_file_was_written(person: Home, before: bytes) -> None:
    person.write(before)
    person.install()
    person.install("--remind")
    assert person.settings.with_name("settings.json.before-memrelay").read_bytes() == before
    assert b"to the byte" in person.run("uninstall").stdout
    assert person.settings.read_bytes() == before
    assert [file.name for file in person.settings.parent.iterdir()] == ["settings.json"]


def test_what_was_changed_since_the_installation_stays(person: Home) -> None:
    person.write(b'{"a": 1}')
    person.install()
    installed = json.loads(person.settings.read_bytes())
    changed = person.write({**installed, "a": 2})
    assert b"kept" in person.run("uninstall").stdout
    assert json.loads(person.settings.read_bytes()) == {"a": 2}
    assert person.settings.with_name("settings.json.before-memrelay").read_bytes() == changed


@pytest.mark.parametrize("seconds", ["nan", "inf", "0", "-1", "3600", "soon"])
def test_a_time_that_cannot_work_is_refused(person: Home, seconds: str) -> None:
    with pytest.raises(SystemExit):
        person.install(f"--timeout={seconds}")
    assert not person.settings.exists()


def test_a_token_that_others_may_read_is_refused(person: Home) -> None:
    person.token.chmod(0o644)
    done = person.install()
    assert done.returncode == 2 and b"chmod 600" in done.stderr
    assert not person.settings.exists()


def test_a_token_in_the_environment_does_too(person: Home, double: Double) -> None:
    done = person.run("run", "--url", f"{person.url}/mcp", event=PROMPT, MEMRELAY_TOKEN=TOKEN)
    assert done.stdout and double.asked[0][0] == "/api/v1/recall"
    assert person.run("install", "--url", person.url).returncode == 2


def test_status_says_what_is_installed_and_whether_the_server_answers(person: Home, double: Double) -> None:
    person.install()
    done = person.run("status")
    assert done.returncode == 0 and b"UserPromptSubmit, PreCompact, Stop" in done.stdout and b"answers." in done.stdout
    double.status = 401
    assert person.run("status").returncode == 1


def test_an_address_with_a_password_is_refused(person: Home) -> None:
    for url in ("https://me:secret@memory.example.org", "memory.example.org", "ftp://x"):
        done = person.run("install", "--url", url, "--token-file", str(person.token))
        assert done.returncode == 2 and b"--url" in done.stderr and b"secret" not in done.stderr

#!/usr/bin/env python3
"""Recall memories of a MemRelay server while you work with Claude Code.

One file, Python 3.9 or newer, nothing to install:

    python3 memrelay-hook install --url https://memory.example.org --token-file ~/.memrelay/token
    python3 memrelay-hook status
    python3 memrelay-hook uninstall

``install`` adds three hooks to ~/.claude/settings.json (or --settings PATH) and leaves the rest of it as it is:

    UserPromptSubmit   asks the server what your message should bring to mind, and lays that beside it
    PreCompact         tells the server that the transcript is summarised, so that memories may come again
    Stop               nothing, unless installed with --remind: then it reminds the agent once a session of a checkpoint

The token lies in a file that only you can read (--token-file), or in the environment as MEMRELAY_TOKEN; never among the
arguments, since other users of a machine can read those. Whatever fails, your message goes on its way: the hook says
nothing and ends after --timeout seconds (1.5) at the latest. ``status`` tells what went wrong the last time.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Dict
from urllib.parse import quote, urlsplit

NAME = "memrelay-hook"
TIMEOUT = 1.5
LEAST_SECONDS, MOST_SECONDS = 0.1, 30.0
MOST_CHARACTERS = 30_000
NOT_THE_USER = "<task-notification>"  # Claude Code's own message when a subagent or a task in the background ends.
EVENTS = ("UserPromptSubmit", "PreCompact", "Stop")
REMINDER = (
    "Before you stop: if this session did work that somebody may have to pick up, save a checkpoint with MemRelay's"
    " checkpoint_save (what was done, what is open, what comes next). If not, just stop."
)

Json = Dict[str, Any]


class Trouble(Exception):
    """Something a person should know; the text says what to do."""


# --- the hooks ----------------------------------------------------------------------------------------------


def run(given: argparse.Namespace) -> int:
    """One event of Claude Code, from standard input. Silent on failure; never longer than the time-out."""
    worker = threading.Thread(target=_guarded, args=(given,), daemon=True)
    worker.start()
    worker.join(given.timeout)
    if worker.is_alive():
        note_failure(given, f"No answer within {given.timeout:g} s.")
    sys.stdout.flush()
    os._exit(0)  # A connection that hangs must not hold anything up.


def _guarded(given: argparse.Namespace) -> None:
    try:
        event = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        answer = answer_to(event, given) if isinstance(event, dict) else None
        if answer:
            sys.stdout.write(json.dumps(answer))
            sys.stdout.flush()
    except Exception as error:
        note_failure(given, f"{type(error).__name__}: {error}")


def answer_to(event: Json, given: argparse.Namespace) -> Json | None:
    """What Claude Code should read on standard output; None for nothing."""
    name = event.get("hook_event_name")
    session = str(event.get("session_id") or "")
    if not session or event.get("agent_id"):  # A subagent's event: subagents do not recall.
        return None
    if name == "UserPromptSubmit":
        return recall(str(event.get("prompt") or ""), session, event, given)
    if name == "PreCompact":
        post(given, f"/api/v1/recall/sessions/{quote(session, safe='')}/release", {"message_ids": []})
    if name == "Stop" and given.remind:
        return remind(session, event, given)
    return None


def recall(prompt: str, session: str, event: Json, given: argparse.Namespace) -> Json | None:
    if not prompt.strip() or prompt.lstrip().startswith(NOT_THE_USER):
        return None
    if len(prompt) > MOST_CHARACTERS:  # A pasted log: what is wanted stands before or behind it.
        prompt = prompt[: MOST_CHARACTERS // 2] + "\n" + prompt[-MOST_CHARACTERS // 2 :]
    sent: Json = {"message": prompt, "session_id": session[:200]}
    if event.get("prompt_id"):
        sent["message_id"] = str(event["prompt_id"])[:200]
    if given.project:
        sent["project_id"] = given.project
    answer = post(given, "/api/v1/recall", sent)
    if answer.get("silence"):
        note_failure(given, f"The server did not look: {answer['silence']}.")
    block = answer.get("block")
    if not isinstance(block, str) or not block:
        return None
    count = int(answer.get("count") or 0)
    told = {"hookEventName": "UserPromptSubmit", "additionalContext": block}
    return {
        "hookSpecificOutput": told,
        "systemMessage": f"MemRelay recalled {count} {'memory' if count == 1 else 'memories'}.",
    }


def remind(session: str, event: Json, given: argparse.Namespace) -> Json | None:
    """Once a session, and never while Claude Code already goes on because of a hook."""
    if event.get("stop_hook_active"):
        return None
    mark = home() / "reminded" / hashlib.sha256(session.encode()).hexdigest()[:32]
    if mark.exists():
        return None
    mark.parent.mkdir(parents=True, exist_ok=True)
    month_ago = time.time() - 30 * 86_400
    for old in mark.parent.iterdir():
        if old.stat().st_mtime < month_ago:
            old.unlink()
    mark.touch()
    return {"decision": "block", "reason": REMINDER}


def post(given: argparse.Namespace, path: str, body: Json) -> Json:
    """One request. No redirect is followed: the token goes to the address it was given for, and nowhere else."""
    url = urlsplit(given.url)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=given.timeout)
    headers = {
        "Authorization": f"Bearer {token_of(given)}",
        "Content-Type": "application/json",
        "User-Agent": NAME,
    }
    try:
        connection.request("POST", base_path(url.path) + path, json.dumps(body).encode(), headers)
        response = connection.getresponse()
        raw = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise Trouble(f"The server answers {response.status}{_code_in(raw)}.")
    answer = json.loads(raw)
    if not isinstance(answer, dict):
        raise Trouble("The server's answer is none of MemRelay's.")
    return answer


def _code_in(raw: bytes) -> str:
    try:
        return f" {json.loads(raw)['error']['code']}"
    except (ValueError, KeyError, TypeError):
        return ""


def base_path(path: str) -> str:
    """The address as people copy it: with /mcp or /api/v1 behind it, or without."""
    path = path.rstrip("/")
    for end in ("/mcp", "/api/v1"):
        if path.endswith(end):
            return path[: -len(end)]
    return path


def token_of(given: argparse.Namespace) -> str:
    if given.token_file:
        token = Path(given.token_file).expanduser().read_text(encoding="utf-8").strip()
    else:
        token = os.environ.get("MEMRELAY_TOKEN", "").strip()
    if not token:
        raise Trouble("There is no token: give --token-file, or set MEMRELAY_TOKEN.")
    if not token.isascii() or any(character.isspace() for character in token):
        raise Trouble("The token file holds something else than one token.")
    return token


# --- setting up ---------------------------------------------------------------------------------------------


def install(given: argparse.Namespace) -> int:
    url = urlsplit(given.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise Trouble("--url must be the server's address, such as https://memory.example.org.")
    if url.username or url.password:
        raise Trouble("--url must hold no name and no password: other users of this machine can read arguments.")
    if given.token_file:
        given.token_file = os.path.abspath(os.path.expanduser(given.token_file))
        check_secrecy(Path(given.token_file))
    token_of(given)
    script = keep_script()
    file = Settings(given.settings)
    command = command_line(script, given)
    for event in EVENTS:
        file.put(event, {"type": "command", "command": command, "timeout": max(5, int(given.timeout) + 2)})
    changed = file.save(again=file.held_ours)
    say(f"{'Installed' if changed else 'Nothing to change: the hooks are installed'} in {file.path}.")
    if changed and file.kept:
        say(f"The file as it was is kept as {file.backup}.")
    say("Claude Code takes them up at its next start.")
    return 0


def uninstall(given: argparse.Namespace) -> int:
    file = Settings(given.settings)
    removed = sum(file.take_out(event) for event in list(file.hooks))
    if not removed:
        say(f"No hook of MemRelay stands in {file.path}.")
        return 0
    if file.give_back():
        say(f"Removed from {file.path}, which is again as it was, to the byte.")
        return 0
    file.save()
    say(f"Removed from {file.path}. The file as it was is kept as {file.backup}.")
    return 0


def status(given: argparse.Namespace) -> int:
    file = Settings(given.settings)
    found = {event: command for event in EVENTS for command in file.commands(event)}
    say(f"{file.path}: " + (", ".join(found) if found else "no hook of MemRelay."))
    if file.data.get("disableAllHooks"):
        say("disableAllHooks is set there: Claude Code runs no hook at all.")
    failure = home() / "last-failure.txt"
    if failure.exists():
        say(f"The last failure: {failure.read_text(encoding='utf-8').strip()}")
    if not found:
        return 1
    installed = parser().parse_args(arguments_of(next(iter(found.values()))))
    try:
        answer = post(installed, "/api/v1/recall", {"message": "ok", "session_id": "status", "subagent": True})
        silence = answer.get("silence")
        say(f"{installed.url} answers." + (" Recall is switched off there." if silence == "OFF" else ""))
    except (OSError, http.client.HTTPException, ValueError, Trouble) as error:
        say(f"{installed.url}: {error}")
        return 1
    return 0


def check_secrecy(file: Path) -> None:
    try:
        mode = file.stat().st_mode
    except OSError as error:
        raise Trouble(
            f"The token file cannot be read: {error.strerror}. Put the token there, and chmod 600 it."
        ) from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Trouble(f"Others may read {file}. Run: chmod 600 {shlex.quote(str(file))}")


def keep_script() -> Path:
    """This file at a place where it stays, whatever becomes of the folder it was downloaded into."""
    source = Path(__file__).resolve()
    kept = home() / f"{NAME}.py"
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if source != kept.resolve():
        write_whole(kept, source.read_bytes(), 0o700)
    return kept


def home() -> Path:
    return Path(os.environ.get("MEMRELAY_HOME") or Path.home() / ".memrelay")


def command_line(script: Path, given: argparse.Namespace) -> str:
    words = [sys.executable or "python3", str(script), "run", "--url", given.url, "--timeout", f"{given.timeout:g}"]
    if given.token_file:
        words += ["--token-file", given.token_file]
    if given.project:
        words += ["--project", given.project]
    if given.remind:
        words.append("--remind")
    return shlex.join(words) if os.name == "posix" else subprocess.list2cmdline(words)


def arguments_of(command: str) -> list[str]:
    words = split(command)
    return words[words.index("run") :]


def split(command: str) -> list[str]:
    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:
        return []
    return words if os.name == "posix" else [word.strip('"') for word in words]


def is_own(hook: Any) -> bool:
    """Whether a hook is ours: a command that runs this script by its name."""
    if not isinstance(hook, dict) or not isinstance(hook.get("command"), str):
        return False
    words = split(hook["command"])
    return any(
        os.path.basename(word) == f"{NAME}.py" and words[at + 1 : at + 2] == ["run"] for at, word in enumerate(words)
    )


class Settings:
    """Claude Code's settings file. What is not ours is written back as it was read."""

    def __init__(self, path: str | None) -> None:
        named = Path(path).expanduser() if path else Path.home() / ".claude" / "settings.json"
        self.path = Path(os.path.realpath(named))  # A link stays a link: the file it leads to is replaced.
        self.raw = self.path.read_bytes() if self.path.exists() else b""
        self.backup = self.path.with_name(f"{self.path.name}.before-memrelay")
        self.kept = False  # Whether the file as it was has been kept just now.
        self.data = self._read(self.raw)
        hooks = self.data.get("hooks", {})
        if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
            raise Trouble(f'In {self.path} "hooks" is not what Claude Code expects. Nothing was changed.')
        self.hooks: dict[str, list[Any]] = hooks
        self.held_ours = any(self.commands(event) for event in hooks)

    def _read(self, raw: bytes) -> Json:
        if not raw.strip():
            return {}
        try:
            data = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=each_key_once)
        except ValueError as error:
            raise Trouble(f"{self.path} is no sound JSON ({error}). Nothing was changed; mend it first.") from None
        if not isinstance(data, dict):
            raise Trouble(f"{self.path} holds no JSON object. Nothing was changed.")
        return data

    def commands(self, event: str) -> list[str]:
        groups = [group for group in self.hooks.get(event, []) if isinstance(group, dict)]
        return [hook["command"] for group in groups for hook in group.get("hooks") or [] if is_own(hook)]

    def put(self, event: str, hook: Json) -> None:
        """Ours in the place of an older one of ours, else behind all others."""
        for group in self.hooks.get(event, []):
            held = group.get("hooks") if isinstance(group, dict) else None
            for place, one in enumerate(held if isinstance(held, list) else []):
                if is_own(one):
                    held[place] = hook
                    return
        self.data.setdefault("hooks", self.hooks).setdefault(event, []).append({"hooks": [hook]})

    def take_out(self, event: str) -> int:
        """Remove ours; and what held nothing else, since it came with ours."""
        removed = 0
        for group in list(self.hooks[event]):
            held = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(held, list):
                continue
            kept = [hook for hook in held if not is_own(hook)]
            if len(kept) < len(held):
                removed += len(held) - len(kept)
                held[:] = kept
                if not kept:
                    self.hooks[event].remove(group)
        if removed and not self.hooks[event]:
            del self.hooks[event]
        if removed and not self.hooks:
            self.data.pop("hooks", None)
        return removed

    def give_back(self) -> bool:
        """Put the copy in its place, byte for byte, where it says just what is left without ours. False where it does not."""
        if not self.backup.exists():
            return False
        raw = self.backup.read_bytes()
        try:
            before = self._read(raw)
        except Trouble:
            return False
        if without_empty_hooks(before) != without_empty_hooks(self.data):
            return False
        write_whole(self.path, raw, self._mode())
        self.backup.unlink()
        return True

    def save(self, *, again: bool = False) -> bool:
        """Write the file whole, and a copy of what it was beside it. False where nothing changes.

        ``again``: ours stood there already, so that the copy of what was there before them stays.
        """
        text = self.raw.decode("utf-8-sig") if self.raw else ""
        if text.strip() and json.loads(text) == self.data:
            return False
        written = written_out(self.data, indent_of(text))
        if "\r\n" in text:
            written = written.replace("\n", "\r\n")
        mode = self._mode()
        if self.path.exists() and not again:
            write_whole(self.backup, self.raw, mode)
            self.kept = True
        bom = b"\xef\xbb\xbf" if self.raw.startswith(b"\xef\xbb\xbf") else b""
        write_whole(self.path, bom + written.encode("utf-8"), mode)
        return True

    def _mode(self) -> int:
        """That of the file, which must still be what was read."""
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return 0o600
        if self.path.read_bytes() != self.raw:
            raise Trouble(f"{self.path} was changed by somebody else meanwhile. Nothing was changed; try again.")
        return stat.S_IMODE(self.path.stat().st_mode)


def without_empty_hooks(data: Json) -> Json:
    """``{"hooks": {"Stop": []}}`` says no more than ``{}``, and taking ours out leaves none of it."""
    hooks = data.get("hooks")
    held = {event: groups for event, groups in hooks.items() if groups} if isinstance(hooks, dict) else hooks
    return {name: held if name == "hooks" else value for name, value in data.items() if name != "hooks" or held}


def written_out(data: Json, indent: Any) -> str:
    text = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # Half a character, escaped: it can only be written escaped again.
        return json.dumps(data, indent=indent) + "\n"
    return text


def each_key_once(pairs: list[Any]) -> Json:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return data


def indent_of(text: str) -> Any:
    """The indentation the file has: so many blanks, or a tab."""
    for line in text.splitlines()[1:]:
        blank = line[: len(line) - len(line.lstrip())]
        if blank:
            return "\t" if blank[0] == "\t" else len(blank)
    return 2


def write_whole(path: Path, content: bytes, mode: int) -> None:
    """All of it or nothing: a file beside it takes its place."""
    handle, name = tempfile.mkstemp(dir=str(path.parent), prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def note_failure(given: argparse.Namespace, text: str) -> None:
    """For ``status``. It is the last resort of a hook that must say nothing, so it says nothing of its own failure."""
    try:
        file = home() / "last-failure.txt"
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%d %H:%M:%S%z")
        file.write_text(f"{stamp} {text[:500]}\n", encoding="utf-8")
    except OSError:
        return


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def seconds(text: str) -> float:
    """How long a message may wait: with 0 nothing is ever recalled, and without end a hung server holds every message up."""
    number = float(text)
    if not LEAST_SECONDS <= number <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"between {LEAST_SECONDS:g} and {MOST_SECONDS:g} seconds, please")
    return number


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=NAME, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    # A hook that ends with 2 holds the message up, so only the installation is strict.
    for name, does, time_out in (("install", install, seconds), ("run", run, float)):
        one = commands.add_parser(name, allow_abbrev=False)
        one.add_argument("--url", required=True, help="the server's address")
        one.add_argument("--token-file", help="a file with the token, readable by you alone; else MEMRELAY_TOKEN")
        one.add_argument("--project", default="", help="the workspace whose memories come first")
        one.add_argument("--timeout", type=time_out, default=TIMEOUT, help="seconds a message waits at most (1.5)")
        one.add_argument("--remind", action="store_true", help="remind the agent once a session of a checkpoint")
        one.set_defaults(does=does)
    for name, does in (("uninstall", uninstall), ("status", status)):
        one = commands.add_parser(name, allow_abbrev=False)
        one.set_defaults(does=does)
    for name in ("install", "uninstall", "status"):
        commands.choices[name].add_argument("--settings", help="Claude Code's settings file (~/.claude/settings.json)")
    return made


def main(arguments: list[str] | None = None) -> int:
    given = parser().parse_args(arguments)
    try:
        return int(given.does(given))
    except (Trouble, OSError) as error:
        sys.stderr.write(f"{NAME}: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())

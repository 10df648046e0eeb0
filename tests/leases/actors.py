"""Processes that a test can talk to, fork and kill.

``python -m tests.leases.actors FOLDER`` evaluates one expression a line and answers with its ``repr``. Actors of one
folder share its database and its ``run`` folder, as the processes of a server do.
"""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SLOTS = {"curation": 2, "git": 1}


def becomes_true(claim: Callable[[], bool]) -> bool:
    """Whether it holds within a few seconds: a child needs a moment to get to its first instruction."""
    deadline = time.monotonic() + 5
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


class Actor:
    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.leases.actors", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self.process.pid

    def says(self, expression: str) -> Any:
        self.asked(expression)
        return self.answers()

    def asked(self, expression: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()

    def answers(self) -> Any:
        assert self.process.stdout
        return ast.literal_eval(self.process.stdout.readline())

    def is_killed(self) -> None:
        """kill -9, as a crash would."""
        self.process.kill()
        self.has_ended()

    def has_ended(self) -> int:
        code = self.process.wait(10)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe and not pipe.closed:
                pipe.close()
        return code


def main(folder: Path) -> None:
    import django
    from django.conf import settings

    settings.configure(
        USE_TZ=True,
        INSTALLED_APPS=["apps.leases"],
        RUN_FOLDER=folder / "run",
        SLOTS=SLOTS,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": folder / "leases.sqlite3",
                "OPTIONS": {
                    "transaction_mode": "IMMEDIATE",
                    "timeout": 20,
                    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
                },
            }
        },
    )
    django.setup()
    from apps.leases import locks, owners, selectors, services
    from apps.leases.models import Lease

    words: dict[str, Any] = {**globals(), **vars(owners), **vars(services), **vars(selectors), **vars(locks)}
    words |= {"Lease": Lease, "owners": owners, "services": services, "folder": folder, "migrated": _migrated}
    for line in sys.stdin:
        try:
            answer = eval(line, words)
        except Exception as error:
            answer = type(error).__name__
        print(repr(answer), flush=True)


def _migrated() -> bool:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return True


# ------------------------------------------------------------------------------- what actors can be told to do


def setting(module: Any, **values: Any) -> None:
    vars(module).update(values)


_entered: list[Any] = []


def enter(block: Any) -> Any:
    """Go into a ``with`` block and stay there."""
    _entered.append(block)
    return held_as_tuple(block.__enter__())


def go_out() -> None:
    _entered.pop().__exit__(None, None, None)


def held_as_tuple(held: Any) -> tuple[str, int] | None:
    return None if held is None else (held.key, held.attempt)


def in_a_child(work: Callable[[], Any]) -> Any:
    """What the work answers in a forked child."""
    return in_children(1, work)[0]


def in_children(count: int, work: Callable[[], Any]) -> list[Any]:
    """What the work answers in each of several forked children that begin at one moment and live until all are done."""
    from django.db import connections

    connections.close_all()
    gate, open_gate = os.pipe()
    end, tell_end = os.pipe()
    pipes = []
    for _ in range(count):
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(open_gate)
            os.close(tell_end)
            os.read(gate, 1)  # Returns when the parent closes the other end.
            try:
                answer = repr(work())
            except Exception as error:
                answer = repr(f"{type(error).__name__}: {error}")
            os.write(write, answer.encode())
            os.close(write)
            os.read(end, 1)
            os._exit(0)
        os.close(write)
        pipes.append(read)
    os.close(open_gate)
    answers = []
    for read in pipes:
        with os.fdopen(read) as pipe:
            answers.append(ast.literal_eval(pipe.read()))
    os.close(tell_end)
    for _ in range(count):
        os.wait()
    os.close(gate)
    os.close(end)
    return answers


def a_sleeping_child() -> int:
    """A forked child that outlives its parent."""
    pid = os.fork()
    if pid == 0:
        os.close(0)
        os.close(1)
        time.sleep(60)
        os._exit(0)
    return pid


def a_sleeping_program() -> int:
    return subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid


if __name__ == "__main__":
    main(Path(sys.argv[1]))

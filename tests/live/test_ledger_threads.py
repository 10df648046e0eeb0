"""Agents, the keeper and an editor at once, in genuine threads with connections of their own: no error, nothing lost."""

import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.base.errors import MemRelayError
from apps.memories.keeper import Keeper
from apps.memories.ledger.scan import scan
from apps.memories.ledger.sweep import sweep
from apps.memories.models import Memory, MemoryRevision
from apps.memories.scopes import file_of
from apps.operations.caller import Caller
from tests.reported.test_ledger_machine import ORDINARY, SCOPES, compare_files, compare_rows, reported_files
from tests.world import Agent, World, call

pytestmark = pytest.mark.django_db(transaction=True)
WAITS = {"FILE_UNSETTLED", "SCOPE_BUSY"}


class Crowd:
    """Threads that work until the last agent is done; whatever one of them raises fails the test."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.done = threading.Event()

    def run(self, agents: list[Callable[[], None]], others: list[Callable[[], None]]) -> None:
        threads = [threading.Thread(target=self._work, args=[one]) for one in agents]
        company = [threading.Thread(target=self._again_and_again, args=[one]) for one in others]
        for thread in [*threads, *company]:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.done.set()
        for thread in company:
            thread.join(60)
        assert not any(thread.is_alive() for thread in [*threads, *company]), "somebody waits for ever"
        if self.failures:
            raise self.failures[0]

    def _work(self, one: Callable[[], None]) -> None:
        try:
            one()
        except BaseException as failure:
            self.failures.append(failure)
        finally:
            connection.close()

    def _again_and_again(self, one: Callable[[], None]) -> None:
        while not self.done.is_set() and not self.failures:
            self._work(one)


def test_agents_keeper_and_editor_at_once(world: World, settings: Any) -> None:
    settings.SETTLE_SECONDS = 0.0
    agent: Agent = world.bobs_agent
    for scope in SCOPES:
        agent.call("memory_save", title="Anchor", body="anchor\n", scope=scope)
    written: set[str] = set()
    outside: dict[int, str] = {}

    def attempt(name: str, **arguments: Any) -> Any:
        try:
            return agent.call(name, **arguments)
        except MemRelayError as refused:
            assert refused.code in ORDINARY | WAITS, refused.as_dict()
            return None

    def work(number: int) -> Callable[[], None]:
        def deeds() -> None:
            mine = random.Random(number)
            for step in range(6):
                text = f"text-{number}-{step}-end"
                saved = attempt("memory_save", title=f"Note {number} {step}", body=f"{text}\n")
                assert saved is not None
                written.add(text)
                more = f"more-{number}-{step}-end"
                if attempt("memory_append", memory_id=saved.memory_id, text=more):
                    written.add(more)
                shared = f"shared-{number}-{step}-end"
                if attempt("memory_append", memory_id="anchor", text=shared):
                    written.add(shared)
                deed = mine.choice(["archive", "delete", "move", "revert"])
                extra: dict[str, Any] = {"move": {"to_scope": "shared"}, "revert": {"to_revision": 1}}.get(deed, {})
                attempt(f"memory_{deed}", memory_id=saved.memory_id, **extra)

        return deeds

    def keep() -> None:
        Keeper().round(at_once=True)
        time.sleep(0.02)

    def edit() -> None:
        """Append to a file the way editors do: read, write beside, rename over it, only if nobody was faster."""
        row = Memory.objects.exclude(status="deleted").order_by("?").first()
        assert row is not None
        file = file_of(row.scope_id, row.path)
        try:
            before, seen = file.read_bytes(), os.stat(file).st_ino
            text = f"outside-{len(outside)}-end"
            new = file.with_name(f".{len(outside)}.swp")
            new.write_bytes(before + text.encode() + b"\n")
            if os.stat(file).st_ino == seen:
                os.replace(new, file)
                outside[len(outside)] = text
        except FileNotFoundError:
            pass  # Archived, moved or deleted in this moment.
        time.sleep(0.03)

    Crowd().run([work(number) for number in range(3)], [keep, edit])

    for _round in range(3):
        sweep(at_once=True, also=SCOPES)
        for scope in SCOPES:
            if scan(scope).alarm:
                call(Caller.for_command(), "scope_alarm_decide", scope=scope, decision="restore_files")
    sweep(at_once=True, also=SCOPES)
    compare_rows()
    compare_files()
    revisions = map(bytes, MemoryRevision.objects.values_list("document", flat=True))
    everything = b"\n".join([*revisions, *reported_files()]).decode()
    assert not [text for text in [*written, *outside.values()] if text not in everything]
    assert outside

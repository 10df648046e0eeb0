"""Rows 7 and 23 of what users of other memory servers reported, as far as recall with a message goes."""

import logging
import time
from dataclasses import replace
from typing import Any

import pytest
from django.db import OperationalError, connection

from apps.base import clock
from apps.changes.models import Change
from apps.memories.models import Memory, MemoryRevision, Scope
from apps.recall import choosing, services, sessions
from apps.recall.models import MemoryUsage, RecallDelivery
from tests.recall.recall_world import recall, remember
from tests.recall.wordings import CONTRADICTION, CONTRADICTION_IN_CHINESE, IN_CHINESE, WORDINGS
from tests.world import Rest, World, call, ok

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("time_to_recall")]
QUESTION, FRAGE = "Which day do we deploy to production?", "我们星期几部署到生产环境？"


def save_all(rest: Rest, bodies: list[str], title: str) -> list[str]:
    memories = [{"title": f"{title} {number}", "body": body} for number, body in enumerate(bodies, 1)]
    return [one["memory_id"] for one in ok(rest.post("/memories/many", memories=memories), 201)["memories"]]


# Row 23: one fact in 49 wordings, and one contradiction.


@pytest.mark.parametrize(
    ("wordings", "contradiction", "title", "question"),
    [
        (WORDINGS, CONTRADICTION, "Deploy note", QUESTION),
        ([f"Note {n}: {text}" for n, text in enumerate(WORDINGS)], f"Note 99: {CONTRADICTION}", "Deploy", QUESTION),
        ([WORDINGS[0]] * 49, CONTRADICTION, "Deploy day, said for the time", QUESTION),
        (IN_CHINESE, CONTRADICTION_IN_CHINESE, "部署日记录", FRAGE),
    ],
    ids=["different words", "numbered", "the same words", "Chinese"],
)
def test_row_23_one_wording_and_the_contradiction_come_with_their_dates(
    bob: Rest, wordings: list[str], contradiction: str, title: str, question: str
) -> None:
    same = save_all(bob, wordings, title)
    other = remember(bob, f"{title} corrected", contradiction)
    answer = recall(bob, question)
    ids = [one["memory_id"] for one in answer["memories"]]
    assert len(ids) == 2 and other in ids and set(ids) & set(same), [m["title"] for m in answer["memories"]]
    assert contradiction in answer["block"]
    assert answer["block"].count(' updated="') == 2
    assert sum(one["alike"] for one in answer["memories"]) == len(same) - 1
    assert all(one["contradicts"] for one in answer["memories"])


def test_row_23_the_same_again_is_not_repeated_in_other_words_either(bob: Rest) -> None:
    save_all(bob, WORDINGS, "Deploy note")
    remember(bob, "Deploy note corrected", CONTRADICTION)
    assert recall(bob, QUESTION)["count"] == 2
    assert recall(bob, QUESTION)["block"] == ""
    assert recall(bob, "On what day of the week is the production deploy?")["block"] == ""
    assert recall(bob, QUESTION, "another session")["count"] == 2


@pytest.mark.parametrize(
    "message", ["ok", "OK.", "yes", "好的", "谢谢", "thanks!", "👍", "", " ", "\n", "go on", "继续"]
)
def test_row_23_a_nod_brings_nothing_to_mind(bob: Rest, message: str) -> None:
    save_all(bob, WORDINGS, "Deploy note")
    remember(bob, "OK", "ok yes thanks go on", summary="ok yes 好的 谢谢 继续", tags=["ok", "yes", "好的"])
    answer = recall(bob, message)
    assert (answer["block"], answer["silence"]) == ("", "")


def test_row_23_thirty_thousand_characters_are_read_at_both_ends(bob: Rest) -> None:
    key = remember(bob, "Deploy day", WORDINGS[0])
    log = "2026-11-30 12:00:00 INFO worker-7 handled request 0x7f3a in 12 ms\n" * 500
    for number, message in enumerate((log[:30_000], "多" * 30_000, "a b c " * 5_000, "x" * 30_000)):
        answer = recall(bob, message, f"long {number}")
        assert (answer["count"], answer["silence"]) == (0, "")
    for number, message in enumerate((QUESTION + "\n" + log, log + "\n" + QUESTION)):
        assert [one["memory_id"] for one in recall(bob, message, f"asked {number}")["memories"]] == [key]


def test_row_23_a_slow_store_is_given_up_silently_and_logged(
    bob: Rest, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    remember(bob, "Deploy day", WORDINGS[0])
    settings.RECALL_MILLISECONDS = 50
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

    def slow(*arguments: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(endless)

    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(choosing, "find", slow)
        started = time.monotonic()
        answer = recall(bob, QUESTION)
        assert time.monotonic() - started < 1
    assert (answer["block"], answer["silence"]) == ("", "OUT_OF_TIME")
    assert "Recall stayed silent" in caplog.text and QUESTION not in caplog.text
    assert not RecallDelivery.objects.exists()
    assert recall(bob, QUESTION)["count"] == 1, "The connection is as good as before."


@pytest.mark.parametrize(
    ("failure", "silence"),
    [
        (OperationalError("database is locked"), "STORE_BUSY"),
        (ValueError("a defect"), "FAILED"),
        (OSError(5, "x"), "FAILED"),
    ],
)
def test_row_23_no_failure_is_an_error_to_the_client(
    bob: Rest, caplog: pytest.LogCaptureFixture, failure: Exception, silence: str
) -> None:
    remember(bob, "Deploy day", WORDINGS[0])

    def failing(*arguments: Any, **named: Any) -> Any:
        raise failure

    for place in (services, "choose"), (sessions, "deliver"):
        with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
            patch.setattr(*place, failing)
            answer = recall(bob, QUESTION)
            assert (answer["block"], answer["count"], answer["silence"]) == ("", 0, silence)
    assert caplog.text
    assert recall(bob, QUESTION)["count"] == 1


def test_row_23_what_is_recalled_changes_no_memory(bob: Rest) -> None:
    remember(bob, "Deploy day", WORDINGS[0])
    before = [list(model.objects.values().order_by("pk")) for model in (Memory, MemoryRevision, Scope, Change)]
    recall(bob, QUESTION)
    assert [list(model.objects.values().order_by("pk")) for model in (Memory, MemoryRevision, Scope, Change)] == before
    assert MemoryUsage.objects.get().count == 1


# Row 7: what is deleted is never recalled again.


def test_row_7_a_deleted_memory_is_gone_from_recall_at_once(bob: Rest) -> None:
    key = remember(bob, "Deploy day", WORDINGS[0])
    assert recall(bob, QUESTION)["count"] == 1
    assert RecallDelivery.objects.filter(memory_id=key).exists()
    ok(bob.delete(f"/memories/{key}"))
    assert recall(bob, QUESTION, "s2")["block"] == ""
    assert not RecallDelivery.objects.filter(memory_id=key).exists()
    assert not MemoryUsage.objects.filter(memory_id=key).exists()
    assert bob.delete(f"/memories/{key}").status_code == 404


def test_row_7_an_archived_one_does_not_come_and_a_restored_one_does(bob: Rest) -> None:
    key = remember(bob, "Deploy day", WORDINGS[0])
    ok(bob.post(f"/memories/{key}/archive"))
    assert recall(bob, QUESTION)["block"] == ""
    ok(bob.post(f"/memories/{key}/unarchive"))
    ok(bob.delete(f"/memories/{key}"))
    ok(bob.post(f"/memories/{key}/restore"))
    assert recall(bob, QUESTION)["count"] == 1


def test_row_25_dates_are_in_the_readers_zone(world: World) -> None:
    rest = world.bobs_agent.rest
    remember(rest, "Deploy day", WORDINGS[0])
    caller = replace(world.bobs_agent.caller, zone="Asia/Shanghai")
    answer: Any = call(caller, "memory_recall", message=QUESTION, session_id="s1")
    assert '+08:00"' in answer.block and answer.memories[0].updated_at.utcoffset().total_seconds() == 8 * 3600
    assert abs((clock.now() - answer.memories[0].updated_at).total_seconds()) < 60


# Row 23: the agent saves what it was just told.


@pytest.mark.parametrize("language", ["English", "Chinese"])
def test_row_23_a_saved_echo_is_recognised(bob: Rest, language: str) -> None:
    body, question = (WORDINGS[0], QUESTION) if language == "English" else (IN_CHINESE[0], FRAGE)
    title = "Deploy day" if language == "English" else "部署日到生产环境"
    key = remember(bob, title, body, tags=["release"])
    block = recall(bob, question)["block"]
    echo = block.partition(f"\n{title}\n")[2].partition("\n</memory>")[0]
    assert echo == body
    for number, text in enumerate((echo, f"{echo}\n", block)):
        answer = ok(bob.post("/memories", title=f"What I know {number}", body=text), 201)
        assert answer["duplicate"]["memory_id"] == key, text
        ok(bob.delete(f"/memories/{answer['memory_id']}"))
    assert bob.post("/memories", title=title, body=echo).status_code == 409

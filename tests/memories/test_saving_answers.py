"""What ``memory_save`` answers beside the deed: what is related, what says the same, which links lead nowhere yet."""

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from apps.memories.models import Memory
from apps.memories.selectors.likeness import duplicate_of
from apps.search import telling
from apps.search.models import Document
from tests.memories.folder_world import fill, imported
from tests.memories.ledger_world import all_durable, file_of_saved, outside_body, scanned
from tests.world import World, call

pytestmark = pytest.mark.django_db

FACT = "The courier service retries a delivery three times, then it calls the shop and asks for another address."


@pytest.fixture(autouse=True)
def _fresh() -> None:
    telling.forget()


def saved(world: World, title: str, body: str = "x", **more: Any) -> Any:
    return call(world.operator, "memory_save", title=title, body=body, **more)


def titles(answer: Any) -> list[str]:
    return [one.title for one in answer.related]


def test_a_save_names_at_most_three_memories_on_the_same_matter(world: World) -> None:
    for title in (
        "Redis eviction policy",
        "Redis cluster upgrade",
        "Postgres backups",
        "Redis on staging",
        "Redis keys",
    ):
        saved(world, title, f"About {title}.")
    answer = saved(world, "Redis eviction in staging", "We keep LRU.")
    assert len(answer.related) == 3
    assert set(titles(answer)[:2]) == {"Redis eviction policy", "Redis on staging"}
    assert "Postgres backups" not in titles(answer)
    assert answer.duplicate is None


def test_chinese_titles_and_tags_are_related_too(world: World) -> None:
    saved(world, "部署流程", "先跑测试。", tags=["上线"])
    saved(world, "会议纪要", "讨论预算。")
    assert titles(saved(world, "部署失败的处理", "回滚。")) == ["部署流程"]
    assert "部署流程" in titles(saved(world, "周五", "不发布。", tags=["上线"]))


def test_a_common_word_relates_nothing(world: World) -> None:
    items = [{"title": f"Meeting {number}", "body": "x"} for number in range(300)]
    for start in range(0, 300, 100):
        call(world.operator, "memory_save_many", memories=items[start : start + 100])
    assert saved(world, "Meeting of Monday", "x y z").related == []


@pytest.mark.parametrize(
    "again",
    [FACT, f"\r\n{FACT}\r\n", FACT.upper(), FACT.replace(" ", "  ")],
    ids=["same", "line ends", "case", "spaces"],
)
def test_the_same_text_under_another_title_is_a_duplicate(world: World, again: str) -> None:
    first = saved(world, "Courier", FACT)
    answer = saved(world, "How parcels arrive", again)
    assert (answer.duplicate.memory_id, answer.duplicate.title) == (first.memory_id, "Courier")
    assert answer.duplicate.likeness == "same_text"
    assert first.memory_id not in [one.memory_id for one in answer.related]


def test_both_unicode_forms_are_the_same_text(world: World) -> None:
    text = "Übung für die 01_ナレッジベース: jeden Morgen."
    first = saved(world, "Eins", unicodedata.normalize("NFC", text))
    answer = saved(world, "Zwei", unicodedata.normalize("NFD", text))
    assert answer.duplicate.memory_id == first.memory_id


def test_a_text_with_a_few_other_words_is_nearly_the_same(world: World) -> None:
    first = saved(world, "Courier retries", FACT, tags=["delivery"])
    answer = saved(world, "Courier retries twice", FACT.replace("another", "a better"), tags=["delivery"])
    assert (answer.duplicate.memory_id, answer.duplicate.likeness) == (first.memory_id, "nearly_same")


def test_an_echo_under_any_title_is_recognised(world: World) -> None:
    first = saved(world, "Courier", FACT)
    found = duplicate_of(["global/shared"], "Something I was told", FACT.replace("three times", "3 times"))
    assert found is not None and found.memory_id == first.memory_id
    assert duplicate_of(["global/shared"], "Weather", "It will rain tomorrow in the mountains.") is None
    assert duplicate_of([], "Courier", FACT) is None


def test_nothing_is_related_or_twice_that_is_gone_withheld_or_anothers(world: World) -> None:
    hers = world.bobs_agent.call("memory_save", title="Zanzibar route", body=FACT, scope="global")
    gone = saved(world, "Zanzibar plan", FACT)
    call(world.operator, "memory_delete", memory_id=gone.memory_id)
    hidden = saved(world, "Zanzibar key", FACT)
    Memory.objects.filter(stable_id=hidden.memory_id).update(withheld=True)
    answer = saved(world, "Zanzibar harbour", FACT)
    assert (answer.related, answer.duplicate) == ([], None)
    assert hers.related == []
    assert gone.duplicate is None


def test_who_may_not_read_is_told_of_nothing(world: World) -> None:
    saved(world, "Zanzibar route", FACT)
    writer = world.agent("writer", rights=["write"])
    answer = writer.call("memory_save", title="Zanzibar harbour", body=f"{FACT} [[Nowhere]]", scope="shared")
    assert (answer.related, answer.duplicate, answer.missing_links) == ([], None, [])


def test_links_that_lead_nowhere_yet_are_named_and_kept(world: World) -> None:
    saved(world, "Release checklist")
    body = "See [[release checklist]], [[Runbook|ours]], [[Runbook#Steps]], [[部署]], `[[code]]` and [[Plan of mine]]."
    answer = saved(world, "Plan of mine", body)
    assert answer.missing_links == ["Runbook", "部署"]
    assert call(world.operator, "memory_get", memory_id=answer.memory_id).body == body


def test_a_repeat_answers_what_the_first_one_did(world: World) -> None:
    saved(world, "Zanzibar route", FACT)
    call_ = {"title": "Zanzibar harbour", "body": f"{FACT} [[Quay]]", "request_id": "one"}
    first, again = (call(world.operator, "memory_save", **call_) for _ in range(2))
    assert first.model_dump() == again.model_dump()
    assert titles(again) == ["Zanzibar route"] and again.missing_links == ["Quay"]


def test_a_setting_switches_it_off(world: World, settings: Any) -> None:
    saved(world, "Zanzibar route", FACT)
    settings.SAVE_RELATED = False
    answer = saved(world, "Zanzibar harbour", FACT)
    assert (answer.related, answer.duplicate) == ([], None)


def test_the_thread_goes_into_the_head_and_comes_back(world: World) -> None:
    answer = saved(world, "Tea", "Green.", thread="  chat 4711 ")
    read = call(world.operator, "memory_get", memory_id=answer.memory_id)
    assert read.thread == "chat 4711"
    call(world.operator, "memory_update", memory_id=answer.memory_id, revision=1, body="Black.")
    assert call(world.operator, "memory_get", memory_id=answer.memory_id).thread == "chat 4711"
    many = call(world.operator, "memory_save_many", memories=[{"title": "Two", "body": "thread", "thread": "t2"}])
    assert call(world.operator, "memory_get", memory_id=many.memories[0].memory_id).thread == "t2"


def test_a_thread_too_long_is_refused_by_name(world: World) -> None:
    answer = world.alices_agent.rest.post("/memories", title="Tea", body="x", thread="x" * 201)
    assert answer.status_code in (400, 422)
    assert "thread" in answer.json()["error"]["facts"]["fields"]


def test_a_thread_is_read_from_files_changed_or_imported(world: World, tmp_path: Path, settings: Any) -> None:
    answer = saved(world, "Tea", "Green.", thread="chat 4711")
    assert thread_found_by(answer.memory_id) == "chat 4711"
    all_durable()
    outside_body(file_of_saved(answer), "thread: chat 4711", "thread: chat 12")
    scanned(answer.scope)
    assert thread_found_by(answer.memory_id) == "chat 12"
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    imported(world, fill(tmp_path / "notes", {"a.md": "---\ntitle: Brought\nthread: chat 9\n---\nx"}))
    brought = Memory.objects.get(title="Brought")
    assert thread_found_by(brought.stable_id) == "chat 9"


@pytest.mark.parametrize("value", ["[a, b]", "", "{x: y}", "null", "'" + "x" * 300 + "'"])
def test_a_thread_that_is_none_does_no_harm(world: World, tmp_path: Path, settings: Any, value: str) -> None:
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    imported(world, fill(tmp_path / "notes", {"a.md": f"---\ntitle: Brought\nthread: {value}\n---\nx"}))
    assert len(thread_found_by(Memory.objects.get(title="Brought").stable_id)) in (0, 200)


def thread_found_by(memory_id: str) -> str:
    return Document.objects.get(stable_id=memory_id).thread


def test_what_a_memory_is_like_can_be_asked_later(world: World) -> None:
    first = saved(world, "Zanzibar route", FACT)
    second = saved(world, "Harbour", FACT.replace("three", "3"))
    found = call(world.operator, "memory_alike", memory_id=second.memory_id)
    assert (found.duplicate.memory_id, found.duplicate.likeness) == (first.memory_id, "nearly_same")
    assert call(world.operator, "memory_alike", memory_id=first.memory_id).duplicate.memory_id == second.memory_id
    Memory.objects.filter(stable_id=second.memory_id).update(withheld=True)
    assert call(world.operator, "memory_alike", memory_id=second.memory_id).duplicate is None
    assert call(world.operator, "memory_alike", memory_id=first.memory_id).duplicate is None
    assert world.alices_agent.rest.get(f"/memories/{first.memory_id}/alike").json()["related"] == []

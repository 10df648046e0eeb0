"""``memory_search`` as agents call it: modes, what each hit tells, pages, folding, and what it says without vectors."""

from typing import Any

import pytest

from apps.memories.selectors import search as selector
from apps.profiles.models import Profile
from apps.search import hybrid
from apps.search.cursors import Reason
from tests.search.near_by import SaidToBeNear
from tests.world import Agent, World

FACT = "The staging database runs PostgreSQL 16 since the load test in May."


@pytest.fixture
def agent(world: World) -> Agent:
    return world.bobs_agent


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> SaidToBeNear:
    said = SaidToBeNear()
    monkeypatch.setattr(hybrid.asking, "begin", said)
    return said


def save(agent: Agent, title: str, body: str, **more: Any) -> str:
    return str(agent.call("memory_save", title=title, body=body, **more).memory_id)


def test_by_default_words_and_meaning_are_searched(agent: Agent, near: SaidToBeNear) -> None:
    storage = save(agent, "Backup", "The volume had no free space left, so the nightly copy stopped.")
    save(agent, "Lunch", "Lunch with the auditors moved to Thursday.")
    near.z = {storage: 4.0}
    found = agent.call("memory_search", query="disk full")
    assert [hit.memory_id for hit in found.results] == [storage]
    assert (found.mode, found.complete, found.reason) == ("hybrid", True, None)
    assert agent.call("memory_search", query="disk full", mode="text").results == []


def test_a_hit_by_meaning_shows_the_piece_that_is_meant(agent: Agent, near: SaidToBeNear) -> None:
    said = "The volume had no free space left."
    body = f"{'Something about the weather. ' * 30}{said}{' Nothing more of interest.' * 30}"
    memory = save(agent, "Diary", body)
    near.z, near.places = {memory: 4.0}, {memory: (body.index(said), body.index(said) + len(said))}
    hit = agent.call("memory_search", query="disk full").results[0]
    assert said in hit.excerpt
    assert (hit.marks, hit.score, hit.why) == ([], None, None)


def test_a_hit_by_words_shows_them_marked(agent: Agent, near: SaidToBeNear) -> None:
    body = f"{'Something about the weather. ' * 30}The walnut cabinet is at my sister's."
    memory = save(agent, "Diary", body)
    near.z, near.places = {memory: 4.0}, {memory: (0, 20)}
    hit = agent.call("memory_search", query="walnut cabinet").results[0]
    assert [hit.excerpt[start:end] for start, end in hit.marks] == ["walnut", "cabinet"]


def test_explained_every_part_of_a_score_is_told(agent: Agent, near: SaidToBeNear) -> None:
    question = save(
        agent, "Ada", "Ada: Where did you leave the walnut cabinet? " + "It is missed. " * 20, thread="talk"
    )
    answer = save(agent, "Ben", "Ben: At my sister's. " + "She has room. " * 20, thread="talk")
    near.z = {question: 2.0, answer: 2.5}
    found = agent.call("memory_search", query="leave walnut cabinet somewhere", explain=True)
    by_id = {hit.memory_id: hit for hit in found.results}
    why = by_id[question].why
    assert (why.match, why.closeness, why.similarity, why.language) == ("any-word", 2.0, 0.82, "en")
    assert why.words == ["leave", "walnut", "cabinet"]
    assert 0 < why.text < 1
    lent = by_id[answer].why
    assert (lent.match, lent.text, lent.words) == ("meaning", 0.0, [])
    assert lent.neighbours > 0 and lent.thread > 0
    for hit in found.results:
        parts = hit.why.own + hit.why.neighbours + hit.why.thread + hit.why.shape
        assert hit.score == pytest.approx(parts, abs=0.001)


def test_an_exact_hit_says_that_it_comes_first(agent: Agent, near: SaidToBeNear) -> None:
    exact = save(agent, "Diary", "They call it the velvet ladder.")
    other = save(agent, "Furniture", "Steps of soft cloth.")
    near.z = {exact: -1.0, other: 5.0}
    found = agent.call("memory_search", query="velvet ladder", explain=True)
    assert [hit.memory_id for hit in found.results] == [exact, other]
    assert [hit.why.first for hit in found.results] == ["in-a-row", ""]


# --- without vectors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
@pytest.mark.parametrize("reason", [Reason.SEMANTIC_STARTING, Reason.SEMANTIC_UNAVAILABLE])
def test_without_vectors_it_answers_from_words_and_says_so(
    agent: Agent, near: SaidToBeNear, mode: str, reason: Reason
) -> None:
    memory = save(agent, "Diary", "The disk is full.")
    near.reason = reason
    found = agent.call("memory_search", query="disk full", mode=mode)
    assert [hit.memory_id for hit in found.results] == [memory]
    assert (found.mode, found.complete, found.reason) == ("text", False, reason.value)


def test_with_embeddings_off_hybrid_is_text_and_complete(agent: Agent, near: SaidToBeNear) -> None:
    save(agent, "Diary", "The disk is full.")
    near.is_on = False
    found = agent.call("memory_search", query="disk full")
    assert (found.mode, found.complete, found.reason, len(found.results)) == ("text", True, None, 1)


def test_a_deletion_tells_that_words_and_vectors_are_gone(agent: Agent, near: SaidToBeNear) -> None:
    memory = save(agent, "Walnut", "A tree of the garden.")
    near.z = {memory: 4.0}
    assert {"text_index", "vectors"} <= set(agent.call("memory_delete", memory_id=memory).cleaned)
    for mode in ("text", "hybrid", "semantic"):
        assert not agent.call("memory_search", query="walnut", mode=mode, status="any").results


def test_text_mode_asks_no_model(agent: Agent, near: SaidToBeNear) -> None:
    save(agent, "Diary", "即适者生存，生存等于正确的道理。做好财务护城河。")
    for query in ("适者生存", "护城河", "生存"):
        assert len(agent.call("memory_search", query=query, mode="text").results) == 1
    assert agent.call("memory_search", query="止损", mode="text").results == []
    assert near.asked == []


def test_a_search_that_began_by_words_goes_on_by_words(agent: Agent, near: SaidToBeNear) -> None:
    ids = {save(agent, f"Note {number}", f"A walnut, number {number}.") for number in range(4)}
    near.reason = Reason.SEMANTIC_STARTING
    first = agent.call("memory_search", query="walnut", limit=2)
    near.reason = None
    second = agent.call("memory_search", query="walnut", limit=2, cursor=first.next_cursor)
    assert second.mode == "text"
    assert {hit.memory_id for page in (first, second) for hit in page.results} == ids


def test_a_later_page_tells_that_something_changed_though_vectors_are_to_come(agent: Agent, near: SaidToBeNear) -> None:
    near.z = {save(agent, f"Note {number}", f"A walnut, number {number}."): 3.0 for number in range(3)}
    near.doubt = Reason.VECTORS_PENDING
    first = agent.call("memory_search", query="walnut", limit=2)
    assert first.reason == "VECTORS_PENDING"
    save(agent, "Another note", "A walnut more.")
    assert agent.call("memory_search", query="walnut", limit=2, cursor=first.next_cursor).reason == "CURSOR_STALE"


def test_the_setting_says_how_long_a_page_is_where_nobody_does(settings: Any) -> None:
    assert selector.memory_search.arguments.model_fields["limit"].default == settings.SEARCH_LIMIT


@pytest.mark.parametrize("mode", ["text", "hybrid", "semantic"])
def test_pages_fit_together_in_every_mode(agent: Agent, near: SaidToBeNear, mode: str) -> None:
    ids = [save(agent, f"Note {number}", f"A walnut{' tree' * (number % 3)}, number {number}.") for number in range(25)]
    near.z = {memory: 2.0 + (number * 7 % 25) / 10 for number, memory in enumerate(ids)}
    seen: list[str] = []
    cursor = ""
    for _ in range(4):
        page = agent.call("memory_search", query="walnut", mode=mode, limit=7, cursor=cursor)
        seen += [hit.memory_id for hit in page.results]
        cursor = page.next_cursor
    assert not cursor and sorted(seen) == sorted(ids)


# --- folding ---------------------------------------------------------------------------------------------------


def twins(agent: Agent) -> list[str]:
    return [
        save(agent, "Staging", FACT),
        save(agent, "Staging", FACT.replace("runs", "is running"), if_exists="new"),
        save(agent, "Staging", FACT.replace("16", "15"), if_exists="new"),
    ]


def test_several_wordings_are_one_hit_and_a_contradiction_another(agent: Agent, near: SaidToBeNear) -> None:
    one, other, contradiction = twins(agent)
    near.z = {one: 4.0, other: 3.5, contradiction: 3.0}
    found = agent.call("memory_search", query="which database does staging use")
    assert [(hit.memory_id, hit.also) for hit in found.results] == [(one, [other]), (contradiction, [])]


def test_nothing_is_folded_in_text_mode_by_a_filter_or_when_switched_off(
    agent: Agent, near: SaidToBeNear, settings: Any
) -> None:
    near.z = dict.fromkeys(twins(agent), 3.0)
    for arguments in ({"mode": "text"}, {"kind": "note"}):
        found = agent.call("memory_search", query="staging database PostgreSQL", **arguments)
        assert [hit.also for hit in found.results] == [[], [], []]
    settings.SEARCH_FOLD = False
    assert len(agent.call("memory_search", query="staging database PostgreSQL").results) == 3


def test_what_another_may_not_see_is_named_nowhere(world: World, near: SaidToBeNear) -> None:
    eve = world.agent("eve's agent", profile_id=Profile.objects.create(pk="eve", name="Eve").pk)
    theirs = save(world.bobs_agent, "Staging", FACT)
    mine = save(eve, "Staging", FACT)
    near.z = {theirs: 5.0, mine: 4.0}
    found = eve.call("memory_search", query="staging database PostgreSQL", explain=True)
    assert theirs not in found.model_dump_json()
    assert [hit.memory_id for hit in found.results] == [mine]


def test_the_selector_reads_a_page_at_a_bounded_price(
    agent: Agent, near: SaidToBeNear, django_assert_max_num_queries
) -> None:
    near.z = {save(agent, f"Note {number}", f"A walnut, number {number}."): 3.0 for number in range(12)}
    assert selector.SPARE < 50
    with django_assert_max_num_queries(20):
        agent.call("memory_search", query="walnut")

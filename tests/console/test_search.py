"""Searching on a page: what is shown of a text, what narrows it, what a reader is told."""

import re
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation

from apps.console.excerpts import parts_of
from apps.console.refusals import INCOMPLETE
from apps.console.whys import MATCHES, why_of
from apps.memories.embedding import SearchStateOut
from apps.memories.schemas import SearchHit, WhyOut
from apps.search import hybrid
from apps.search.cursors import Reason
from apps.search.expressions import Match
from tests.console.looking import text_of
from tests.search.near_by import SaidToBeNear
from tests.world import World, call

READ_AS = {
    "# Deploying We **deploy** on *Thursdays*": "Deploying We deploy on Thursdays",
    "…before noon. ## Steps - first - second": "…before noon. Steps - first - second",
    "see [[Release|the list]], [[Runbook]], [docs](https://a.b/c) ![plan](p.png)": "see the list, Runbook, docs plan",
    "`a | b` and `**kwargs` stay, `` a`b `` too": "a | b and **kwargs stay, a`b too",
    "snake_case_name, _said_ __loudly__, 2**8, *.py and *.md": "snake_case_name, said loudly, 2**8, *.py and *.md",
    "| a | b | | --- | --- | | 1 | 2 |": "a · b · 1 · 2",
    "a || b && c | d": "a || b && c | d",
    "- [ ] open - [x] done": "☐ open ☑ done",
    "请**务必**检查。## 步骤 先看[[数据库]]": "请务必检查。## 步骤 先看数据库",
    "…ld** and then *": "…ld and then *",
    "C# and F#, #tag and # heading": "C# and F#, #tag and heading",
    "```python x = 1 ```": "x = 1",
    "a \\* b ~~gone~~ <https://a.b/c>": "a * b gone https://a.b/c",
    "> quoted > 3": "quoted > 3",
    "a * b * c": "a * b * c",
    "": "",
}


def shown(text: str, *marks: tuple[int, int]) -> str:
    return "".join(f"«{part.text}»" if part.matched else part.text for part in parts_of(text, marks))


@pytest.mark.parametrize("text", READ_AS)
def test_an_excerpt_is_read_without_its_markdown(text: str) -> None:
    assert shown(text) == READ_AS[text]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("run **deploy** then [deploy docs](http://deploy.x) `deploy`", "run «deploy» then «deploy» docs «deploy»"),
        ("## deploy [[deploy|deploy it]] | deploy", "«deploy» «deploy» it | «deploy»"),
        ("deploy", "«deploy»"),
    ],
)
def test_marks_stay_on_their_words(text: str, wanted: str) -> None:
    assert shown(text, *(found.span() for found in re.finditer("deploy", text))) == wanted


def test_a_mark_across_what_is_taken_out_stays_whole() -> None:
    assert shown("multi**-agent** work", (0, 13)) == "«multi-agent» work"


def test_the_page_finds_marks_and_leads_on(world: World, alice: Client) -> None:
    here = {"project_id": world.workspace.pk}
    rule: Any = call(
        world.operator, "memory_save", title="部署流程", body="先**灰度** 10%，再全量部署。", kind="rule", **here
    )
    done: Any = call(world.operator, "checkpoint_save", title="Half way", completed="部署一半。", **here)
    page = text_of(alice, "/search", query="部署")
    assert f'href="/memory/{rule.memory_id}"><mark>部署</mark>流程</a>' in page
    assert "先灰度 10%，再全量<mark>部署</mark>。" in page
    assert f'href="/checkpoint/{done.memory_id}"' in page
    assert "2 results" in page


def test_filters_narrow_and_can_be_cleared(world: World, alice: Client) -> None:
    here = {"project_id": world.workspace.pk}
    call(
        world.operator, "memory_save", title="Tea rule", body="Green tea.", kind="rule", tags=["drinks", "hot"], **here
    )
    call(world.operator, "memory_save", title="Tea note", body="Black tea.")
    old: Any = call(world.operator, "memory_save", title="Old tea", body="Oolong tea.")
    call(world.operator, "memory_archive", memory_id=old.memory_id, revision=1)
    call(world.operator, "checkpoint_save", title="Tea break", completed="tea", **here)

    def titles(**filters: str) -> set[str]:
        page = text_of(alice, "/search", query="tea", **filters)
        return {re.sub("<.*?>", "", title) for title in re.findall(r'class="row-link" [^>]*>(.*?)</a>', page)}

    assert titles() == {"Tea rule", "Tea note", "Tea break"}
    assert titles(kind="rule") == {"Tea rule"}
    assert titles(tags="#hot，drinks") == {"Tea rule"}
    assert titles(resource="checkpoint") == {"Tea break"}
    assert titles(status="archived") == {"Old tea"}
    assert titles(status="any") >= {"Old tea", "Tea note"}
    assert titles(updated_to="2020-01-01") == set()
    assert titles(updated_from="2020-01-01", project_id="global") == {"Tea note"}
    page = text_of(alice, "/search", query="tea", updated_to="2020-01-01")
    assert '<details class="filter-more" open>' in page
    assert 'href="/search?query=tea">Clear the filters</a>' in page


def test_an_answer_to_htmx_is_the_results_and_their_number(world: World, alice: Client) -> None:
    nights = [{"title": f"Night {n}", "body": f"Run {n}."} for n in range(45)]
    call(world.operator, "memory_save_many", memories=nights)
    first = alice.get("/search", {"query": "night"}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in first and 'hx-swap-oob="true"' in first
    assert "The 20 best results, and there are more" in first
    [more] = re.findall(r'href="(/search\?[^"]*cursor=[^"]*)"', first)
    second = alice.get(more.replace("&amp;", "&"), headers={"HX-Request": "true"}).content.decode()
    assert second.lstrip().startswith("<li") and second.count('class="row-link"') == 20
    assert "The best results, and there are more</p>" in second
    [last] = re.findall(r'href="(/search\?[^"]*cursor=[^"]*)"', second)
    assert "All results</p>" in alice.get(last.replace("&amp;", "&"), headers={"HX-Request": "true"}).content.decode()
    assert set(re.findall("Night</mark> ([0-9]+)", first)).isdisjoint(re.findall("Night</mark> ([0-9]+)", second))
    assert "Back to the first page" in text_of(alice, more.replace("&amp;", "&"))
    call(world.operator, "memory_save", title="Night 99", body="Another one.")
    later = alice.get(more.replace("&amp;", "&"), headers={"HX-Request": "true"}).content.decode()
    assert str(INCOMPLETE["CURSOR_STALE"]) in later and later.count('class="row-link"') == 20
    broken = alice.get("/search?query=night&cursor=broken", headers={"HX-Request": "true"}).content.decode()
    assert "<li" in broken and "first page" in broken and 'class="row-link"' not in broken


ROW_3 = ["multi-agent", "don't use", "GB/s", "src/main.py", "C++", "BENCH-100821", '"unclosed', "a AND"]
NOTHING = [
    "*",
    "...",
    "。",
    '"',
    "NEAR(",
    "^",
    "-",
    "(",
    "%",
    "{}",
    "\\",
    "\x00",
    "AND",
    "OR NOT",
    "title:",
    "a\ud800b",
]


@pytest.mark.parametrize("query", ROW_3)
def test_row_3_ordinary_punctuation_finds_its_memory_first_on_the_page_and_over_rest(
    world: World, alice: Client, query: str
) -> None:
    wanted: Any = call(world.operator, "memory_save", title="One", body=f"This says {query} once.")
    call(world.operator, "memory_save", title="Other", body="multi agent use GB s main py c bench main unclosed and")
    page = text_of(alice, "/search", query=query)
    assert re.findall(r'class="row-link" href="([^"]*)"', page)[0] == f"/memory/{wanted.memory_id}"
    answer = world.alices_agent.rest.get("/memories/search", query=query)
    assert answer.status_code == 200 and answer.json()["results"][0]["memory_id"] == wanted.memory_id


@pytest.mark.parametrize("query", [*NOTHING, "", " "])
def test_row_3_nothing_to_search_for_is_answered_in_words_and_never_the_whole_store(
    world: World, alice: Client, query: str
) -> None:
    call(world.operator, "memory_save", title="Walnut", body="A tree.")
    page = alice.get("/search", {"query": query.encode("utf-8", "surrogatepass")})
    assert page.status_code == 200 and "empty-state" in page.content.decode() and "Walnut" not in page.content.decode()
    answer = world.alices_agent.rest.get("/memories/search", query=query.encode("utf-8", "surrogatepass"))
    assert answer.status_code in (200, 422)
    assert not answer.json().get("results")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_why_results_are_not_all_is_a_sentence(reason: Reason, language: str) -> None:
    with translation.override(language):
        told = str(INCOMPLETE[reason.value])
    assert told[-1] in ".。"
    assert bool(re.search("[一-鿿]", told)) is (language == "zh-hans")


def test_a_search_explains_itself_when_asked(world: World, alice: Client) -> None:
    call(world.operator, "memory_save", title="Tea", body="Green tea, two minutes.")
    assert "It holds" not in text_of(alice, "/search", query="green minutes")
    page = text_of(alice, "/search", query="green minutes", explain="1", mode="text")
    assert "It holds all words of the search. Words: green, minutes." in page and "Score " in page
    assert "The search is its title." in text_of(alice, "/search", query="tea", explain="1")


@pytest.mark.parametrize("match", list(Match))
def test_every_kind_of_match_is_a_sentence(match: Match) -> None:
    assert str(MATCHES[match.value]).endswith(".")


def test_what_a_result_owes_to_meaning_is_told() -> None:
    why = WhyOut(match="meaning", similarity=0.8412, thread=0.2, shape=-0.3)
    told = why_of(SearchHit.model_construct(why=why))
    assert told == [
        "It holds none of the words; its meaning is near.",
        "Similarity of meaning: 0.84 of 1.",
        "What was said around it in its thread fits, too.",
        "Very short texts and questions come a little lower.",
    ]


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (WhyOut(match="in-a-row", words=["deploy"], first="in-a-row"), "It holds the word deploy."),
        (WhyOut(match="in-a-row", words=["green", "tea"]), "It holds all words one behind the other."),
        (WhyOut(match="meaning", words=["deploy"]), "Its meaning is near."),
    ],
)
def test_what_is_said_of_the_words_is_true_of_them(why: WhyOut, told: str) -> None:
    assert why_of(SearchHit.model_construct(why=why))[0] == told


def test_other_wordings_are_called_by_their_titles(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = SaidToBeNear()
    monkeypatch.setattr(hybrid.asking, "begin", near)
    fact = "The staging database runs PostgreSQL 16 since the load test in May."
    saved = [
        call(world.operator, "memory_save", title=title, body=fact.replace("runs", verb)).memory_id
        for title, verb in [("Staging", "runs"), ("Staging, said again", "is running"), ("Once more", "now runs")]
    ]
    near.z = {memory: 4.0 - number for number, memory in enumerate(saved)}
    page = text_of(alice, "/search", query="which database does staging use")
    assert "2 more say the same:" in page
    assert (
        f'<a href="/memory/{saved[1]}">Staging, said again</a> <a href="/memory/{saved[2]}">Once more</a></p>' in page
    )


def test_each_way_to_search_is_taken_and_others_are_refused_in_words(world: World, alice: Client) -> None:
    call(world.operator, "memory_save", title="Tea", body="Green tea.")
    for mode in ("", "hybrid", "text", "semantic"):
        assert 'class="row-link"' in text_of(alice, "/search", query="green", mode=mode)
    assert "empty-state" in text_of(alice, "/search", query="green", mode="guessing")


@pytest.mark.parametrize(
    ("state", "told", "goes_on"),
    [
        ({"semantic_search": "available", "memories": 5, "indexed": 5}, "", False),
        ({"semantic_search": "available", "memories": 5, "indexed": 3, "pending": 2}, "3 of 5 texts is read in so far", True),
        ({"semantic_search": "starting", "memories": 5, "indexed": 5}, "is starting", True),
        ({"semantic_search": "off"}, "switched off", False),
        ({"semantic_search": "failing", "reason": "The model is gone."}, "The model is gone.", False),
        ({"semantic_search": "available", "pending": 2, "reembedding": True, "stopped": True}, "Reading in is stopped.", True),
        ({"semantic_search": "available", "memories": 5, "indexed": 4, "failed": 1}, "1 text could not be read in", False),
    ],
)  # fmt: skip
def test_how_far_the_meaning_is_read_in_is_told(state: dict[str, Any], told: str, goes_on: bool) -> None:
    part = render_to_string("console/_search_meaning.html", {"state": SearchStateOut(**state)})
    assert told in part if told else "<p>" not in part
    assert ("every 10s" in part) is goes_on


def test_the_page_asks_how_far_it_is(alice: Client) -> None:
    assert 'hx-get="/search/meaning"' in text_of(alice, "/search")
    assert "search-meaning" in text_of(alice, "/search/meaning")


@pytest.mark.parametrize("reason", [Reason.SEMANTIC_STARTING, Reason.SEMANTIC_UNAVAILABLE])
def test_what_the_notice_says_is_marked_in_the_state_so_that_it_stands_there_once(
    world: World, alice: Client, monkeypatch: pytest.MonkeyPatch, reason: Reason
) -> None:
    call(world.operator, "memory_save", title="Tea", body="Green tea.")
    assert "data-lacks-meaning" not in text_of(alice, "/search", query="tea")
    monkeypatch.setattr(hybrid.asking, "begin", SaidToBeNear(reason=reason, doubt=reason, available=False))
    assert text_of(alice, "/search", query="tea").count("data-lacks-meaning") == 1
    for state in ("starting", "failing"):
        part = render_to_string("console/_search_meaning.html", {"state": SearchStateOut(semantic_search=state)})
        assert part.count("<p data-said-by-notice>") == part.count("<p") == 1

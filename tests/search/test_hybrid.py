"""Words and meaning together: how the two add up, what stays first, what is borrowed from a thread."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.search import hybrid
from apps.search.cursors import Reason
from apps.search.errors import EmptyQuery
from apps.search.expressions import Match
from apps.search.filters import SearchFilters
from apps.search.hybrid import HybridHits, Mode, search_hybrid
from apps.search.index import index_move, index_remove, index_write, index_write_many
from apps.search.models import Document
from apps.search.ranking import OWN_LANGUAGE
from tests.search.made import DAY, entry
from tests.search.near_by import SaidToBeNear

pytestmark = pytest.mark.django_db

ONE = SearchFilters(["project/one"])
FILLER = (
    "A long enough text that says something or other about the weather, the garden, and what there was for lunch. " * 3
)


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> SaidToBeNear:
    said = SaidToBeNear()
    monkeypatch.setattr(hybrid.asking, "begin", said)
    return said


def ask(query: str, filters: SearchFilters = ONE, **more) -> HybridHits:
    return search_hybrid(query, filters, **more)


def ids(found: HybridHits) -> list[str]:
    return [hit.stable_id for hit in found.hits]


def write(**bodies: str) -> None:
    index_write_many(entry(name, f"Title of {name}", f"{body} {FILLER}") for name, body in bodies.items())


# --- the two sides -------------------------------------------------------------------------------------------


def test_what_means_the_same_is_found_without_any_of_the_words(near: SaidToBeNear) -> None:
    write(storage="The volume had no free space left.", other="Lunch moved to Thursday.")
    near.z = {"storage": 4.0, "other": 0.1}
    found = ask("disk full")
    assert ids(found) == ["storage"]
    assert (found.hits[0].match, found.mode, found.reason) == (Match.MEANING, Mode.HYBRID, None)
    assert near.is_closed


def test_a_single_word_is_ranked_once_and_counts_as_it_would_beside_another(near: SaidToBeNear) -> None:
    write(
        **{f"n{number}": "Lunch moved." if number % 7 else "A lighthouse." * (number // 7 + 1) for number in range(70)}
    )
    with CaptureQueriesContext(connection) as captured:
        alone = ask("lighthouse")
    assert sum("bm25(" in query["sql"] for query in captured) == 1
    assert {hit.match for hit in alone.hits} == {Match.IN_A_ROW}
    shares = {hit.stable_id: hit.share for hit in alone.hits}
    beside = {hit.stable_id: hit.share for hit in ask("lighthouse zzyzx").hits}
    assert len(shares) == len(beside) == 10
    (times,) = {round(shares[name] / beside[name], 2) for name in shares}  # What is asked for besides stands nowhere.
    assert times > 2


def test_weak_meaning_alone_does_not_fill_the_page(near: SaidToBeNear) -> None:
    write(**{f"n{number}": "Nothing of the kind." for number in range(5)})
    near.z = {f"n{number}": 1.0 for number in range(5)}
    assert ids(ask("disk full")) == []


@pytest.mark.parametrize(("among", "shown"), [(1_000, False), (100, False), (12, True), (3, True), (1, True)])
def test_few_texts_need_not_stand_out_as_far_as_many(near: SaidToBeNear, among: int, shown: bool) -> None:
    write(tea="She drinks tea in the morning.")
    near.z, near.among = {"tea": 0.9 if among > 1 else 0.0}, among
    assert ids(ask("favourite beverage")) == (["tea"] if shown else [])


def test_what_stands_out_of_chance_counts_more_than_some_of_the_words(near: SaidToBeNear) -> None:
    write(words="The oven needs a longer and slower start.", meaning="It warms up gently at first.")
    near.z = {"words": 1.0, "meaning": 2.4}
    assert ids(ask("does the oven start gradually"))[0] == "words"
    near.z = {"words": 1.0, "meaning": 4.2}
    found = ask("does the oven start gradually")
    assert ids(found)[0] == "meaning"
    assert found.hits[0].score > 4.2 + 1  # Well above its z.


@pytest.mark.parametrize("query", ["E4213", "zqx1796072932", "lib/router.py"])
def test_a_code_that_stands_nowhere_is_left_to_the_words(near: SaidToBeNear, query: str) -> None:
    write(other="The error E4212 comes from src/router.py.")
    near.z = {"other": 4.0}
    found = ask(query)
    assert (found.hits, found.mode, found.reason) == ([], Mode.TEXT, None)
    assert ids(ask(f"which release broke {query}")) == ["other"]
    assert ids(ask(query, mode=Mode.SEMANTIC)) == ["other"]
    assert ids(ask("E4212")) == ["other"]


def test_words_and_meaning_add_up(near: SaidToBeNear) -> None:
    write(both="The disk of the importer was full.", words="The importer has a disk.", meaning="No space was left.")
    near.z = {"both": 3.0, "words": 0.0, "meaning": 3.0}
    found = ask("why was the disk full in the importer")
    assert ids(found)[0] == "both"
    assert set(ids(found)) == {"both", "words", "meaning"}


def test_one_common_word_by_chance_does_not_beat_the_meaning(near: SaidToBeNear) -> None:
    write(**{f"n{number}": "The service was slow." for number in range(8)}, right="Latency rose after the release.")
    near.z = {"right": 4.0, "n0": -1.0}
    assert ids(ask("which service became sluggish following deployment yesterday"))[0] == "right"


def test_by_meaning_alone_words_do_not_count(near: SaidToBeNear) -> None:
    write(words="disk full", meaning="No space was left.")
    near.z = {"words": 2.5, "meaning": 4.0}
    assert ids(ask("disk full", mode=Mode.SEMANTIC)) == ["meaning", "words"]


def test_a_query_without_a_word_is_refused_in_every_mode(near: SaidToBeNear) -> None:
    for mode in (Mode.HYBRID, Mode.SEMANTIC):
        with pytest.raises(EmptyQuery):
            ask(" *?! ", mode=mode)
    assert near.asked == []


# --- what stays first -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "body", "match"),
    [
        ("velvet ladder", "They call it the velvet ladder.", Match.IN_A_ROW),
        ("护城河", "做好财务护城河。", Match.IN_A_ROW),
        ("生存", "即适者生存，生存等于正确的道理。", Match.IN_A_ROW),
        ("src/main.py", "It is in src/main.py somewhere.", Match.IN_A_ROW),
        ("why does it fail with ERR_CONN_2203 at night", "The log says ERR_CONN_2203.", Match.CODE),
    ],
)
def test_an_exact_hit_is_never_pushed_down_by_meaning(near: SaidToBeNear, query: str, body: str, match: Match) -> None:
    write(exact=body, **{f"n{number}": "The connection breaks at night." for number in range(5)})
    near.z = {"exact": -2.0} | {f"n{number}": 5.0 for number in range(5)}
    found = ask(query)
    assert (ids(found)[0], found.hits[0].match) == ("exact", match)
    assert len(found.hits) == 6


def test_a_title_equal_to_the_query_comes_before_its_words_in_a_text(near: SaidToBeNear) -> None:
    index_write(entry("text", "Something else", f"Our retry policy: retry policy, retry policy. {FILLER}"))
    index_write(entry("title", "Retry policy", FILLER))
    near.z = {"text": 5.0, "title": 0.0}
    found = ask("retry policy")
    assert ids(found) == ["title", "text"]
    assert found.hits[0].match is Match.TITLE


def test_codes_that_many_texts_hold_are_words_like_others(near: SaidToBeNear) -> None:
    write(**{f"n{number}": "About utf-8 again." for number in range(30)}, right="Umlauts broke in the export.")
    near.z = {"right": 5.0}
    assert ids(ask("problem with umlauts in utf-8"))[0] == "right"


# --- without vectors ---------------------------------------------------------------------------------------------


def test_without_vectors_the_caller_is_told_to_go_by_words(near: SaidToBeNear) -> None:
    write(one="disk full")
    near.reason = Reason.SEMANTIC_STARTING
    assert ask("disk full") == HybridHits([], Mode.TEXT, Reason.SEMANTIC_STARTING)
    near.reason, near.doubt, near.available = None, Reason.SEMANTIC_UNAVAILABLE, False
    assert ask("disk full") == HybridHits([], Mode.TEXT, Reason.SEMANTIC_UNAVAILABLE)
    near.is_on = False
    assert ask("disk full") == HybridHits([], Mode.TEXT, None)


def test_vectors_still_to_come_are_told_of(near: SaidToBeNear) -> None:
    write(one="disk full")
    near.doubt = Reason.VECTORS_PENDING
    found = ask("disk full")
    assert (ids(found), found.reason) == (["one"], Reason.VECTORS_PENDING)


def test_a_vector_of_an_older_revision_counts_for_nothing(near: SaidToBeNear) -> None:
    write(one="No space was left.")
    near.z, near.revisions = {"one": 5.0}, {"one": 0}
    hit = ask("no disk").hits[0]
    assert hit.near is None


@pytest.mark.parametrize("what", ["changed", "gone", "filtered"])
def test_what_fell_since_it_was_embedded_gives_its_place_to_another_one(near: SaidToBeNear, what: str) -> None:
    write(one="Nothing of that kind.", two="No space was left.")
    index_write(entry("else", body="No room.", resource="checkpoint"))
    keys = dict(Document.objects.values_list("stable_id", "pk"))
    near.z = {"two": 3.0}
    near.fallen = {{"changed": keys["one"], "gone": 99_999, "filtered": keys["else"]}[what]: 5.0}
    found = ask("disk full", replace(ONE, resources=("memory",)) if what == "filtered" else ONE)
    assert (ids(found), near.checks) == (["two"], [False, True])


def test_who_waits_is_told_what_words_show_first(near: SaidToBeNear) -> None:
    write(one="disk full", two="the disk is nearly full", three="full moon", other="Lunch moved.")
    keys = dict(Document.objects.values_list("stable_id", "pk"))
    near.z = {"other": 5.0}
    told: list[dict[int, str]] = []
    found = ask("disk full", meanwhile=told.append)
    assert [list(expected.items()) for expected in told] == [[(keys[one], one) for one in ("one", "two", "three")]]
    assert ids(found) == ids(ask("disk full"))
    near.is_at_work = False
    assert ask("disk full", meanwhile=told.append) == found
    assert len(told) == 1


def test_nothing_is_asked_twice_where_all_stands(near: SaidToBeNear) -> None:
    told(question="Where is the cabinet?", answer="At my sister's.")
    near.z = {"answer": 3.0, "question": 1.0}
    assert ids(ask("walnut cabinet"))
    assert near.checks == [False]


def test_what_no_longer_passes_the_filters_is_left_out(near: SaidToBeNear) -> None:
    write(one="No space was left.")
    near.z = {"one": 5.0}
    assert ids(ask("disk full", replace(ONE, kinds=("decision",)))) == []


# --- threads -----------------------------------------------------------------------------------------------------


def told(**fields: str) -> None:
    """A conversation: each said a thing, one after the other."""
    index_write_many(entry(name, name, f"{body} {FILLER}", thread="talk") for name, body in fields.items())


def test_an_answer_is_found_by_the_question_that_was_asked_just_before(near: SaidToBeNear) -> None:
    told(hello="Hello!", question="Where did you leave the walnut cabinet?", answer="At my sister's.", bye="Goodbye.")
    write(elsewhere="At my sister's.")
    near.z = {name: 1.0 for name in ("hello", "question", "answer", "bye", "elsewhere")}
    found = ask("walnut cabinet leave")
    assert ids(found)[:2] == ["question", "answer"]
    assert "elsewhere" not in ids(found)
    answer = found.hits[1]
    assert answer.share == 0
    assert answer.parts is not None and answer.parts.neighbours > 0


def test_what_a_neighbour_lends_is_gone_with_the_neighbour(near: SaidToBeNear) -> None:
    told(question="Where did you leave the walnut cabinet?", answer="At my sister's.")
    near.z = {"question": 1.0, "answer": 1.0}
    assert "answer" in ids(ask("walnut cabinet"))
    index_move("question", scope_key="library", revision=2, updated_at=DAY)
    assert ids(ask("walnut cabinet")) == []
    index_move("question", scope_key="project/one", revision=3, updated_at=DAY)
    assert "answer" in ids(ask("walnut cabinet"))
    index_write(entry("question", "question", f"Something else. {FILLER}", thread="talk", revision=4))
    assert ids(ask("walnut cabinet")) == []
    index_write(entry("question", "question", f"The walnut cabinet? {FILLER}", thread="talk", revision=5))
    index_remove(["question"])
    assert ids(ask("walnut cabinet")) == []


def test_nothing_is_borrowed_across_threads_scopes_and_archives(near: SaidToBeNear) -> None:
    index_write_many(
        [
            entry("q1", "q", f"walnut cabinet {FILLER}", thread="one"),
            entry("q2", "q", f"walnut cabinet {FILLER}", thread="two", scope_key="library"),
            entry("q3", "q", f"walnut cabinet {FILLER}", thread="two", status="archived"),
            entry("answer", "a", f"At my sister's. {FILLER}", thread="two"),
        ]
    )
    near.z = {"answer": 2.5}
    hit = next(hit for hit in ask("walnut cabinet").hits if hit.stable_id == "answer")
    assert hit.parts is not None and (hit.parts.neighbours, hit.parts.thread) == (
        0,
        pytest.approx(0.3 * (2.5 + OWN_LANGUAGE)),
    )


def test_threads_can_be_left_out_of_account(near: SaidToBeNear, settings) -> None:
    settings.SEARCH_THREAD_WEIGHT = 0.0
    told(question="Where did you leave the walnut cabinet?", answer="At my sister's.")
    near.z = {"answer": 1.0}
    assert ids(ask("walnut cabinet")) == ["question"]


# --- pages -------------------------------------------------------------------------------------------------------


def test_the_order_does_not_depend_on_how_many_are_wanted(near: SaidToBeNear) -> None:
    write(**{f"n{number:03d}": f"kumquat {'walnut ' * (number % 7)}" for number in range(150)})
    near.z = {f"n{number:03d}": (number * 37 % 50) / 10 for number in range(150)}
    few = ids(ask("kumquat or perhaps walnut trees", wanted=30))
    many = ids(ask("kumquat or perhaps walnut trees", wanted=140))
    assert many[: len(few)] == few
    assert len(many) >= 140 and len(set(many)) == len(many)


def test_pages_fit_together_where_meaning_reaches_deeper_than_it_is_asked_at_first(
    near: SaidToBeNear, settings
) -> None:
    settings.SEARCH_DEPTH = 30
    write(**{f"n{number:03d}": f"kumquat {'walnut ' * (number % 7)} {number % 11}" for number in range(200)})
    near.z = {f"n{number:03d}": 1.6 + (number * 37 % 50) / 20 for number in range(200)}
    everything = ids(ask("kumquat or perhaps walnut trees", wanted=190))
    assert len(everything) == len(set(everything)) == 200
    for wanted in (10, 40, 61, 90, 150):
        assert ids(ask("kumquat or perhaps walnut trees", wanted=wanted))[:wanted] == everything[:wanted]
    near.z = {f"n{number:03d}": near.z[f"n{number:03d}"] for number in range(0, 200, 2)}
    everything = ids(ask("another matter", wanted=190))
    assert sorted(everything) == sorted(near.z)
    for wanted in (10, 31, 70):
        assert ids(ask("another matter", wanted=wanted))[:wanted] == everything[:wanted]

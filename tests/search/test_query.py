"""Asking the index: the ladder, the filters, the limits, and that typed text is never syntax."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.search import query as query_module
from apps.search.cursors import MAX_DEPTH, Reason
from apps.search.errors import EmptyQuery
from apps.search.expressions import MAX_UNITS, Match
from apps.search.filters import SearchFilters
from apps.search.index import index_write, index_write_many
from apps.search.query import TextHits, search_text
from tests.search.made import DAY, bilingual_store, entry

pytestmark = pytest.mark.django_db


def ask(query: str, **filters) -> TextHits:
    page = {name: filters.pop(name) for name in ("limit", "offset") if name in filters}
    filters.setdefault("scope_keys", ["project/one"])
    return search_text(query, SearchFilters(**filters), **page)


def found(query: str, **filters) -> list[str]:
    return [hit.stable_id for hit in ask(query, **filters).hits]


def write(**bodies: str) -> None:
    index_write_many(entry(name, f"Title of {name}", body) for name, body in bodies.items())


# --- the ladder ---------------------------------------------------------------------------------------------


def test_all_words_come_before_any_word():
    write(one="walnut here", other="kumquat there", both="walnut and, far away, kumquat")
    page = ask("walnut kumquat")
    assert page.hits[0].stable_id == "both"
    assert [hit.match for hit in page.hits] == [Match.ALL_WORDS, Match.ANY_WORD, Match.ANY_WORD]
    assert page.mode is Match.ALL_WORDS
    assert ask("walnut narwhal").mode is Match.ANY_WORD


def test_words_in_a_row_come_before_the_same_words_apart():
    write(
        apart="amber day, amber harbor and amber echo with echo and harbor",
        row="they call it the amber harbor echo " + "x " * 90,
    )
    assert found("amber harbor echo") == ["row", "apart"]


def test_a_quoted_phrase_is_a_phrase():
    write(apart="velvet harbor, amber ladder", row="the velvet ladder")
    assert found('"velvet ladder"') == ["row"]
    assert found("“velvet ladder”") == ["row"]
    assert found("velvet ladder") == ["row", "apart"]


def test_a_phrase_reaches_across_scripts_and_identifiers():
    write(a="先修复BUG123问题，再上线 src/main.py")
    for phrase in ('"修复BUG123问题"', '"复BUG123问"', '"上线 src/main.py"', '"BUG 123"', '"main.py"'):
        assert found(phrase) == ["a"], phrase


def test_a_title_equal_to_the_query_comes_first():
    index_write(entry("long", "Retry policy", "other words " * 3000))
    index_write_many(entry(f"m{n}", f"Retry policy and policy retry {n}", "retry policy " * 50) for n in range(30))
    hits = ask("retry POLICY").hits
    assert (hits[0].stable_id, hits[0].match) == ("long", Match.TITLE)
    assert len(hits) == 10
    assert found("retry policy", offset=1).count("long") == 0


def test_titles_tags_and_summaries_count_above_bodies():
    index_write_many(entry(f"x{n}", body="filler") for n in range(20))
    index_write(entry("body", "Something", "walnut " + "filler " * 5))
    index_write(entry("summary", "Something", "filler " * 5, summary="walnut"))
    index_write(entry("tag", "Something", "filler " * 5, tags=["walnut"]))
    index_write(entry("title", "walnut today", "filler " * 5))
    assert found("walnut") == ["title", "tag", "summary", "body"]


def test_the_identifier_itself_comes_before_longer_ones():
    write(
        longer="ERR_CONN_RESET_BY_PEER ERR_CONN_RESET_BY_PEER",
        spoken="err conn reset, err conn reset",
        exact="we saw ERR_CONN_RESET " + "and much more text " * 200,
    )
    assert found("ERR_CONN_RESET")[0] == "exact"
    assert set(found("ERR_CONN_RESET")) == {"exact", "longer", "spoken"}


@pytest.mark.parametrize("part", ["CONN_RES", "CONN_RESET", "ERR_CONN", "conn_reset", "ERR_CONN_RES"])
def test_part_of_an_identifier_finds_it(part):
    write(a="got ERR_CONN_RESET again", b="unrelated")
    assert found(part) == ["a"]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("released v1.2.3-rc4", ["v1.2.3-rc4", "1.2.3-rc4", "v1.2.3", "1.2.3"]),
        ("calls getUserName()", ["getUserName", "getusername", "user name", "get_user_name", "getUser", "getUserNa"]),
        ("see /srv/app/src/main.py:42", ["src/main.py", "main.py", "app/src/main.py", "/srv/app/src/main.py", "main"]),
        ("runs on OpenFaaS and GitHub", ["openfaas", "OpenFaaS", "github", "git hub"]),
        ("mail ann.lee@example.org", ["ann.lee@example.org", "example.org", "ann.lee"]),
        ("see https://example.com/a/b.html", ["https://example.com/a/b.html", "example.com/a", "b.html"]),
        ("std::vector in C++", ["std::vector", "C++", "vector"]),
        ("修复BUG123问题", ["BUG123", "修复", "问题", "修复BUG123问题", "bug 123", "123", "复", "题"]),
        ("a Straße in Łódź, naïve", ["strasse", "lodz", "naive", "Straße", "Łódź"]),
        ("connections were policed", ["connection", "policing", "connec"]),
        ("𠀀𠀁很少见", ["𠀀𠀁", "𠀀", "𠀁"]),
        ("ship it 🚀", ["🚀"]),
    ],
)
def test_a_thing_is_found_by_all_its_names(text, queries):
    write(a=text, b="c is a letter, 1 and 2 and 3 are numbers")
    for query in queries:
        assert found(query)[:1] == ["a"], query


def test_an_identifier_nobody_wrote_is_looked_for_by_its_parts_at_last():
    write(a="a walnut in the harbor", b="a walnut")
    assert found("harbor:walnut") == ["a"]
    assert found("harbor:narwhal") == []


def test_c_plus_plus_is_not_the_letter_c():
    write(letter="c c c", sharp="C#", plus="C++")
    assert found("C++") == ["plus"]
    assert found("C#") == ["sharp"]


def test_common_words_of_a_question_do_not_narrow_it():
    write(a="Deploy with the blue button.", b="what is the how to do")
    assert found("how do I deploy to it?") == ["a"]
    assert found("what is the")[0] == "b"


def test_a_chinese_question_finds_by_its_parts():
    write(a="夜间导出丢弃了过期记录", b="完全无关的内容")
    assert found("为什么导出会丢弃记录") == ["a"]


# --- what is typed is data ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["", "   ", "*", "***", '"', '""', "()", "-", "?!", "。，", "\x00", "- - *", "\u200b"]
)
def test_a_query_without_a_word_is_refused_with_a_hint(query):
    write(a="walnut")
    with pytest.raises(EmptyQuery) as refused:
        ask(query)
    assert refused.value.as_dict()["code"] == "EMPTY_QUERY"
    assert refused.value.advice


@pytest.mark.parametrize(
    "query",
    [
        "walnut AND", "walnut OR", "NOT walnut", "walnut NEAR(", "NEAR(walnut", '"walnut', 'walnut"', "walnut*",
        "*walnut", "(walnut", "walnut)", "{title}:walnut", "-walnut", "^walnut", "+walnut", "walnut;", "walnut'", "'walnut'",
        "walnut--", "walnut %s %d", "walnut\x00", "walnut \ud83d", "WALNUT?", "`walnut`", "[[walnut]]", "“walnut",
    ],
)  # fmt: skip
def test_operators_and_punctuation_are_never_syntax(query):
    write(a="a walnut fell", b="unrelated")
    assert found(query)[:1] == ["a"]


class TypedText(TestCase):
    """Any text at all gives hits or the one clear refusal."""

    @settings(max_examples=300, deadline=None)
    @given(
        query=st.text(max_size=60) | st.text(alphabet="aB1 \"*()-^:{}+'\\/.,_#@内存ナ가é\u0301🚀“”\x00", max_size=40)
    )
    def test_no_text_is_an_error(self, query: str) -> None:
        index_write(entry("a", body=query.replace("\ud83d", "")))
        try:
            page = search_text(query, SearchFilters(["project/one"]))
        except EmptyQuery:
            return
        self.assertEqual([hit.stable_id for hit in page.hits], ["a"])


# --- filters come before the limit --------------------------------------------------------------------------


def test_each_filter_narrows_and_none_lets_all_pass():
    later = DAY + timedelta(days=1)
    index_write(entry("plain", body="walnut"))
    index_write(entry("other scope", body="walnut", scope_key="library"))
    index_write(entry("checkpoint", body="walnut", resource="checkpoint"))
    index_write(entry("archived", body="walnut", status="archived"))
    index_write(entry("fact", body="walnut", kind="fact", note_type="user"))
    index_write(entry("tagged", body="walnut", tags=["Front End", "财务"]))
    index_write(entry("late", body="walnut", created_at=later, updated_at=later))
    everything = {"scope_keys": ["project/one", "library"], "statuses": None}
    assert len(found("walnut", **everything)) == 7
    assert "archived" not in found("walnut")
    assert found("walnut", scope_keys=["library"]) == ["other scope"]
    assert found("walnut", resources=["checkpoint"]) == ["checkpoint"]
    assert found("walnut", statuses=["archived", "deleted"]) == ["archived"]
    assert found("walnut", kinds=["fact"]) == found("walnut", note_types=["user"]) == ["fact"]
    assert found("walnut", tags=["front end"]) == found("walnut", tags=["财务", "FRONT END"]) == ["tagged"]
    assert found("walnut", tags=["front"]) == []
    assert found("walnut", created_from=later) == found("walnut", updated_from=later, updated_to=later) == ["late"]
    assert "late" not in found("walnut", created_to=DAY)


@pytest.mark.parametrize("name", ["scope_keys", "resources", "statuses", "kinds"])
def test_an_empty_filter_lets_nothing_pass(name):
    write(a="walnut")
    assert found("walnut", **{name: []}) == []


def test_a_hit_behind_many_of_other_scopes_is_not_lost():
    index_write_many(entry(f"x{n}", "walnut walnut", "walnut " * 9, scope_key="library") for n in range(300))
    index_write(entry("mine", "Other", "one walnut in " + "many words " * 300))
    assert found("walnut") == ["mine"]


# --- pages and completeness ---------------------------------------------------------------------------------


def test_words_that_stand_in_a_row_are_not_drowned_by_texts_that_hold_one_of_them():
    write(row="a walnut kumquat pie", apart="kumquat and walnut", walnut="walnut", kumquat="kumquat")
    assert [hit.stable_id for hit in ask("walnut kumquat").hits] == ["row", "apart"]
    assert {hit.stable_id for hit in ask("walnut pie kumquat").hits} == {"row", "apart", "walnut", "kumquat"}


def test_pages_follow_one_another_without_gaps_or_repeats():
    write(**{f"m{n:02d}": "walnut or kumquat" if n % 3 else "walnut" for n in range(25)})
    first = ask("walnut kumquat", limit=10)
    whole = (
        first.hits + ask("walnut kumquat", limit=10, offset=10).hits + ask("walnut kumquat", limit=10, offset=20).hits
    )
    assert first.more and first.complete
    assert len({hit.stable_id for hit in whole}) == len(whole) == 25
    assert [hit.match for hit in whole] == [Match.ALL_WORDS] * 16 + [Match.ANY_WORD] * 9
    assert not ask("walnut kumquat", limit=10, offset=20).more


def test_deeper_than_the_limit_nothing_is_shown_and_the_answer_says_so():
    write(**{f"m{n:03d}": "walnut" for n in range(MAX_DEPTH + 5)})
    last = ask("walnut", limit=10, offset=MAX_DEPTH - 5)
    assert (len(last.hits), last.more, last.complete, last.reason) == (5, False, False, Reason.DEPTH_LIMIT)
    assert ask("walnut", limit=10, offset=MAX_DEPTH + 50).hits == []


def test_a_query_of_too_many_words_is_shortened_and_says_so():
    write(a="word0 word1")
    assert ask(" ".join(f"word{n}" for n in range(MAX_UNITS))).reason is None
    page = ask(" ".join(f"word{n}" for n in range(500)))
    assert (page.hits[0].stable_id, page.complete, page.reason) == ("a", False, Reason.QUERY_SHORTENED)


@pytest.mark.parametrize(
    "long",
    ["".join(map(chr, range(0x4E00, 0x4E00 + 9000))), "a/b.c_" * 3000, '"' + "walnut " * 4000 + '"', "内b" * 3000],
)
def test_a_pasted_page_is_a_query_like_any_other(long):
    write(a=long)
    page = ask(long)
    assert ([hit.stable_id for hit in page.hits], page.reason) == (["a"], Reason.QUERY_SHORTENED)


def test_a_question_of_common_words_in_a_large_store_is_asked_by_its_rarer_ones(monkeypatch):
    index_write_many(
        entry(f"m{n:03d}", body="server worker gateway export" + (" quetzal" if n == 7 else "")) for n in range(60)
    )
    monkeypatch.setattr(query_module, "ROWS_TO_RANK", 50)
    with CaptureQueriesContext(connection) as asked:
        assert found("does server worker gateway export narwhal quetzal")[0] == "m007"
    ranked = [one["sql"] for one in asked if "bm25" in one["sql"]]
    assert '"quetzal" OR ' in ranked[-1]
    assert "narwhal" not in ranked[-1]


def test_no_query_reads_all_documents():
    write(a="walnut")
    with CaptureQueriesContext(connection) as asked:
        ask("walnut kumquat CONN_RES", tags=["x"], kinds=["fact"], created_from=DAY)
    searches = [one["sql"] for one in asked if "search_document d" in one["sql"]]
    assert len(searches) >= 4
    with connection.cursor() as cursor:
        for sql in searches:
            cursor.execute("EXPLAIN QUERY PLAN " + sql)
            plan = [row[3] for row in cursor.fetchall()]
            steps = [step for step in plan if "SCAN" in step and "VIRTUAL TABLE INDEX" not in step]
            assert steps == [], plan
            assert any("USING INTEGER PRIMARY KEY" in step or "search_document_title" in step for step in plan), plan


# --- a store of its own kind --------------------------------------------------------------------------------


def test_every_planted_thing_is_found_first_among_six_hundred_documents():
    entries, asked = bilingual_store(600)
    index_write_many(entries)
    missed = [one for one in asked if found(one.query)[:1] != [one.stable_id]]
    assert missed == []

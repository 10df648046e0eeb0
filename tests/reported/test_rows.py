"""Failures that users of other memory servers reported, through REST as an agent meets it: the kind, not the one input."""

import json
import unicodedata
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from apps.base import clock
from apps.memories.models import Memory
from apps.memories.scopes import folder_of
from tests.memories.ledger_world import all_durable, edit_outside, scanned
from tests.world import Rest, World, ok, save

pytestmark = pytest.mark.django_db


def search(rest: Rest, query: str, **fields: Any) -> list[str]:
    return [hit["title"] for hit in ok(rest.get("/memories/search", query=query, **fields))["results"]]


def get(rest: Rest, reference: str) -> Any:
    return ok(rest.get(f"/memories/{quote(reference)}"))


# Row 1: Chinese words in the middle of a run.

RUN = "即适者生存，生存等于正确的道理。做好财务护城河。"
CHINESE = [
    "适者生存",
    "护城河",
    "生存",
    "财务",
    "道理",
    "正确的道理",
    "做好",
    "存等",
    "即适",
    "城河",
    "者",
    "适者 护城河",
]


@pytest.mark.parametrize("word", CHINESE)
def test_row_1_a_word_inside_a_run_is_found(bob: Rest, word: str) -> None:
    save(bob, "笔记", RUN)
    save(bob, "别的", "今天天气很好。")
    found = ok(bob.get("/memories/search", query=word))["results"]
    assert [hit["title"] for hit in found][:1] == ["笔记"]
    assert any(part in found[0]["excerpt"] for part in word.split())


@pytest.mark.parametrize("word", ["止损", "河城", "存生", "财城", "适存", "股票"])
def test_row_1_a_word_that_is_not_there_is_not_found(bob: Rest, word: str) -> None:
    save(bob, "笔记", RUN)
    assert search(bob, word) == []


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("部署到K8s集群之后重启", "K8s"),
        ("错误码E1024出现在登录页", "E1024"),
        ("使用Redis缓存会话", "缓存"),
        ("版本v2.3.1已发布", "v2.3.1"),
        ("調用API時要帶token", "帶"),
        ("ＡＢＣ全角字母", "ABC"),
        ("カタカナとひらがな", "ひらがな"),
        ("한국어 문장입니다", "한국어"),
        ("𠮷野家でランチ", "𠮷野家"),
    ],
)
def test_row_1_words_glued_to_other_scripts_are_found(bob: Rest, body: str, query: str) -> None:
    save(bob, "Mixed", f"前言。{body}。后记。")
    assert search(bob, query) == ["Mixed"]


def test_row_1_titles_tags_and_summaries_are_found_too(bob: Rest) -> None:
    save(bob, "季度护城河分析", "x")
    save(bob, "Two", "x", tags=["护城河"])
    save(bob, "Three", "x", summary="关于护城河的摘要")
    assert set(search(bob, "护城河")) == {"季度护城河分析", "Two", "Three"}


# Row 3: ordinary punctuation.

PUNCTUATION = {
    "multi-agent": "a multi-agent system",
    "don't use": "Please don't use the old door",
    "GB/s": "it reads 3 GB/s",
    "src/main.py": "the bug is in src/main.py",
    "C++": "written in C++",
    "C#": "written in C#",
    "BENCH-100821": "see BENCH-100821",
    '"unclosed': "an unclosed bracket",
    "a AND": "a logical and",
    "NEAR(": "very near by",
    "foo:bar": "the key foo:bar is set",
    "user@example.org": "write to user@example.org",
    "--dry-run": "pass --dry-run first",
    "$HOME": "look into $HOME",
    "node.js": "runs on node.js",
    "(parentheses": "some parentheses here",
    "100%": "fails in 100% of runs",
    "it’s": "it’s a curly apostrophe",
    "what?": "what is this",
    "a^b": "computes a^b",
    "snake_case_name": "see snake_case_name",
    "“引号”": "中文的引号也行",
    "第1章：": "第1章：开始",
}


@pytest.fixture
def punctuated(bob: Rest) -> Rest:
    memories = [{"title": f"Note {number}", "body": body} for number, body in enumerate(PUNCTUATION.values())]
    memories.append({"title": "Decoy", "body": "multi agent use GB s main py c bench main and"})
    ok(bob.post("/memories/many", memories=memories), 201)
    return bob


def test_row_3_each_query_finds_its_memory_first(punctuated: Rest) -> None:
    for number, query in enumerate(PUNCTUATION):
        assert search(punctuated, query)[:1] == [f"Note {number}"], query


@pytest.mark.parametrize(
    "query",
    ["*", "", " ", "\t\n", '"', '""', "AND", "OR NOT", "NEAR", "(", ")", "()", "^", "-", "--", ":", "'", "…", "，。", "😀",
     "a*", "* *", "title:", "body : x", "{a b} :", "x" * 2000, "\\", "%", ";--", "﻿", "‮abc", "NOT a", "+", "a OR"],
)  # fmt: skip
def test_row_3_no_query_is_a_failure_of_the_server(punctuated: Rest, query: str) -> None:
    response = punctuated.get("/memories/search", query=query)
    assert response.status_code in (200, 422), response.content
    told = json.loads(response.content)
    if response.status_code == 422:
        assert told["error"]["message"] and told["error"]["hint"]
    else:
        assert len(told["results"]) <= 10
    if not query.strip() or query == "*":
        assert response.status_code == 422  # Not the whole store.


# Row 9: section edits.

OPEN = "Intro.\n\n## Open items #urgent #work\n\n- one\n- two\n\n## Closing\n\nThe end.\n"


@pytest.mark.parametrize(
    "heading",
    ["## Open items", "Open items", "### Open items #urgent #work", "## open items #urgent #work", "## Open  items #urgent",
     "# Open items #urgent #work", "## Closing!", "Open items #urgent #work extra", "##Open items #urgent #work"],
)  # fmt: skip
def test_row_9_an_inexact_heading_changes_nothing(bob: Rest, heading: str) -> None:
    saved = save(bob, "List", OPEN)
    file = folder_of(saved["scope"]) / saved["path"]
    before = file.read_bytes()
    section = {"heading": heading, "body": "- three"}
    refused = bob.patch(f"/memories/{saved['memory_id']}", revision=1, section=section)
    assert refused.status_code == 409
    told = json.loads(refused.content)["error"]
    assert told["code"] == "SECTION_NOT_FOUND" and told["facts"]["near"]
    assert file.read_bytes() == before and get(bob, "list")["revision"] == 1


@pytest.mark.parametrize(
    ("body", "heading", "expected"),
    [
        (OPEN, "## Open items #urgent #work", OPEN.replace("- one\n- two", "NEW")),
        (OPEN, "Open items #urgent #work", OPEN.replace("- one\n- two", "NEW")),
        ("## A\n\nx\n\n### B\n\ny\n\n### C\n\nz\n\n## D\n\nw\n", "## A", "## A\n\nNEW\n\n## D\n\nw\n"),
        ("## A\r\n\r\nx\r\n\r\n## D\r\nw", "## A", "## A\r\n\r\nNEW\r\n\r\n## D\r\nw"),
        ("## A ##\n\nx\n\n## D\n", "## A", "## A ##\n\nNEW\n\n## D\n"),
        ("## A\n```\n## D\n```\nx\n\n## D\n\ny\n", "## D", "## A\n```\n## D\n```\nx\n\n## D\n\nNEW\n"),
        ("## 待办 事项\n\n- 一\n\n## 结尾\n", "## 待办 事项", "## 待办 事项\n\nNEW\n\n## 结尾\n"),
        ("## [[Link]] `code` *x*\n\nold\n", "## [[Link]] `code` *x*", "## [[Link]] `code` *x*\n\nNEW\n"),
        ("## Last\n\nold", "## Last", "## Last\n\nNEW"),
        (
            unicodedata.normalize("NFD", "## Übung\n\nold\n"),
            unicodedata.normalize("NFC", "## Übung"),
            unicodedata.normalize("NFD", "## Übung") + "\n\nNEW\n",
        ),
    ],
)
def test_row_9_an_exact_heading_is_replaced_once_with_its_children(
    bob: Rest, body: str, heading: str, expected: str
) -> None:
    saved = save(bob, "List", body)
    ok(bob.patch(f"/memories/{saved['memory_id']}", revision=1, section={"heading": heading, "body": "NEW"}))
    assert get(bob, "list")["body"] == expected


def test_row_9_a_heading_that_stands_twice_is_ambiguous(bob: Rest) -> None:
    saved = save(bob, "List", "## A\n\nx\n\n## B\n\n## A\n\ny\n")
    refused = bob.patch(f"/memories/{saved['memory_id']}", revision=1, section={"heading": "## A", "body": "z"})
    assert json.loads(refused.content)["error"]["code"] == "SECTION_AMBIGUOUS"
    assert get(bob, "list")["body"] == "## A\n\nx\n\n## B\n\n## A\n\ny\n"


# Row 11: foreign and broken frontmatter.

FOREIGN = {
    "unknown keys": b"---\nzeta: 1\nalias: [a, b]\nnested:\n  deep: {x: 1}\n  # say\n# so\ncssclass: 'wide'\n---\nBody.\n",
    "broken quotes": b'---\ntitle: "Fine"\ndescription: "abc "def" ghi"\nother: x\n---\nBody.\n',
    "a rule on line 1": b"---\n\nA text after a rule.\n\n---\n\nMore.\n",
    "a rule alone": b"---\nJust text, no colon\n",
    "bom": b"\xef\xbb\xbf---\ncustom: x\n---\nBody.\n",
    "bom alone": b"\xef\xbb\xbfBody.\n",
    "crlf": b"---\r\ncustom: x\r\ntags:\r\n  - one\r\n---\r\nBody.\r\nMore.\r\n",
    "tabs": b"---\ncustom:\tx\n\tindented: y\n---\nBody.\n",
    "unclosed": b"---\ntitle: never closed\n\nBody.\n",
    "toml": b"+++\ntitle = 'x'\n+++\nBody.\n",
    "duplicate keys": b"---\ncustom: 1\ncustom: 2\n---\nBody.\n",
    "dots close": b"---\ncustom: x\n...\nBody.\n",
    "anchor": b"---\nbase: &a {x: 1}\nuse: *a\n---\nBody.\n",
    "block scalar": b"---\ndescription: |\n  line one\n    ---\n  line two\nlast: >-\n  folded\n---\nBody.\n",
    "empty head": b"---\n---\nBody.\n",
    "rules in the body": b"---\nx: 1\n---\nBody.\n\n---\n\nkey: value\n\n---\n",
    "no final newline": b"---\nx: 1\n---\nBody",
    "colon in value": b"---\ntime: 12:30\nurl: http://x.y/z?a=b#c\ntitle: a: b\n---\nBody.\n",
    "chinese keys": "---\n标题: 茶\n日期: 2026-09-22\n---\n正文。\n".encode(),
    "json head": b'---\n{"x": 1, "y": [2]}\n---\nBody.\n',
}  # fmt: skip
OWN_KEYS = ("stable_id title type permalink slug kind note_type summary tags status project_id usage_profile_id revision "
            "created_at updated_at").split()  # fmt: skip


def without_bom(line: bytes) -> bytes:
    return line.removeprefix(b"\xef\xbb\xbf")


def without_own_lines(document: bytes) -> list[bytes]:
    """The lines of a document but for those of the ledger's own keys."""
    kept, in_own = [], False
    for line in document.splitlines(keepends=True):
        key = line.split(b":")[0].decode(errors="replace")
        in_own = key in OWN_KEYS or (in_own and line.startswith(b"  - "))
        if not in_own:
            kept.append(line)
    return kept


@pytest.mark.parametrize("name", FOREIGN)
def test_row_11_a_foreign_head_keeps_every_line_it_had(world: World, bob: Rest, name: str) -> None:
    document = FOREIGN[name]
    file = folder_of("global/bob") / "memories" / "foreign.md"
    save(bob, "Anchor", "x")
    edit_outside(file, document)
    assert scanned("global/bob").found == 1
    adopted = Memory.objects.get(path="memories/foreign.md")
    shown = get(bob, adopted.stable_id)
    ok(bob.patch(f"/memories/{adopted.stable_id}", revision=shown["revision"], tags=["new tag"]))
    all_durable()
    after = file.read_bytes()
    if name != "json head":  # One line for all keys: it has to be rewritten to take another one.
        before = [
            line for line in without_own_lines(document) if line.strip() not in (b"---", b"\xef\xbb\xbf---", b"...")
        ]
        kept = without_own_lines(after)
        lines = iter(kept)
        assert all(any(without_bom(line) == without_bom(own) for own in lines) for line in before)
    assert after.count(b"stable_id: ") == 1 and after.startswith(b"\xef\xbb\xbf") == document.startswith(
        b"\xef\xbb\xbf"
    )
    again = get(bob, adopted.stable_id)
    assert (again["body"], again["tags"]) == (shown["body"], ["new tag"])
    assert scanned("global/bob").adopted == 0  # What the ledger wrote, it reads as its own.


def test_row_11_what_is_broken_is_reported(world: World, bob: Rest) -> None:
    save(bob, "Anchor", "x")
    file = folder_of("global/bob") / "memories" / "foreign.md"
    edit_outside(file, FOREIGN["broken quotes"])
    scanned("global/bob")
    assert b'description: "abc "def" ghi"\n' in file.read_bytes()
    assert get(bob, Memory.objects.get(path="memories/foreign.md").stable_id)["title"] == "Fine"


# Row 13: creating over what exists.


@pytest.mark.parametrize(
    "title",
    ["Daily 2026-09-22", "daily 2026-09-22", " Daily  2026-09-22 ", "ＤＡＩＬＹ 2026-09-22", "Daily\u00a02026-09-22",
     "Daily\t2026-09-22", "\u200eDaily 2026-09-22".replace("\u200e", "\u202a")],
)  # fmt: skip
def test_row_13_a_second_create_is_refused_with_what_to_do(bob: Rest, title: str) -> None:
    first = save(bob, "Daily 2026-09-22", "The first.")
    refused = bob.post("/memories", title=title, body="The second.")
    told = json.loads(refused.content)["error"]
    assert (refused.status_code, told["code"], told["facts"]["memory_id"]) == (409, "TITLE_TAKEN", first["memory_id"])
    assert "memory_update" in told["hint"] and "memory_append" in told["hint"]
    assert get(bob, first["memory_id"])["body"] == "The first."
    second = save(bob, title, "The second.", if_exists="new")
    assert get(bob, second["memory_id"])["body"] == "The second."
    assert get(bob, first["memory_id"])["body"] == "The first."
    assert second["path"] != first["path"]


def test_row_13_titles_that_make_one_file_name_are_two_files(bob: Rest) -> None:
    titles = ["A/B", "A B", "a-b", "A: B", "A?B", "a—b"]
    saved = [save(bob, title, f"text {number}") for number, title in enumerate(titles)]
    assert len({one["path"].lower() for one in saved}) == len(titles)
    assert [get(bob, one["memory_id"])["body"] for one in saved] == [f"text {number}" for number in range(len(titles))]


def test_row_13_an_explicit_path_is_never_written_over(bob: Rest) -> None:
    first = save(bob, "One", "first", path="mine/same.md")
    for path in ("mine/same.md", "mine/SAME.md", "memories/mine/same.md"):
        refused = bob.post("/memories", title=f"Two {path}", body="second", path=path)
        assert json.loads(refused.content)["error"]["code"] == "PATH_TAKEN"
    assert get(bob, first["memory_id"])["body"] == "first"


# Row 15: Unicode forms.

TITLE = "01_ナレッジベース Übung"
FORMS = ["NFC", "NFD"]


@pytest.mark.parametrize("saved_as", FORMS)
@pytest.mark.parametrize("asked_as", FORMS)
def test_row_15_both_forms_are_one_memory(bob: Rest, saved_as: str, asked_as: str) -> None:
    def form(text: str) -> str:
        return unicodedata.normalize(asked_as, text)

    given = unicodedata.normalize(saved_as, TITLE)
    saved = save(bob, given, "Der Körper. がぎ", tags=[unicodedata.normalize(saved_as, "Öl")], path=f"mine/{given}.md")
    assert saved["title"] == TITLE and saved["path"] == f"memories/mine/{TITLE}.md"
    for reference in (saved["slug"], saved["path"], TITLE.lower()):
        if reference != TITLE.lower():
            assert get(bob, form(reference))["memory_id"] == saved["memory_id"]
    assert search(bob, form("Übung")) == search(bob, form("ナレッジベース")) == search(bob, form("Körper")) == [TITLE]
    listed = ok(bob.get("/memories", tags=form("Öl")))["memories"]
    assert [one["memory_id"] for one in listed] == [saved["memory_id"]]
    again = bob.post("/memories", title=form(TITLE), body="x")
    assert json.loads(again.content)["error"]["code"] == "TITLE_TAKEN"
    taken = bob.post("/memories", title="Other", body="x", path=form(f"mine/{TITLE}.md"))
    assert json.loads(taken.content)["error"]["code"] == "PATH_TAKEN"
    assert Memory.objects.count() == 1
    files = [path.name for path in folder_of(saved["scope"]).rglob("*.md")]
    assert files == [f"{TITLE}.md"]


@pytest.mark.parametrize("saved_as", FORMS)
@pytest.mark.parametrize("asked_as", FORMS)
def test_row_15_both_forms_link_resemble_and_are_indexed_as_one(bob: Rest, saved_as: str, asked_as: str) -> None:
    def form(text: str) -> str:
        return unicodedata.normalize(asked_as, text)

    body = unicodedata.normalize(saved_as, "Die Übung der ナレッジベース beginnt früh.")
    saved = save(bob, unicodedata.normalize(saved_as, TITLE), body, thread=unicodedata.normalize(saved_as, "Gespräch"))
    here = save(
        bob, "Runbook", f"[[{form(TITLE)}]] [[{form(TITLE.upper())}#{form('Übung')}|x]] [[{form(saved['slug'])}]]"
    )
    assert here["missing_links"] == []
    links = ok(bob.get(f"/memories/{here['memory_id']}/links"))["links_to"]
    assert {link["memory"]["memory_id"] for link in links} == {saved["memory_id"]}
    back = ok(bob.get(f"/memories/{saved['memory_id']}/links"))["linked_from"]
    assert [source["title"] for source in back] == ["Runbook"]
    again = save(bob, "Anders", form(body))
    assert (again["duplicate"]["memory_id"], again["duplicate"]["likeness"]) == (saved["memory_id"], "same_text")
    assert ok(bob.get("/memories/index"))["text"].count(unicodedata.normalize("NFC", TITLE)) == 1
    assert get(bob, saved["memory_id"])["thread"] == "Gespräch"


# Row 25: time.

SHANGHAI_NIGHT = "2026-09-21T16:30:00+00:00"  # 00:30 on the 22nd in Shanghai.


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the clock."""
    file = tmp_path / "clock"

    def set_to(moment: str) -> None:
        file.write_text(moment)
        monkeypatch.setattr(clock, "CLOCK_FILE", str(file))

    return set_to


@pytest.fixture
def night(at: Any, bob: Rest, settings: Any) -> Rest:
    settings.CALLER_ZONE = "Asia/Shanghai"
    at("2026-09-20T04:00:00+00:00")
    save(bob, "Before", "x")
    at(SHANGHAI_NIGHT)
    save(bob, "Night", "x")
    at("2026-09-23T04:00:00+00:00")
    return bob


def listed(rest: Rest, **bounds: str) -> list[str]:
    return [one["title"] for one in ok(rest.get("/memories", **bounds))["memories"]]


BOTH, NIGHT, BEFORE = ["Night", "Before"], ["Night"], ["Before"]
BOUNDS = [
    ({"updated_to": "2026-09-22"}, BOTH),
    ({"updated_from": "2026-09-22"}, NIGHT),
    ({"updated_from": "2026-09-22", "updated_to": "2026-09-22"}, NIGHT),
    ({"updated_to": "2026-09-21"}, BEFORE),
    ({"updated_from": "2026-09-23"}, []),
    ({"updated_from": "20260922", "updated_to": "20260922"}, NIGHT),
    ({"updated_from": "2026-W39-2", "updated_to": "2026-W39-2"}, NIGHT),
    ({"updated_from": "yesterday", "updated_to": "Yesterday"}, NIGHT),
    ({"updated_from": "昨天", "updated_to": "昨天"}, NIGHT),
    ({"updated_from": "昨日"}, NIGHT),
    ({"updated_from": "today"}, []),
    ({"updated_to": "今天"}, BOTH),
    ({"updated_from": "前天", "updated_to": "前天"}, []),
    ({"updated_from": "2026-09-21T16:30:00Z"}, NIGHT),
    ({"updated_from": "2026-09-22T00:30:00+08:00"}, NIGHT),
    ({"updated_from": "2026-09-22T00:30:00 08:00"}, NIGHT),
    ({"updated_from": "2026-09-22 00:30"}, NIGHT),
    ({"updated_from": "2026-09-22T00:30:01+08:00"}, []),
    ({"updated_to": "2026-09-21T16:30:00Z"}, BOTH),
    ({"updated_to": "2026-09-21T16:29:59.999Z"}, BEFORE),
    ({"updated_to": "2026-09-22T00:30:00+08:00"}, BOTH),
    ({"updated_to": "2026-09-21T09:30:00-07:00"}, BOTH),
    ({"updated_from": "0001-01-01", "updated_to": "9999-12-31"}, BOTH),
    ({"updated_from": "0001-01-01T00:00:00+14:00", "updated_to": "9999-12-31T23:59:59-14:00"}, BOTH),
]


def test_row_25_bounds_are_local_days_or_instants(night: Rest) -> None:
    for bounds, expected in BOUNDS:
        assert listed(night, **bounds) == expected, bounds
        assert set(search(night, "x", **bounds)) == set(expected), bounds


def test_row_25_the_timeline_has_the_same_bounds(night: Rest) -> None:
    for bounds, expected in BOUNDS:
        asked = {
            name.replace("updated_from", "since").replace("updated_to", "until"): at for name, at in bounds.items()
        }
        entries = ok(night.get("/timeline", scope="global", **asked))["entries"]
        assert [entry["changes"][0]["title"] for entry in entries] == expected, bounds


@pytest.mark.parametrize(
    "text", ["2026-02-30", "2026-13-01", "tomorrowish", "12:30", "2026-09-22T25:00", "22.9.2026", "２０２６", "-1"]
)
def test_row_25_what_is_no_time_is_refused_by_name(bob: Rest, text: str) -> None:
    for path, field in (("/memories", "updated_to"), ("/memories/search", "updated_to"), ("/timeline", "until")):
        query = {"query": "x"} if "search" in path else {"scope": "global"}
        refused = bob.get(path, **query, **{field: text})
        assert refused.status_code == 422 and field in json.loads(refused.content)["error"]["facts"]["fields"]


@pytest.mark.parametrize(
    ("zone", "offset", "day"),
    [("Asia/Shanghai", "+08:00", "2026-09-22"), ("America/Los_Angeles", "-07:00", "2026-09-21"),
     ("Asia/Kolkata", "+05:30", "2026-09-21"), ("UTC", "Z", "2026-09-21")],
)  # fmt: skip
def test_row_25_times_are_shown_in_the_callers_zone_with_its_offset(
    bob: Rest, at: Any, settings: Any, zone: str, offset: str, day: str
) -> None:
    settings.CALLER_ZONE = zone
    at(SHANGHAI_NIGHT)
    saved = save(bob, "Night", "x")
    shown = [get(bob, saved["memory_id"])["updated_at"]]
    shown.append(ok(bob.get("/memories"))["memories"][0]["updated_at"])
    shown.append(ok(bob.get("/memories/search", query="x"))["results"][0]["updated_at"])
    shown.append(ok(bob.get(f"/memories/{saved['memory_id']}/history"))["revisions"][0]["at"])
    shown.append(ok(bob.get("/timeline", scope="global"))["entries"][0]["at"])
    assert all(text.startswith(day) and text.endswith(offset) for text in shown), shown
    assert listed(bob, updated_from=day, updated_to=day) == ["Night"]


def test_row_25_a_person_reads_in_their_own_zone(world: World, at: Any, settings: Any) -> None:
    settings.CALLER_ZONE = "UTC"
    at(SHANGHAI_NIGHT)
    world.member.zone = "Asia/Shanghai"
    world.member.save()
    person = world.at_the_console(world.member)
    save(person, "Night", "x")
    assert get(person, "night")["updated_at"].endswith("+08:00")
    assert listed(person, updated_from="2026-09-22") == ["Night"]
    person.client.cookies["memrelay_zone"] = "America/Los_Angeles"
    assert listed(person, updated_from="2026-09-22") == []
    assert get(person, "night")["updated_at"].endswith("-07:00")


def test_row_25_a_day_of_23_hours_is_a_whole_day(bob: Rest, at: Any, settings: Any) -> None:
    settings.CALLER_ZONE = "Europe/Berlin"  # Summer time begins on 2026-03-29.
    at("2026-03-29T21:59:59+00:00")
    save(bob, "Late", "x")
    at("2026-03-29T22:00:00+00:00")
    save(bob, "Next day", "x")
    assert listed(bob, updated_from="2026-03-29", updated_to="2026-03-29") == ["Late"]

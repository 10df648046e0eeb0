"""The pure parts: which language sources are in, what Markdown a section becomes, and prompts that never change silently."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.curation.answers import Section
from apps.curation.language import CHINESE, ENGLISH, OTHER, main_language
from apps.curation.prompting import instructions_for, prompt_for
from apps.curation.prompts import PROMPT_VERSION, text_of
from apps.curation.rendering import plain_markdown, rendered
from apps.curation.templates import DOCUMENT_TYPES, GENERAL, kinds_named
from apps.llm.structured import strict_schema
from apps.sources.boundaries import Boundary

# A prompt that changes is a new file with a new version, so that every revision tells what it was written by.
DIGESTS = {"curate-1": "aafd210d48425523"}


def test_a_prompt_never_changes_under_its_version():
    told = {version: hashlib.sha256(text_of(version).encode()).hexdigest()[:16] for version in DIGESTS}
    assert told == DIGESTS and PROMPT_VERSION in DIGESTS


def test_instructions_hold_nothing_but_our_words():
    boundary = Boundary("0123456789abcdef")
    told = instructions_for(PROMPT_VERSION, GENERAL, CHINESE, boundary)
    assert "{" not in told.replace(boundary.instruction, "")
    assert boundary.instruction in told and "Simplified Chinese" in told
    assert all(f"- {name}: " in told for name in DOCUMENT_TYPES)


def test_a_prompt_without_documents_says_so():
    prompt = prompt_for(PROMPT_VERSION, [], [], [], language=ENGLISH, slugs={})
    assert prompt.content == "# There are no documents yet"


def test_the_answers_schema_has_a_strict_form():
    from apps.curation.answers import Curation

    assert strict_schema(Curation)["required"] == ["documents", "conflicts", "change_summary"]


def test_documents_come_in_the_templates_order():
    assert [kind.document_type for kind in kinds_named(["current-state", "overview"], GENERAL)] == list(DOCUMENT_TYPES)
    assert kinds_named([], GENERAL) == GENERAL


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (["The relay keeps memories.", "We chose SQLite."], ENGLISH),
        (["我们决定使用 SQLite，因为只有一个文件。", "每周五写周报。"], CHINESE),
        (["我们今天讨论了搜索的分词方案。"] * 3 + ["One English note."], CHINESE),
        (["Look at https://例え.example/路径/很长的中文路径 please, all of you."], ENGLISH),
        (["これはメモです。データベースをえらびました。"], OTHER),
        (["```\n" + "def f(): return some_english_words_here\n" * 50 + "```\n数据库用 SQLite。"], CHINESE),
        (["", "123"], OTHER),
    ],
)
def test_the_main_language(texts, language):
    assert main_language(texts) == language


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("# One\n\n## Two\n\n### Three", "### One\n\n### Two\n\n### Three"),
        ("a <b>bold</b> word", "a bold word"),
        ("List<int> and a < b > c and <https://example.org/x>", "List<int> and a < b > c and <https://example.org/x>"),
        ("<x-y onclick=alert(1)>z</x-y>", "z</x-y>"),
        ("<scr<script>ipt>alert(1)</script>", "alert(1)"),
        ("keep `<b>this</b>` but not <i>that</i>", "keep `<b>this</b>` but not that"),
        ("```html\n<div># no heading</div>\n```\n# Heading", "```html\n<div># no heading</div>\n```\n### Heading"),
        ("```\nnever closed", "```\nnever closed\n```"),
        ("before <!-- hidden\nlines --> after", "before  after"),
        ("zero\u200bwidth \u202eturned", "zerowidth turned"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_markdown_keeps_what_it_says_and_loses_what_it_could_do(text, plain):
    assert plain_markdown(text) == plain


@given(st.text(alphabet=st.sampled_from("#`~<>!-ab c\n=\"'/script"), max_size=200))
def test_plain_markdown_twice_is_once(text):
    once = plain_markdown(text)
    assert plain_markdown(once) == once


def test_a_section_ends_with_links_to_its_sources():
    section = Section(heading="# 1. Aim", body="It helps.", source_ids=["mem_1", "mem_2", "mem_1"])
    assert (
        rendered([section], {"mem_1": "one", "mem_2": "二"}, CHINESE)
        == "## 1. Aim\n\nIt helps.\n\n来源：[[one]], [[二]]\n"
    )

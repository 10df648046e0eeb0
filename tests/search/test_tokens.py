"""What the tokeniser cuts. These tables are version 1: a change here needs a new TOKENISER_VERSION and a rebuild."""

import sqlite3
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.search.stems import stem
from apps.search.tokens import FTS_TOKENIZER, LONGEST_WORD, Kind, plain, segment, tokens, words

CASES = [
    # text, words, names
    ("Retry policies were cached", "retry policy wer cach", ""),
    ("即适者生存", "即适 适者 者生 生存 存", ""),
    ("存", "存", ""),
    ("修复BUG123问题", "修复 复 bug 123 问题 题", "bug123"),
    ("multi-agent", "multi agent", "multi-agent"),
    ("don't use", "dont use", ""),
    ("don\u2019t use", "dont use", ""),
    ("Maya's O'Brien we'll", "maya o brien we", ""),
    ("GB/s", "gb s", "gb/s"),
    ("src/main.py", "src main py", "src/main.py main.py"),
    (r"C:\Users\x\a.txt", "c user x a txt", r"c:\users\x\a.txt a.txt"),
    ("C++ and C# or g++", "c++ and c# or g++", ""),
    ("C++17, C++/Rust", "c++ 17 c++ rust", "c++17 c++/rust"),
    ("BENCH-100821", "bench 100821", "bench-100821"),
    ("ERR_CONN_RESET", "err conn reset", "err_conn_reset"),
    ("v1.2.3-rc4", "v 1 2 3 rc 4", "v1.2.3-rc4"),
    ("1.2.3-rc4", "1 2 3 rc 4", "1.2.3-rc4"),
    ("getUserName", "get user nam", "getusername"),
    ("HTTPServer", "http server", "httpserver"),
    ("the APIs of GitHub", "the api of git hub", "github"),
    ("my_module.load_config()", "my modul load config", "my_module.load_config"),
    ("0x80070005", "0x80070005", ""),
    ("ref000012x3fa1", "ref000012x3fa1", ""),
    ("me@example.org", "me exampl org", "me@example.org"),
    (
        "https://example.com/a/b.html?x=1",
        "http exampl com a b html x 1",
        "https://example.com/a/b.html example.com b.html x=1",
    ),
    ("01_ナレッジベース Übung", "01 ナレ レッ ッジ ジベ ベー ース ス ubung", ""),
    ("데이터베이스", "데이 이터 터베 베이 이스 스", ""),
    ("สวัสดี", "สว วั ัส สด ดี ี", ""),
    ("Straße naïve Łódź", "strass naiv lodz", ""),
    ("ＢＵＧ１２３", "bug 123", "bug123"),
    ("हिन्दी में", "हिन्दी में", ""),
    ("مُحَمَّد", "محمد", ""),
    ("𠀀𠀁 丽", "𠀀𠀁 𠀁 丽", ""),
    ("launch 🚀 → now", "launch 🚀 → now", ""),
    ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth", ""),
    ("*** --- ::: \x00", "", ""),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "stream", "names"), CASES)
def test_a_text_is_cut_as_the_table_says(text, stream, names):
    assert tuple(segment(text)) == (stream, names)


@pytest.mark.parametrize(
    "forms",
    [
        "cache caches cached caching",
        "policy policies",
        "plan plans planned planning",
        "use uses used using",
        "quick quickly",
        "deploy deploys deployed deploying",
        "index indexes indexed indexing indices",
        "person people",
        "id ids",
        "box boxes",
        "die dies died",
    ],
)
def test_the_forms_of_a_word_share_one_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "word", "redis status analysis string spring thing need feed this was class process bus news".split()
)
def test_words_that_only_look_inflected_stay(word):
    assert stem(word) == word


def test_composed_and_decomposed_text_have_the_same_tokens():
    text = "01_ナレッジベース Übung façade 각하"
    assert segment(unicodedata.normalize("NFC", text)) == segment(unicodedata.normalize("NFD", text))


def test_a_very_long_word_is_cut_into_slices_and_none_of_it_is_lost():
    long = "ab" * 500
    assert "".join(words(long)) == long
    assert max(map(len, words(long))) == LONGEST_WORD


def test_tokens_know_their_place_in_the_original_text():
    text = "Fix:\tＧetUserName in Übung"
    decomposed = unicodedata.normalize("NFD", text)
    found = {token.text: decomposed[token.start : token.end] for token in tokens(decomposed)}
    assert found["getusername"] == "ＧetUserName"
    assert found["user"] == "User"
    assert found["ubung"] == "U\u0308bung"


def test_tokens_say_what_kind_they_are():
    assert {token.kind for token in tokens("fix src/main.py 内存 🚀")} == set(Kind)


# --- the contract with FTS5: one token of ours is one token there -------------------------------------------


@pytest.fixture(scope="module")
def fts():
    database = sqlite3.connect(":memory:")
    database.execute(f'CREATE VIRTUAL TABLE cut USING fts5(text, tokenize="{FTS_TOKENIZER}")')
    database.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(cut, 'instance')")
    yield database
    database.close()


anything = st.text(max_size=80) | st.text(alphabet="aZ09_-./\\:@+#&=~%'\"* 内存ナ가éß\u0301🚀\u200d", max_size=60)


@settings(max_examples=300, deadline=None)
@given(text=anything)
def test_every_token_is_exactly_one_token_of_fts5_and_can_be_found(fts, text):
    cut = words(text)
    fts.execute("DELETE FROM cut")
    fts.execute("INSERT INTO cut(rowid, text) VALUES (1, ?)", [" ".join(cut)])
    assert [row[0] for row in fts.execute("SELECT term FROM seen ORDER BY offset")] == cut
    for token in set(cut):
        assert fts.execute("SELECT rowid FROM cut WHERE cut MATCH ?", [f'"{token}"']).fetchall() == [(1,)]


@settings(max_examples=300, deadline=None)
@given(text=anything)
def test_the_three_ways_to_cut_a_text_agree(text):
    stream, names = segment(text)
    found = list(tokens(text))
    assert [token.text for token in found if token.kind is not Kind.NAME] == stream.split()
    assert [token.text for token in found if token.kind is Kind.NAME] == names.split()
    assert all(0 <= token.start < token.end <= len(text) for token in found)


@settings(max_examples=200, deadline=None)
@given(text=anything)
def test_plain_text_stays_plain(text):
    assert segment(plain(text)) == segment(text)


@settings(max_examples=200, deadline=None)
@given(before=anything, after=anything)
def test_white_space_separates_for_good(before, after):
    assert segment(f"{before}\n{after}").words.split() == segment(before).words.split() + segment(after).words.split()

"""Text inside the house (D-07, case row 15)."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.base.text import clean_line, fold, lf, nfc, slug_for, without_surrogates


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Übung", "U\u0308BUNG"),
        ("straße", "STRASSE"),
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("ﬁle", "FILE"),
        ("Ωmega", "ωMEGA"),
    ],
)
def test_fold_is_the_same_for_texts_that_differ_in_case_width_or_form(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_fold_keeps_different_words_apart() -> None:
    assert len({fold(word) for word in ("résumé", "resume", "生存", "生存者", "a b", "ab")}) == 6


@settings(max_examples=200)
@given(st.text())
def test_folding_twice_is_folding_once_whatever_the_form(text: str) -> None:
    assert fold(fold(text)) == fold(text) == fold(unicodedata.normalize("NFD", text))


def test_nfc_composes_and_leaves_the_rest_alone() -> None:
    assert nfc("U\u0308bung ﬁ") == "Übung ﬁ"


@pytest.mark.parametrize(
    ("document", "expected"),
    [(b"a\r\nb\rc\n", b"a\nb\nc\n"), (b"\r\r\n\n", b"\n\n\n"), (b"plain", b"plain"), (b"\xff\r\n", b"\xff\n")],
)
def test_lf_turns_every_line_ending_into_one(document: bytes, expected: bytes) -> None:
    assert lf(document) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud83d\ude00", "😀"),
        ("a\ud83db", "a\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ufeffkept 生存", "\ufeffkept 生存"),
    ],
)
def test_halves_of_surrogate_pairs_are_joined_or_replaced(text: str, expected: str) -> None:
    assert without_surrogates(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Daily\t2026-09-22 \n", "Daily 2026-09-22"),
        ("a\x00b\x85c\u2028d", "a b c d"),
        ("全角\u3000空格", "全角 空格"),
        ("exe\u202egnp.txt", "exegnp.txt"),
        ("👩\u200d💻 works", "👩\u200d💻 works"),
        ("U\u0308bung", "Übung"),
        ("\ufeff\n", ""),
        ("lone \ud800", "lone \ufffd"),
    ],
)
def test_a_clean_line_is_one_visible_line(text: str, expected: str) -> None:
    assert clean_line(text) == expected


@settings(max_examples=200)
@given(st.text(st.characters()))
def test_cleaning_twice_is_cleaning_once_and_utf8_can_hold_it(text: str) -> None:
    line = clean_line(text)
    assert clean_line(line) == line == line.strip()
    assert not any(unicodedata.category(character) == "Cc" for character in line)
    line.encode()


def test_slug_for_can_be_had_from_below_the_memories() -> None:
    assert slug_for("My Project") == "my-project"

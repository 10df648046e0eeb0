"""Slugs and given paths (D-07, D-26, L-24, case row 15)."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.slugs import safe_path_reason, same_slug_key, slug_for, with_suffix


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Daily 2026-09-22", "daily-2026-09-22"),
        ("01_ナレッジベース Übung", "01-ナレッジベース-übung"),
        ("即适者生存，生存等于正确的道理。", "即适者生存-生存等于正确的道理"),
        ("हिन्दी में लिखा", "हिन्दी-में-लिखा"),
        ("ภาษาไทย ดี", "ภาษาไทย-ดี"),
        ("Don't use src/main.py", "dont-use-src-main-py"),
        ("C++ & GB/s", "c-gb-s"),
        ("Ｆｕｌｌ ＷＩＤＴＨ ①", "full-width-1"),
        ("❤️ hearts", "hearts"),
        ("..hidden", "hidden"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "con-name"),
        ("com¹", "com1-name"),
        ("nul.txt", "nul-txt"),
        ("", "untitled"),
        ("🎉🎉", "untitled"),
        ("\u3164", "untitled"),
        ("\ud800", "untitled"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_a_slug_keeps_the_letters_of_every_script(title: str, slug: str) -> None:
    assert slug_for(title) == slug


def test_composed_and_decomposed_titles_have_one_slug() -> None:
    title = "01_ナレッジベース Übung"
    assert slug_for(unicodedata.normalize("NFD", title)) == slug_for(title)


@pytest.mark.parametrize("letter", ["a", "é", "生", "𠮷", "हि", "👍a", "a\u0301\u0302\u0303"])
def test_a_long_title_is_cut_within_both_limits_and_not_inside_a_letter(letter: str) -> None:
    slug = slug_for(letter * 200)
    assert len(slug) <= 60 and len(slug.encode()) <= 180
    assert len(slug) > 30
    assert slug_for(slug) == slug


def test_nothing_but_marks_is_cut_all_the_same() -> None:
    slug = slug_for("z" + "\u0335" * 300)
    assert len(slug) == 60


@settings(max_examples=400)
@given(st.text(st.characters(), max_size=120))
def test_any_title_gives_a_safe_stable_slug(title: str) -> None:
    slug = slug_for(title)
    assert slug and len(slug) <= 60 and len(slug.encode()) <= 180
    assert slug == slug_for(slug) == unicodedata.normalize("NFC", slug)
    assert safe_path_reason(f"memories/2026/09/{slug}.md") is None
    assert same_slug_key(slug) == same_slug_key(slug.casefold())


@settings(max_examples=200)
@given(st.text(max_size=100), st.integers(2, 10**6))
def test_suffixes_stay_within_the_limits_and_never_meet(title: str, number: int) -> None:
    slug = slug_for(title)
    named = with_suffix(slug, number)
    assert len(named) <= 60 and len(named.encode()) <= 180
    assert named != with_suffix(slug, number + 1)
    assert safe_path_reason(f"{named}.md") is None


def test_the_first_name_has_no_suffix_and_the_next_ones_grow() -> None:
    assert [with_suffix("daily", number) for number in (1, 2, 10)] == ["daily", "daily-2", "daily-10"]
    assert with_suffix("a" * 60, 12) == "a" * 57 + "-12"


def test_slugs_that_one_file_system_confuses_share_a_key() -> None:
    assert same_slug_key("Übung") == same_slug_key("U\u0308BUNG") == same_slug_key("ÜBUNG")
    assert same_slug_key("übung") != same_slug_key("ubung")


@pytest.mark.parametrize(
    "path",
    [
        "notes/x.md",
        "memories/2026/09-2/daily-2026-09-22.md",
        "团队 规范/代码 评审.md",
        "v1.2/Release notes (final).md",
        "a/console.md",
        "note~draft.md",
        "فارسی/می\u200cخواهم.md",
    ],
)
def test_ordinary_paths_are_accepted(path: str) -> None:
    assert safe_path_reason(path) is None


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("", "empty"),
        ("notes/x.txt", ".md"),
        ("notes/x.MD", ".md"),
        (".md", "dot"),
        ("notes/.md", "dot"),
        ("../x.md", ".."),
        ("a/../x.md", ".."),
        ("a/./x.md", ".."),
        ("/etc/x.md", "absolute"),
        ("~/x.md", "absolute"),
        ("C:/x.md", "absolute"),
        ("C:x.md", "absolute"),
        ("a\\x.md", "backslash"),
        ("a//x.md", "without a name"),
        ("a/\u200b/x.md", "without a name"),
        ("a/", "without a name"),
        ("a/x\n.md", "control"),
        ("a/x\x00.md", "control"),
        ("a/\ud800.md", "control"),
        (".git/x.md", "dot"),
        ("a/.GIT/x.md", "dot"),
        (".memrelay/x.md", "dot"),
        ("\u200c.git/x.md", "dot"),
        ("git~1/x.md", "Windows"),
        ("a/what?.md", "Windows"),
        ("a/x:stream.md", "Windows"),
        ("con.md", "device"),
        ("a/NUL/x.md", "device"),
        ("a/Com1.notes.md", "device"),
        ("a/aux .md", "device"),
        ("a /x.md", "space"),
        ("a./x.md", "dot"),
        (" a.md", "space"),
        ("a/" + "生" * 90 + ".md", "255"),
        ("/".join(["abcdefghi"] * 100) + ".md", "900"),
        ("U\u0308bung.md", "NFC"),
    ],
)
def test_a_path_that_some_system_cannot_hold_is_refused_with_its_reason(path: str, word: str) -> None:
    assert word in (safe_path_reason(path) or "")

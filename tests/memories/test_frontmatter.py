"""Frontmatter survives every edit (architecture section 5, D-39, L-06, case row 11)."""

import time
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.memories.frontmatter import (
    BOM,
    HEAD_LIMIT,
    HeadTooLarge,
    NotUtf8,
    ProblemKind,
    Unwritable,
    Value,
    compose,
    parse,
    read,
    split,
    with_body,
    write,
)

BaseLoader = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader  # Everything is text to it.

USUAL: dict[str, Value] = {
    "stable_id": "mem_01k8zt4n9s3v5w7y2b4d6f8h0j",
    "title": "Daily 2026-09-22: 护城河",
    "type": "note",
    "permalink": "memories/2026/09/daily-2026-09-22",
    "slug": "daily-2026-09-22",
    "kind": "fact",
    "note_type": "user",
    "summary": 'Much "stuff"',
    "tags": ["a", "护城河", "2024"],
    "status": "active",
    "project_id": "prj_01k8zt4n9s3v5w7y2b4d6f8h0j",
    "usage_profile_id": "shared",
    "revision": 3,
    "created_at": "2026-09-22T10:00:00.123Z",
    "updated_at": "2026-09-22T10:00:00.123Z",
}

# Each of these means something else, or nothing, when it stands bare in YAML.
TRICKY = [
    "yes", "NO", "null", "~", "1", "1_000", "0o17", "0x1f", "1e5", ".inf", ".5", "1:30", "2026-09-22",
    "2026-09-22T10:00:00Z", "a: b", "a:", ": a", "a #b", "#a", "- a", "-a", "-", "?", "? a",
    "[a]", "{a", "a, b", "*a", "&a", "!a", "|", ">", "%a",
    "@a", "`a`", "'a'", '"a"', 'a "b', "a\\b", "a\nb", "\na\n", "a\r\nb", "a\x85b", "a\u2028b", "\ufeffa",
    "🎉", "---", "...", "=", "<<",
    "y", "n", " a", "a ", "\ta", "a\t", "\u00a0a", "\x7f", "\ufffe", "true", "$x", "+1", "/a", "生存: 是",
]  # fmt: skip
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30) | st.sampled_from(
    TRICKY
)
values: st.SearchStrategy[Value] = texts | st.lists(texts, max_size=4) | st.integers(0, 10**9) | st.booleans()
bodies = st.sampled_from(
    [b"", b"\n", b"Text\r\nmore\r\n", b"---\nrule\n---\n", "即适者生存\n".encode(), b"a\rb", b"# H\n\nx"]
)


def head_of(document: bytes) -> str:
    return b"".join(split(document).head_lines or ()).decode()


def yaml_of(document: bytes) -> dict[str, object]:
    loaded = yaml.load(head_of(document), Loader=yaml.SafeLoader)
    return loaded or {}


# Reading.


def test_a_usual_document_is_read_back_with_its_types() -> None:
    document = compose(USUAL, b"Body\n")
    parts, metadata = parse(document)
    assert metadata == USUAL and not metadata.problems and not metadata.other
    assert parts.body == b"Body\n"
    assert list(yaml_of(document)) == list(USUAL)
    assert yaml_of(document) == USUAL


def test_a_document_without_frontmatter_is_all_body() -> None:
    parts, metadata = parse(b"# Title\n")
    assert parts.head_lines is None and parts.body == b"# Title\n" and metadata == {}


@pytest.mark.parametrize(
    "document",
    [
        b"---\nSome prose under a rule.\n",
        b"---\nSome prose between rules.\n\n---\nMore.\n",
        b"---\n- a\n- b\n---\nlist\n",
        b"---\n# Heading\n---\n",
        b'---\nWell: this is a\nlonger paragraph "with: quotes\nof prose.\n---\n',
        b"--- \ntext",
        b"---",
        b"----\na: b\n----\n",
        b" ---\na: b\n---\n",
        b"---\n" + b"x: " + b"y" * HEAD_LIMIT + b"\n---\n",
    ],
)
def test_a_rule_on_line_1_that_opens_no_block_of_keys_is_body(document: bytes) -> None:
    parts = split(document)
    assert parts.head_lines is None and parts.body == document
    changed = write(document, {"title": "New"})
    assert changed == b"---\ntitle: New\n---\n" + document
    assert split(changed).body == document


def test_a_broken_line_costs_its_own_value_only_and_stays_byte_for_byte() -> None:
    broken = b'description: "abc "def" ghi"\n'
    document = b"---\ntitle: Kept\n" + broken + b"tags: [one, two]\ncustom: x\n---\nBody\n"
    metadata = read(document)
    assert metadata == {"title": "Kept", "tags": ["one", "two"]}
    assert metadata.other == {"custom": "x"}
    [problem] = metadata.problems
    assert (problem.line, problem.key, problem.kind) == (3, "description", ProblemKind.UNREADABLE)
    assert problem.text == broken.decode().strip()
    changed = write(document, {"tags": ["three"], "stable_id": "mem_1"})
    assert changed == (b"---\ntitle: Kept\n" + broken + b"tags:\n  - three\ncustom: x\nstable_id: mem_1\n---\nBody\n")
    assert read(changed)["tags"] == ["three"]


def test_a_broken_known_key_can_be_replaced() -> None:
    document = b'---\ntitle: "abc "def" ghi"\ncustom: "x\n---\n'
    assert "title" not in read(document)
    changed = write(document, {"title": "Sound"})
    assert changed == b'---\ntitle: Sound\ncustom: "x\n---\n'


def test_stray_lines_are_reported_and_left_alone() -> None:
    document = b"---\ntitle: foo\nsome stray text\ntags:\n- x\nslug: s\n---\n"
    metadata = read(document)
    assert metadata == {"title": "foo", "tags": ["x"], "slug": "s"}
    assert [(problem.line, problem.key) for problem in metadata.problems] == [(3, "")]
    assert write(document, {"title": "bar"}) == document.replace(b"title: foo", b"title: bar")


def test_the_last_of_a_key_named_twice_counts_and_both_are_reported_or_replaced() -> None:
    document = b"---\ntitle: one\nother: x\ntitle: two\n---\n"
    metadata = read(document)
    assert metadata["title"] == "two"
    assert [(problem.line, problem.kind) for problem in metadata.problems] == [(4, ProblemKind.DUPLICATE)]
    assert write(document, {"title": "three"}) == b"---\nother: x\ntitle: three\n---\n"
    assert write(document, {"title": "two"}) == document


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        (b"title: 2024", "title", "2024"),
        (b"title: yes", "title", "yes"),
        (b"title: 0x10 # why", "title", "0x10"),
        (b"created_at: 2026-09-22", "created_at", "2026-09-22"),
        (b"created_at: 2026-09-22 10:00:00 +08:00", "created_at", "2026-09-22 10:00:00 +08:00"),
        (b"title: null", "title", None),
        (b"title:", "title", None),
        (b"title: ''", "title", ""),
        (b"title: 'It''s'", "title", "It's"),
        (b'title: "\\U0001F389 \\x41"', "title", "🎉 A"),
        (b"title: !!str null", "title", "null"),
        (b"summary: >\n  folded\n  text\n", "summary", "folded text\n"),
        (b"summary: |-\n  a\n  # b\n", "summary", "a\n# b"),
        (b"summary: several\n  lines", "summary", "several lines"),
        (b"tags: one, two", "tags", ["one", "two"]),
        (b"tags: one", "tags", ["one"]),
        (b"tags: []", "tags", []),
        (b"tags: [a, 'b', 2024, null]", "tags", ["a", "b", "2024"]),
        (b"tags: [\n  a,\n  b\n]", "tags", ["a", "b"]),
        (b"tags:\n- a\n-\n- b # c", "tags", ["a", "b"]),
        (b"tags:\n    - a: b", "tags", None),
        (b"revision: '7'", "revision", 7),
        (b"revision: seven", "revision", None),
        (b"important: True", "important", True),
        (b"important: off", "important", False),
    ],
)
def test_values_of_known_keys_have_their_type_however_they_are_written(line: bytes, key: str, value: object) -> None:
    metadata = read(b"---\n" + line + b"\nx: 1\n---\n")
    assert metadata.get(key) == value
    assert metadata.other == {"x": "1"}


def test_a_value_of_the_wrong_type_is_reported() -> None:
    metadata = read(b"---\ntitle: [a]\nrevision: x\ntags: {a: b}\n---\n")
    assert metadata == {}
    assert [(problem.line, problem.key) for problem in metadata.problems] == [
        (2, "title"),
        (3, "revision"),
        (4, "tags"),
    ]


@pytest.mark.parametrize("fence", [b"--- \t\n", b"---\n"])
def test_an_empty_block_is_a_block(fence: bytes) -> None:
    document = b"---\n" + fence + b"body"
    assert split(document).head_lines == ()
    assert write(document, {"title": "x"}) == b"---\ntitle: x\n" + fence + b"body"


def test_json_frontmatter_is_read_and_becomes_lines_when_it_changes() -> None:
    head = '{\n\t"id": "pricing-3fa", "title": "Größe \\ud83d\\ude00", "tags": ["a: b"], "more": {"x": [1]}}'
    document = f"---\n{head}\n---\nBody"
    metadata = read(document.encode())
    assert metadata == {"title": "Größe 😀", "tags": ["a: b"]} and metadata.other == {"id": "pricing-3fa"}
    assert write(document.encode(), {"title": "Größe 😀"}) == document.encode()
    changed = write(document.encode(), {"title": "New"})
    assert changed.decode() == '---\nid: "pricing-3fa"\ntitle: New\ntags: ["a: b"]\nmore: {"x": [1]}\n---\nBody'


def test_flow_mappings_and_explicit_keys_can_be_changed_too() -> None:
    assert write(b"---\n{title: a, 'x y': [1, {b: c}]}\n---\n", {"title": "b"}) == (
        b"---\ntitle: b\n'x y': [1, {b: c}]\n---\n"
    )
    changed = write(b"---\n? title\n: |\n  a\nx: &a [1]\ny: *a\n---\n", {"slug": "s"})
    assert yaml_of(changed) == {"title": "a\n", "x": [1], "y": [1], "slug": "s"}
    assert write(b"---\n{}\n---\n", {"slug": "s"}) == b"---\nslug: s\n---\n"


def test_an_indented_block_stays_indented() -> None:
    document = b"---\n  title: x\n  tags:\n    - a # why\n---\n"
    changed = write(document, {"slug": "s", "tags": ["b", "c"]})
    assert changed == b"---\n  title: x\n  tags:\n    - b\n    - c\n  slug: s\n---\n"
    assert yaml_of(changed) == {"title": "x", "tags": ["b", "c"], "slug": "s"}


@pytest.mark.parametrize("document", [b"\xff\xfet\x00", b"---\ntitle: \xe9\n---\n", b"body \xe9"])
def test_bytes_that_are_not_utf8_are_a_clear_error(document: bytes) -> None:
    for act in (split, read, lambda raw: write(raw, {"title": "x"})):
        with pytest.raises(NotUtf8):
            act(document)


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_what_no_file_can_hold_is_refused(text: str) -> None:
    values: list[Value] = [text, ["ok", text]]
    for value in values:
        with pytest.raises(Unwritable):
            compose({"title": value}, b"")
        with pytest.raises(Unwritable):
            write(b"", {"tags": value})
    with pytest.raises(Unwritable):
        write(b"", {"a: b": "x"})


def test_a_head_too_large_to_be_found_again_is_refused() -> None:
    with pytest.raises(HeadTooLarge):
        compose({"summary": "x" * HEAD_LIMIT}, b"")


def test_hostile_heads_are_read_in_bounded_time() -> None:
    size = 60_000
    heads = [
        "[" * size,
        "a: " + "[" * size,
        "a: 'b\n" * (size // 6),
        "a: [" + " " * size,
        "a: " + "x, " * (size // 3),
        "? " * size,
    ]
    heads += [
        "x" + " " * size + ":",
        '"' * size,
        "a: &a [b]\n" + "c: [*a, *a]\n" * 5000,
        "\t" * size,
        "- " * size,
        "a: \\" * size,
    ]
    started = time.process_time()
    for head in heads:
        write(f"---\n{head}\n---\nbody\n".encode(), {"title": "x"})
    assert time.process_time() - started < 5


# Writing.


def test_nothing_changes_where_nothing_is_asked_or_all_is_said_already() -> None:
    document = b"---\ntitle: 'Foo'  # mine\ntags: [a, b]\nrevision: 3\nimportant: yes\n---\nx"
    same: Mapping[str, Value | None] = {
        "title": "Foo", "tags": ("a", "b"), "revision": 3, "important": True, "summary": None,
    }  # fmt: skip
    assert write(document, same) == document
    assert write(b"no head", {}) == b"no head"


def test_comments_quotes_and_order_of_everything_else_survive() -> None:
    document = (
        b"---\n"
        b"# About this file\n"
        b"aliases: [ 'A',  \"B\" ]   # spacing is mine\n"
        b"title: Old  # keep this remark\n"
        b"\n"
        b"nested:\n"
        b"    deep: {x: 1}\n"
        b"    # inside\n"
        b"# before the tags\n"
        b"tags: # remark\n"
        b"- one\n"
        b"\n"
        b"- two\n"
        b"\n"
        b"# after the tags\n"
        b"summary: |  # block\n"
        b"  long\n"
        b"  # no comment\n"
        b"\n"
        b"zeta: !custom {a: 1}\n"
        b"# last words\n"
        b"---\n"
    )
    changed = write(document, {"title": "New", "tags": ["x"], "summary": "short", "kind": "fact", "stable_id": "m"})
    assert changed == (
        b"---\n"
        b"# About this file\n"
        b"aliases: [ 'A',  \"B\" ]   # spacing is mine\n"
        b"title: New  # keep this remark\n"
        b"\n"
        b"nested:\n"
        b"    deep: {x: 1}\n"
        b"    # inside\n"
        b"# before the tags\n"
        b"tags: # remark\n"
        b"  - x\n"
        b"\n"
        b"# after the tags\n"
        b"summary: short  # block\n"
        b"\n"
        b"zeta: !custom {a: 1}\n"
        b"# last words\n"
        b"stable_id: m\n"
        b"kind: fact\n"
        b"---\n"
    )


def test_crlf_and_the_byte_order_mark_stay() -> None:
    document = BOM + b"---\r\nfoo: 1\r\n---\r\nbody\r\n\xe2\x80\xa8tail"
    changed = write(document, {"title": "x", "tags": ["a"]})
    assert changed == BOM + b"---\r\nfoo: 1\r\ntitle: x\r\ntags:\r\n  - a\r\n---\r\nbody\r\n\xe2\x80\xa8tail"
    assert write(BOM + b"body\r\n", {"title": "x"}) == BOM + b"---\r\ntitle: x\r\n---\r\nbody\r\n"
    assert compose({"title": "x"}, BOM + b"a\r\n") == b"---\r\ntitle: x\r\n---\r\n" + BOM + b"a\r\n"


@pytest.mark.parametrize(
    ("document", "changed"),
    [
        (b"---\na: 1\n---\nold", b"---\na: 1\n---\nnew"),
        (b"---\na: 1\n---", b"---\na: 1\n---\nnew"),
        (b"---\r\na: 1\r\n---", b"---\r\na: 1\r\n---\r\nnew"),
        (b"---\na: 1\n---\n", b"---\na: 1\n---\nnew"),
        (BOM + b"old", BOM + b"new"),
        (b"", b"new"),
    ],
)
def test_another_body_comes_under_the_same_head(document: bytes, changed: bytes) -> None:
    assert with_body(document, b"new") == changed
    assert split(changed).body == b"new"


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*USUAL, "custom", "yes", "_x"]), values, max_size=6), bodies)
def test_whatever_is_composed_is_read_back_the_same_by_us_and_by_pyyaml(
    metadata: dict[str, Value], body: bytes
) -> None:
    document = compose(metadata, body)
    assert split(document).body == body
    assert split(document).joined() == document
    loaded = yaml.load(head_of(document), Loader=BaseLoader) or {}
    for key, value in metadata.items():
        texts = [str(item) for item in value] if isinstance(value, list) else str(value)
        assert loaded[key] == (str(value).lower() if isinstance(value, bool) else texts)
    # Names such as ``yes`` are no text to YAML 1.1; what stands behind them is still what was written.
    assert list(yaml_of(document).values()) == [metadata[key] for key in loaded]
    assert write(document, metadata) == document


_CHUNKS = [
    "foreign: 1\n", "a-b: 'x' # c\n", "# comment\n", "\n", "list:\n- a\n- b: c\n", "deep:\n  x:\n    - y\n  # in\n",
    "lit: |\n  a\n\n  # b\n", "fold: >-\n  a\n   b\n", "quoted: \"a\n  b\" # c\n", "flow: [a,\n  b]\n", "标题: 值\n",
    "date: 2026-09-22\n", "empty:\n", "'q k': \"\\u00e9\"\n", "anchor: &x y\n", "tabbed:\tz\n",
    "remarked: 1\n  # indented comment\n", "plain: several\n  lines\n",
]  # fmt: skip
_OURS = [
    ("title", "title: One # c\n"), ("tags", "tags: [a, b]\n"), ("tags", "tags:\n  - a\n  - 'b'\n"),
    ("revision", "revision: 3\n"), ("summary", "summary: >\n  a\n  b\n"), ("slug", "slug: \"s\"\n"),
    ("kind", "kind:\n"),
    ("status", "status: active   \n"),
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_foreign_lines_and_body_bytes_survive_any_sequence_of_writes(data: st.DataObject) -> None:
    chunks = data.draw(st.lists(st.sampled_from(_CHUNKS), unique=True, max_size=8))
    ours = data.draw(st.lists(st.sampled_from(_OURS), unique_by=lambda pair: pair[0], max_size=4))
    mixed = data.draw(st.permutations([("", chunk) for chunk in chunks] + ours))
    if not any(not line.strip().startswith("#") and line.strip() for _, line in mixed):
        mixed = [("", "first: x\n"), *mixed]
    newline, bom, body = (
        data.draw(st.sampled_from(["\n", "\r\n"])),
        data.draw(st.sampled_from([b"", BOM])),
        data.draw(bodies),
    )

    def document_of(lines: list[tuple[str, str]]) -> bytes:
        text = "---\n" + "".join(line for _, line in lines) + "---\n"
        return bom + text.replace("\n", newline).encode() + body

    document = document_of(mixed)
    expected = {key: read(document).get(key) for key, _ in ours}
    touched = {key for key, _ in ours}
    for _ in range(data.draw(st.integers(1, 3))):
        changes = data.draw(st.dictionaries(st.sampled_from([*USUAL]), st.none() | values, max_size=4))
        document = write(document, changes)
        touched |= changes.keys()
        expected |= changes
        texts = yaml.load(head_of(document), Loader=BaseLoader)
        for key, value in expected.items():
            if isinstance(value, str | list) and texts[key] != value:
                assert isinstance(texts[key], str) and key == "tags"  # Left as it was: ``tags: one, two``.
            assert (value is None) or key in texts
    assert split(document).body == body and document.startswith(bom + b"---" + newline.encode())
    assert document.replace(b"\r\n", b"").count(b"\r") == body.replace(b"\r\n", b"").count(b"\r")
    foreign = [pair for pair in mixed if not pair[0]]
    assert write(document, dict.fromkeys(touched)) == document_of(foreign)


_FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *"ab:-#'\"[]{},&*!|>%@`?\\ \t\n\n\n",
            ": ",
            " #",
            "- ",
            "\n- ",
            "\n  ",
            "a: b\n",
            "title: ",
            "tags:\n",
            "é",
            "\x85",
            "\r\n",
            "...",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(_FRAGMENTS)
def test_every_head_that_yaml_reads_is_read_the_same_here(fragments: str) -> None:
    document = f"---\n{fragments}\n---\nbody".encode()
    parts, metadata = parse(document)
    assert parts.joined() == document
    head = head_of(document)
    try:
        loaded = yaml.load(head, Loader=BaseLoader)
    except yaml.YAMLError:
        return
    if parts.head_lines is None or not isinstance(loaded, dict) or "" in loaded:
        return  # A key of nothing is written as ``~`` where the head has to be rewritten.
    for key, value in metadata.other.items():
        if isinstance(value, str):
            assert loaded[key] == value
        else:
            # The loader does not tell an item of nothing from an empty text such as ``!`` or ``""``.
            assert [item for item in loaded[key] if item not in ("", "null", "~")] == [item for item in value if item]
    changed = write(document, {"slug": "s", "title": None})
    assert split(changed).body == split(document).body
    after = yaml.load(head_of(changed), Loader=BaseLoader)
    loaded.pop("title", None)
    assert after == {**loaded, "slug": "s"}


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=60) | _FRAGMENTS.map(lambda text: ("---\n" + text).encode()),
    st.dictionaries(st.sampled_from(["title", "tags"]), values),
)
def test_any_bytes_give_a_document_or_a_clear_error(document: bytes, changes: dict[str, Value]) -> None:
    try:
        changed = write(document, changes)
    except NotUtf8:
        return
    assert split(changed).body == split(document).body
    for key, value in changes.items():
        assert not isinstance(value, str) or key == "tags" or read(changed)[key] == value


def test_reading_and_writing_a_usual_head_stays_fast() -> None:
    """The aim is 0.15 ms for both; the bound here only notices a lost fast path on a busy machine."""
    document = compose(USUAL, b"Body of a memory.\n" * 100)
    changes: dict[str, Value] = {
        "title": "Other: x",
        "revision": 4,
        "tags": ["b"],
        "updated_at": "2026-09-22T11:00:00.123Z",
    }
    best = 1.0
    for _ in range(20):
        started = time.process_time()
        for _ in range(20):
            read(document)
            write(document, changes)
        best = min(best, (time.process_time() - started) / 20)
    assert best < 0.001

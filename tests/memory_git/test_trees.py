"""Trees from outside: refused whole where they could do harm, one document left out by name where it is not in order."""

import pytest
from dulwich.objects import Blob, ShaFile
from dulwich.repo import MemoryRepo

from apps.memory_git.errors import UnsafeTree
from apps.memory_git.trees.documents import validated
from apps.memory_git.trees.problems import Problem
from apps.memory_git.trees.walking import DEEPEST

GOOD = b"---\nstable_id: mem_1\ntitle: Good\ntype: note\npermalink: global/good\n---\nText.\n"
OTHER = GOOD.replace(b"mem_1", b"mem_2")
FILE, FOLDER = 0o100644, 0o040000


@pytest.fixture
def store():
    repo = MemoryRepo.init_bare([], {})
    return repo.object_store


def tree_of(store, *entries: tuple[bytes, int, bytes]) -> bytes:
    raw = b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(sha.decode()) for name, mode, sha in entries)
    made = ShaFile.from_raw_string(2, raw)
    store.add_object(made)
    return bytes(made.id)


def blob(store, content: bytes) -> bytes:
    made = Blob.from_string(content)
    store.add_object(made)
    return bytes(made.id)


def test_a_sound_tree_gives_its_documents(store) -> None:
    note = tree_of(store, (b"good.md", FILE, blob(store, GOOD)))
    root = tree_of(store, (b".gitattributes", FILE, blob(store, b"x")), (b"memories", FOLDER, note))
    found = validated(store, root, scope_key="global/shared")
    assert [(one.stable_id, one.path) for one in found.documents] == [("mem_1", "memories/good.md")]
    assert found.ignored == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (b"..", Problem.BAD_NAME),
        (b"a/b.md", Problem.BAD_NAME),
        (b"..\\evil.md", Problem.BAD_NAME),
        (b"a\\..\\..\\evil.md", Problem.BAD_NAME),
        (b"\\evil.md", Problem.BAD_NAME),
        (b".git", Problem.DOTGIT),
        (b".GIT", Problem.DOTGIT),
        (b"git~1", Problem.DOTGIT),
        (".g\u200cit".encode(), Problem.DOTGIT),
        (b".git::$INDEX_ALLOCATION", Problem.DOTGIT),
        (b".gitmodules", Problem.SUBMODULE),
    ],
)
def test_a_name_that_must_not_be_is_refused(store, name: bytes, problem: Problem) -> None:
    beside = (b"good.md", FILE, blob(store, OTHER))
    refused(store, tree_of(store, (name, FILE, blob(store, GOOD)), beside), problem)
    hidden = tree_of(store, (b"d", FOLDER, tree_of(store, (name, FILE, blob(store, GOOD)))), beside)
    refused(store, tree_of(store, (b"aux", FOLDER, hidden), beside), problem)


@pytest.mark.parametrize(
    ("name", "problem", "told"),
    [
        (b"\xe9.md", Problem.NOT_UTF8, "\\xe9.md"),
        (b"x" * 300, Problem.NAME_TOO_LONG, "x" * 300),
        (b"a\x1b[2Jb.md", Problem.CONTROL_CHARACTER, "a\\x1b[2Jb.md"),
        ("a\u202eb.md".encode(), Problem.CONTROL_CHARACTER, "a\\u202eb.md"),
        (b"a.md ", Problem.TRAILING_DOT_OR_SPACE, "a.md "),
        (b"aux.md", Problem.WINDOWS_NAME, "aux.md"),
        (b"a:b.md", Problem.WINDOWS_NAME, "a:b.md"),
        (b"back\\slash.md", Problem.WINDOWS_NAME, "back\\slash.md"),
    ],
)
def test_a_name_that_another_system_would_not_have_is_left_out(store, name: bytes, problem: Problem, told: str) -> None:
    beside = (b"good.md", FILE, blob(store, OTHER))
    left_out(store, [(name, FILE, blob(store, GOOD)), beside], {told: problem})
    below = tree_of(store, (b"one.md", FILE, blob(store, GOOD)), (b"two.pdf", FILE, blob(store, b"x")))
    left_out(store, [(name, FOLDER, below), beside], {f"{told}/one.md": problem, f"{told}/two.pdf": problem})


def refused(store, tree: bytes, problem: Problem) -> UnsafeTree:
    with pytest.raises(UnsafeTree) as caught:
        validated(store, tree, scope_key="global/shared")
    assert caught.value.facts["what"] == problem.value and caught.value.facts["path"]
    return caught.value


def left_out(store, entries: list[tuple[bytes, int, bytes]], expected: dict[str, Problem]) -> None:
    """What is expected is left out, and the good one (mem_2) alone is taken in."""
    found = validated(store, tree_of(store, *entries), scope_key="global/shared")
    assert [one.stable_id for one in found.documents] == ["mem_2"]
    told = [one.told() for one in found.left_out]
    assert {one["path"]: one["what"] for one in told} == {path: what.value for path, what in expected.items()}


def test_links_submodules_depth_and_damage_are_refused(store) -> None:
    note, beside = blob(store, GOOD), (b"good.md", FILE, blob(store, OTHER))
    for mode, problem in ((0o120000, Problem.SYMLINK), (0o160000, Problem.SUBMODULE), (0o010644, Problem.BAD_MODE)):
        refused(store, tree_of(store, (b"l.md", mode, note), beside), problem)
        hidden = tree_of(store, (b"aux", FOLDER, tree_of(store, (b"l.md", mode, note))), beside)
        refused(store, hidden, problem)
    refused(store, tree_of(store, (b"a.md", FILE, b"1" * 40), beside), Problem.DAMAGED)
    deep = tree_of(store, (b"a.md", FILE, note))
    for _level in range(DEEPEST + 2):
        deep = tree_of(store, (b"d", FOLDER, deep))
    refused(store, deep, Problem.TOO_DEEP)


def test_a_tree_bomb_is_refused_before_it_goes_off(store) -> None:
    tree = tree_of(store, (b"a", FILE, blob(store, b"x")))
    for _level in range(12):
        tree = tree_of(store, *[(b"d%d" % number, FOLDER, tree) for number in range(10)])
    refused(store, tree, Problem.TOO_MANY_ENTRIES)


BROKEN = b"---\nstable_id: mem_1\ntags: [a\n---\nText.\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe", Problem.NOT_TEXT),
        (b"No head.", Problem.NO_ID),
        (BROKEN, Problem.BROKEN_FRONTMATTER),
        (GOOD + b"x" * 500, Problem.TOO_LARGE),
    ],
    ids=lambda given: str(given) if isinstance(given, Problem) else "",
)
def test_a_document_that_is_not_in_order_is_left_out(store, settings, content: bytes, problem: Problem) -> None:
    settings.IMPORT_FILE_BYTES = 300
    bad, good = (b"a.md", FILE, blob(store, content)), (b"good.md", FILE, blob(store, OTHER))
    left_out(store, [bad, good], {"a.md": problem})
    refused(store, tree_of(store, bad), problem)  # Nothing is left of it.


def test_of_twins_none_is_taken_in(store) -> None:
    """Nobody can say which one it is: not where two have one id, and not where two names are one on other systems."""
    one, other, good = blob(store, GOOD), blob(store, GOOD + b"More."), (b"good.md", FILE, blob(store, OTHER))
    left_out(
        store,
        [(b"a.md", FILE, one), (b"b.md", FILE, other), good],
        {"a.md": Problem.DUPLICATE_ID, "b.md": Problem.DUPLICATE_ID},
    )
    for names in ((b"A.md", b"a.md"), ("e\u0301.md".encode(), "\u00e9.md".encode())):
        twins = [
            (name, FILE, blob(store, GOOD.replace(b"mem_1", b"mem_%d" % number)))
            for number, name in enumerate(names, 3)
        ]
        left_out(store, [*twins, good], {name.decode(): Problem.CASE_TWINS for name in names})


def test_of_a_tree_of_our_own_odd_names_and_broken_heads_come_too(store) -> None:
    """The ledger keeps them; a snapshot that left one out would delete it."""
    odd = (b"what is this?.md", FILE, blob(store, BROKEN))
    good = (b"good.md", FILE, blob(store, OTHER))
    none = (b"none.md", FILE, blob(store, b"No head."))
    found = validated(store, tree_of(store, good, none, odd), scope_key="global/shared", strict=False)
    assert sorted(one.stable_id for one in found.documents) == ["mem_1", "mem_2"]
    assert [one.told() for one in found.left_out] == [{"path": "none.md", "what": "no_id"}]


def test_a_tree_of_the_other_strategy_is_told(store) -> None:
    inner = tree_of(store, (b"good.md", FILE, blob(store, GOOD)))
    with pytest.raises(UnsafeTree) as caught:
        validated(store, tree_of(store, (b"memories", FOLDER, inner)))
    assert caught.value.facts["what"] == Problem.WRONG_MODE.value

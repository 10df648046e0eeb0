"""Trees that must not come in, each refused with the name of what is wrong."""

import pytest
from dulwich.objects import Blob, ShaFile
from dulwich.repo import MemoryRepo

from apps.memory_git.errors import UnsafeTree
from apps.memory_git.trees import DEEPEST, Problem, validated

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
        (b".git", Problem.DOTGIT),
        (b".GIT", Problem.DOTGIT),
        (b"git~1", Problem.DOTGIT),
        (".g\u200cit".encode(), Problem.DOTGIT),
        (b".git::$INDEX_ALLOCATION", Problem.DOTGIT),
        (b"\xe9.md", Problem.NOT_UTF8),
        (b"x" * 300, Problem.NAME_TOO_LONG),
        (b"a\nb.md", Problem.CONTROL_CHARACTER),
        ("a\u202eb.md".encode(), Problem.CONTROL_CHARACTER),
        (b"a.md ", Problem.TRAILING_DOT_OR_SPACE),
        (b"aux.md", Problem.WINDOWS_NAME),
        (b"a:b.md", Problem.WINDOWS_NAME),
        (b".gitmodules", Problem.SUBMODULE),
    ],
)
def test_a_name_that_must_not_be_is_refused(store, name: bytes, problem: Problem) -> None:
    refused(store, tree_of(store, (name, FILE, blob(store, GOOD))), problem)


def refused(store, tree: bytes, problem: Problem) -> UnsafeTree:
    with pytest.raises(UnsafeTree) as caught:
        validated(store, tree, scope_key="global/shared")
    assert caught.value.facts["what"] == problem.value and caught.value.facts["path"]
    return caught.value


def test_links_submodules_twins_depth_and_damage_are_refused(store) -> None:
    note = blob(store, GOOD)
    refused(store, tree_of(store, (b"l.md", 0o120000, note)), Problem.SYMLINK)
    refused(store, tree_of(store, (b"s", 0o160000, note)), Problem.SUBMODULE)
    refused(store, tree_of(store, (b"p", 0o010644, note)), Problem.BAD_MODE)
    refused(store, tree_of(store, (b"A.md", FILE, note), (b"a.md", FILE, blob(store, OTHER))), Problem.CASE_TWINS)
    twins = [("e\u0301.md".encode(), FILE, note), ("\u00e9.md".encode(), FILE, blob(store, OTHER))]
    refused(store, tree_of(store, *twins), Problem.CASE_TWINS)
    refused(store, tree_of(store, (b"a.md", FILE, b"1" * 40)), Problem.DAMAGED)
    deep = tree_of(store, (b"a.md", FILE, note))
    for _level in range(DEEPEST + 2):
        deep = tree_of(store, (b"d", FOLDER, deep))
    refused(store, deep, Problem.TOO_DEEP)


def test_a_tree_bomb_is_refused_before_it_goes_off(store) -> None:
    tree = tree_of(store, (b"a", FILE, blob(store, b"x")))
    for _level in range(12):
        tree = tree_of(store, *[(b"d%d" % number, FOLDER, tree) for number in range(10)])
    refused(store, tree, Problem.TOO_MANY_ENTRIES)


def test_documents_are_text_with_frontmatter_and_an_id_of_their_own(store, settings) -> None:
    refused(store, tree_of(store, (b"a.md", FILE, blob(store, b"\xff\xfe"))), Problem.NOT_TEXT)
    refused(store, tree_of(store, (b"a.md", FILE, blob(store, b"No head."))), Problem.NO_ID)
    broken = b"---\nstable_id: mem_1\ntags: [a\n---\nText.\n"
    refused(store, tree_of(store, (b"a.md", FILE, blob(store, broken))), Problem.BROKEN_FRONTMATTER)
    both = tree_of(store, (b"a.md", FILE, blob(store, GOOD)), (b"b.md", FILE, blob(store, GOOD + b"More.")))
    assert "a.md, b.md" in str(refused(store, both, Problem.DUPLICATE_ID))
    settings.IMPORT_FILE_BYTES = 10
    refused(store, tree_of(store, (b"a.md", FILE, blob(store, GOOD))), Problem.TOO_LARGE)


def test_a_tree_of_the_other_strategy_is_told(store) -> None:
    inner = tree_of(store, (b"good.md", FILE, blob(store, GOOD)))
    with pytest.raises(UnsafeTree) as caught:
        validated(store, tree_of(store, (b"memories", FOLDER, inner)))
    assert caught.value.facts["what"] == Problem.WRONG_MODE.value

"""What a push sends: everything that the remote's commit does not lead to, whatever came, went and came back in between."""

import random

import pytest
from dulwich.object_store import MemoryObjectStore
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.repo import MemoryRepo

from apps.memory_git.remotes.sending import objects_between

Files = dict[str, str]
BASE: Files = {"a/one.md": "1"}


def tree_of(store: MemoryObjectStore, files: Files) -> ObjectID:
    folders: dict[str, Tree] = {}
    for path, text in files.items():
        folder, _slash, name = path.partition("/")
        blob = Blob.from_string(text.encode())
        store.add_object(blob)
        folders.setdefault(folder, Tree()).add(name.encode(), 0o100644, blob.id)
    root = Tree()
    for name, folder_tree in folders.items():
        store.add_object(folder_tree)
        root.add(name.encode(), 0o040000, folder_tree.id)
    store.add_object(root)
    return root.id


def history_of(repo: MemoryRepo, states: list[Files]) -> list[bytes]:
    made: list[bytes] = []
    for number, files in enumerate(states):
        commit = Commit()
        commit.tree, commit.parents = tree_of(repo.object_store, files), [ObjectID(sha) for sha in made[-1:]]
        commit.author = commit.committer = b"MemRelay <memrelay@localhost>"
        commit.author_time = commit.commit_time = number
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = b"A commit"
        repo.object_store.add_object(commit)
        made.append(bytes(commit.id))
    return made


def reachable(repo: MemoryRepo, commits: list[bytes]) -> set[bytes]:
    found: set[bytes] = set()
    for sha in commits:
        root = repo[ObjectID(sha)].tree  # type: ignore[attr-defined]
        found |= {sha, bytes(root)}
        for folder in repo.object_store[root].items():  # type: ignore[attr-defined]
            found |= {bytes(folder.sha), *(bytes(entry.sha) for entry in repo.object_store[folder.sha].items())}  # type: ignore[attr-defined]
    return found


def check(states: list[Files]) -> None:
    repo = MemoryRepo()
    made = history_of(repo, states)
    for place in range(len(made)):
        sent = [bytes(one) for one in objects_between(repo, made[place], made[-1])]
        lacking = reachable(repo, made) - reachable(repo, made[: place + 1])
        assert lacking <= set(sent) and len(sent) == len(set(sent))
    everything = {bytes(one) for one in objects_between(repo, None, made[-1])}
    assert everything == reachable(repo, made)


def test_what_came_before_a_save_that_was_taken_back_is_sent() -> None:
    """The tree is the same before and after; each time it is compared with another one."""
    two = {**BASE, "a/two.md": "2"}
    check([BASE, two, {**two, "a/three.md": "3"}, two])
    check([BASE, two, {**two, "b/three.md": "3"}, two, {**two, "b/three.md": "4"}])


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_and_goes_all_that_is_lacking_is_sent(seed: int) -> None:
    dice = random.Random(seed)
    states, files = [BASE], dict(BASE)
    for _step in range(12):
        path = dice.choice(["a/one.md", "a/two.md", "b/one.md", "b/two.md"])
        if path in files and len(files) > 1 and dice.random() < 0.5:
            del files[path]
        else:
            files[path] = dice.choice("123")
        states.append(dict(files))
    check(states)

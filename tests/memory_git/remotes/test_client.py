"""A remote below a folder of this machine: the lease, the fetch into quarantine, what a push sends."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from dulwich.repo import Repo

from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import parse
from apps.memory_git.remotes.client import Lease, Remote
from apps.memory_git.remotes.failures import (
    RemoteDiverged,
    RemoteFailure,
    RemoteMoved,
    RemoteRepositoryMissing,
    RemoteTimedOut,
    RemoteTooLarge,
    RemoteUnreachable,
    RemoteUnsafe,
    known_failure,
)
from apps.memory_git.remotes.packs import PackLimits
from apps.memory_git.remotes.sending import objects_between, pack_between
from tests.memory_git.remotes.made import MAIN, bare, commit, packed, repository, zeros


def at(folder: Path, access: Access | None = None, **options) -> Remote:
    return Remote(parse(f"file://{folder}", file_roots=(folder.parent,)), access or Access(), **options)


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Repo]:
    with repository(tmp_path / "ours") as made:
        yield made


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    bare(tmp_path / "remote.git").close()
    return at(tmp_path / "remote.git")


def test_a_push_moves_the_branch_and_what_was_not_seen_before_is_sent(ours: Repo, remote: Remote):
    first = commit(ours, {"a.md": "one"})
    remote.push(ours, Lease(MAIN, None, first))
    assert remote.refs()[MAIN] == first
    second = commit(ours, {"b.md": "two"})
    remote.push(ours, Lease(MAIN, first, second))
    with Repo(remote.address.path) as theirs:
        assert theirs[second].parents == [first]
        assert len(list(theirs.object_store.iter_tree_contents(theirs[second].tree))) == 2


def test_a_lease_that_is_stale_pushes_nothing(ours: Repo, remote: Remote):
    first = commit(ours, {"a.md": "one"})
    remote.push(ours, Lease(MAIN, None, first))
    second = commit(ours, {"a.md": "two"})
    for expected in (None, b"1" * 40):
        with pytest.raises((RemoteMoved, RemoteDiverged)):
            remote.push(ours, Lease(MAIN, expected, second))
    assert remote.refs() == {MAIN: first}


def test_a_branch_is_never_wound_back_whatever_the_lease_says(ours: Repo, remote: Remote):
    first = commit(ours, {"a.md": "one"})
    second = commit(ours, {"a.md": "two"})
    remote.push(ours, Lease(MAIN, None, second))
    ours.refs[MAIN] = first
    third = commit(ours, {"b.md": "another way"})
    for wanted in (first, third):
        with pytest.raises(RemoteDiverged):
            remote.push(ours, Lease(MAIN, second, wanted))
    assert remote.refs() == {MAIN: second}


def test_a_ref_is_deleted_under_its_lease_too(ours: Repo, remote: Remote):
    made = commit(ours, {"a.md": "one"})
    probe = b"refs/heads/memrelay-probe/x"
    remote.push(ours, Lease(probe, None, made))
    remote.push(ours, Lease(probe, made, None))
    assert remote.refs() == {}


def test_a_fetch_brings_the_commits_and_touches_no_ref(ours: Repo, remote: Remote, tmp_path: Path):
    made = commit(ours, {"a.md": "one"})
    remote.push(ours, Lease(MAIN, None, made))
    with bare(tmp_path / "staging.git") as staging:
        assert remote.fetch(staging, [MAIN, b"refs/heads/nothing"]) == {MAIN: made}
        assert staging[made].id == made
        assert staging.get_refs() == {}


def test_a_fetch_is_bounded_in_bytes(ours: Repo, remote: Remote, tmp_path: Path):
    remote.push(ours, Lease(MAIN, None, commit(ours, {"a.md": "one"})))
    small = at(Path(remote.address.path), replace(Access(), receive_bytes=30))
    with bare(tmp_path / "staging.git") as staging, pytest.raises(RemoteTooLarge):
        small.fetch(staging, [MAIN])


def test_a_fetch_refuses_objects_that_are_too_large_before_they_are_unpacked(
    ours: Repo, remote: Remote, tmp_path: Path
):
    made = commit(ours, {"a.md": "x" * 5000})
    remote.push(ours, Lease(MAIN, None, made))
    strict = at(Path(remote.address.path), limits=PackLimits(object_bytes=1000))
    with bare(tmp_path / "staging.git") as staging:
        with pytest.raises(RemoteUnsafe, match="too large"):
            strict.fetch(staging, [MAIN])
        assert made not in staging.object_store


def test_a_missing_repository_is_named_with_its_whole_address(tmp_path: Path):
    with pytest.raises(RemoteRepositoryMissing, match=str(tmp_path / "nothing.git")):
        at(tmp_path / "nothing.git").refs()


def test_a_push_between_two_commits_enumerates_what_came_between(ours: Repo):
    first = commit(ours, {f"{number}.md": str(number) for number in range(30)})
    commit(ours, {"1.md": "changed"})
    last = commit(ours, {"2.md": "changed too"})
    # Two commits, each with its root, its folder and a blob.
    assert len(list(objects_between(ours, first, last))) == 8
    count, objects = pack_between(ours, None, last)(set(), {last}, ofs_delta=True)
    assert count == len(list(objects)) == 3 + 2 * 3 + 30 + 2
    ours.refs[MAIN] = first
    other = commit(ours, {"3.md": "another way"})
    assert not list(objects_between(ours, last, other))


@contextmanager
def something_silent() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        yield listener.getsockname()[1]


@pytest.mark.parametrize("address", ["http://127.0.0.1:{port}/x.git", "ssh://git@127.0.0.1:{port}/x.git"])
def test_a_server_that_says_nothing_is_given_up(address: str):
    with something_silent() as port:
        access = Access(connect_seconds=0.2, silence_seconds=0.2, private_key="")
        silent = Remote(parse(address.format(port=port), plain_http=True), access)
        with pytest.raises((RemoteTimedOut, RemoteUnreachable)):
            silent.refs()
    gone = Remote(parse(address.format(port=port), plain_http=True), access)
    with pytest.raises(RemoteUnreachable):
        gone.refs()


def test_a_bomb_from_a_server_never_reaches_the_store(tmp_path: Path, remote: Remote, monkeypatch):
    bomb = packed((3, 100, zeros(64 * 2**20)))

    def send_bomb(_client, _path, wants, _walker, put, **_options):
        wants({MAIN: b"1" * 40})
        put(bomb)

    monkeypatch.setattr("dulwich.client.LocalGitClient.fetch_pack", send_bomb)
    with bare(tmp_path / "staging.git") as staging:
        with pytest.raises(RemoteUnsafe):
            remote.fetch(staging, [MAIN])
        assert not list(staging.object_store)


def test_every_failure_has_a_code_of_its_own():
    kinds = RemoteFailure.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert all(isinstance(known_failure(kind.code), kind) for kind in kinds)

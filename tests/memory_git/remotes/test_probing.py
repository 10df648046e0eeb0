"""The capability matrix: ACC-031 and ACC-032 where no server is needed."""

from pathlib import Path

import pytest
from dulwich.repo import Repo

from apps.base import clock
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import parse
from apps.memory_git.remotes.client import Lease, Remote
from apps.memory_git.remotes.failures import RemoteForbidden, RemoteUnreachable
from apps.memory_git.remotes.probing import CAPABILITIES, PROBES, probe
from tests.memory_git.remotes.made import MAIN, bare, commit, repository


@pytest.fixture
def address(tmp_path: Path):
    bare(tmp_path / "remote.git").close()
    return parse(f"file://{tmp_path}/remote.git", file_roots=(tmp_path,))


def states(address, *, write: bool) -> dict[str, str]:
    found = probe(address, Access(), branch="main", write=write)
    assert tuple(found) == CAPABILITIES
    return {name: finding.state.value for name, finding in found.items()}


def refs_at(address) -> dict[bytes, bytes]:
    return Remote(address, Access()).refs()


def pushed(address, tmp_path: Path, ref: bytes = MAIN) -> bytes:
    with repository(tmp_path / "ours") as ours:
        made = commit(ours, {"a.md": "one"})
        Remote(address, Access()).push(ours, Lease(ref, None, made))
    return made


def test_a_write_test_finds_everything_and_leaves_nothing_behind(address, tmp_path: Path):
    assert states(address, write=True) == {
        "url_resolution": "supported",
        "ls_remote": "supported",
        "fetch": "supported",
        "push": "supported",
        "ref_deletion": "supported",
        "push_to_create": "unknown",
    }
    assert refs_at(address) == {}
    made = pushed(address, tmp_path)
    states(address, write=True)
    assert refs_at(address) == {MAIN: made}


def test_without_the_write_test_nothing_is_pushed(address, tmp_path: Path):
    before = states(address, write=False)
    assert (before["ls_remote"], before["fetch"], before["push"]) == ("supported", "unknown", "unknown")
    pushed(address, tmp_path)
    with Repo(address.path) as there:
        objects = set(there.object_store)
    after = states(address, write=False)
    assert (after["fetch"], after["push"], after["ref_deletion"]) == ("supported", "unknown", "unknown")
    with Repo(address.path) as there:
        assert set(there.object_store) == objects


def test_a_missing_repository_is_an_error_with_its_code_and_the_rest_stays_unknown(tmp_path: Path):
    found = probe(parse(f"file://{tmp_path}/none.git", file_roots=(tmp_path,)), Access(), branch="main", write=True)
    assert (found["ls_remote"].state, found["ls_remote"].code) == ("error", "REMOTE_REPOSITORY_MISSING")
    assert {found[name].state.value for name in ("fetch", "push", "ref_deletion", "push_to_create")} == {"unknown"}


@pytest.mark.parametrize(("failure", "state"), [(RemoteForbidden, "unsupported"), (RemoteUnreachable, "error")])
def test_the_ref_is_cleaned_up_when_the_test_fails_half_way(address, monkeypatch, failure, state):
    def broken(*_arguments, **_options):
        raise failure()

    monkeypatch.setattr(Remote, "fetch", broken)
    found = states(address, write=True)
    assert (found["push"], found["fetch"], found["ref_deletion"]) == ("supported", state, "supported")
    assert refs_at(address) == {}


def test_a_push_whose_answer_was_lost_is_cleaned_up_too(address, monkeypatch):
    genuine = Remote.push

    def lossy(self, repository, lease, **options):
        genuine(self, repository, lease, **options)
        if lease.wanted:
            raise RemoteUnreachable()

    monkeypatch.setattr(Remote, "push", lossy)
    assert states(address, write=True)["push"] == "error"
    assert refs_at(address) == {}


def test_what_a_killed_test_left_is_swept_after_an_hour_and_no_other_branch(address, tmp_path: Path):
    now = int(clock.now().timestamp())
    old = PROBES + b"%08x-%s" % (now - 3700, b"a" * 32)
    young = PROBES + b"%08x-%s" % (now - 60, b"b" * 32)
    somebodys = PROBES + b"mine"
    made = pushed(address, tmp_path, old)
    with Repo(address.path) as there:
        there.refs[young] = there.refs[somebodys] = there.refs[MAIN] = made
    states(address, write=True)
    assert set(refs_at(address)) == {young, somebodys, MAIN}

"""What a remote can do, found out by doing it (GIT-027 and GIT-040).

The write test pushes one commit of its own to a branch with a name nobody else has, fetches it back and deletes it. It
touches neither the default branch nor any history. A branch that a killed test left behind is swept by a later one.
"""

import re
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from dulwich.objects import Blob, Commit, Tree
from dulwich.repo import MemoryRepo

from apps.base import clock
from apps.base.transactions import outside_transactions
from apps.memory_git.remotes.access import Access
from apps.memory_git.remotes.addresses import DEFAULT_PORTS, RemoteAddress
from apps.memory_git.remotes.client import Lease, Remote
from apps.memory_git.remotes.failures import (
    RemoteBroken,
    RemoteFailure,
    RemoteForbidden,
    RemoteMoved,
    RemoteNameUnknown,
    RemoteRejected,
    RemoteTooLarge,
)

CAPABILITIES = ("url_resolution", "ls_remote", "fetch", "push", "ref_deletion", "push_to_create")
PROBES = b"refs/heads/memrelay-probe/"
PROBE = re.compile(PROBES + rb"(?P<seconds>[0-9a-f]{8})-[0-9a-f]{32}")
LEFT_BEHIND_SECONDS = 3600
MOST_SWEPT = 20
LITTLE = 4 * 2**20  # A fetch that is only to show that fetching works stops after so many bytes.


class State(StrEnum):
    UNKNOWN = "unknown"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One capability as it was found: ``code`` and ``facts`` are those of a failure, ``detail`` a word where there was none."""

    state: State
    code: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    detail: str = ""
    milliseconds: int | None = None
    at: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@outside_transactions
def probe(address: RemoteAddress, access: Access, *, branch: str, write: bool) -> dict[str, Finding]:
    """Try everything but push-to-create, which only a genuine first push tells (GIT-041)."""
    return _Probe(address, access, branch).findings(write)


class _Probe:
    def __init__(self, address: RemoteAddress, access: Access, branch: str) -> None:
        self.address, self.branch = address, f"refs/heads/{branch}".encode()
        self.remote = Remote(address, access)
        self.found = {name: Finding(State.UNKNOWN) for name in CAPABILITIES}

    def findings(self, write: bool) -> dict[str, Finding]:
        if not self._tried("url_resolution", lambda: _resolve(self.address)):
            return self.found
        refs: dict[bytes, bytes] = {}
        if not self._tried("ls_remote", lambda: refs.update(self.remote.refs())):
            return self.found
        if write:
            self._write()
            self._sweep(refs)
        if self.found["fetch"].state is State.UNKNOWN:
            self._fetch_a_little(refs)
        return self.found

    def _write(self) -> None:
        repository, commit = _commit_of_its_own()
        ref = PROBES + b"%08x-%s" % (int(clock.now().timestamp()), uuid.uuid4().hex.encode())
        is_pushed = False
        try:
            is_pushed = self._tried("push", lambda: self.remote.push(repository, Lease(ref, None, commit)))
            if is_pushed:
                self._tried("fetch", lambda: self._fetch_back(ref, commit))
        finally:
            # A push whose answer was lost may have arrived all the same.
            if is_pushed:
                self._tried("ref_deletion", lambda: self._delete(repository, ref, commit))
            elif self.found["push"].state is State.ERROR:
                with _whatever_happens():
                    self.remote.push(repository, Lease(ref, commit, None))

    def _fetch_back(self, ref: bytes, commit: bytes) -> None:
        repository = MemoryRepo()
        if self.remote.fetch(repository, [ref]).get(ref) != commit:
            raise RemoteBroken()

    def _delete(self, repository: MemoryRepo, ref: bytes, commit: bytes) -> None:
        self.remote.push(repository, Lease(ref, commit, None))
        if ref in self.remote.refs():
            raise RemoteRejected()

    def _fetch_a_little(self, refs: dict[bytes, bytes]) -> None:
        wanted = self.branch if self.branch in refs else next(iter(sorted(refs)), None)
        if wanted is None:
            self.found["fetch"] = Finding(State.UNKNOWN, detail="empty_repository")
            return
        self._tried("fetch", lambda: _fetch_tip(self.remote, wanted))

    def _sweep(self, refs: dict[bytes, bytes]) -> None:
        """Remove what tests left behind that were killed more than an hour ago."""
        old = int(clock.now().timestamp()) - LEFT_BEHIND_SECONDS
        for ref in [ref for ref in refs if (match := PROBE.fullmatch(ref)) and int(match["seconds"], 16) < old][
            :MOST_SWEPT
        ]:
            with _whatever_happens():
                self.remote.push(MemoryRepo(), Lease(ref, refs[ref], None))

    def _tried(self, name: str, attempt: Callable[[], None]) -> bool:
        start, failed = time.monotonic(), None
        try:
            attempt()
        except RemoteFailure as failure:
            failed = failure
        self.found[name] = Finding(
            _state_of(failed) if failed else State.SUPPORTED,
            code=failed.code if failed else "",
            facts=failed.facts if failed else {},
            milliseconds=int((time.monotonic() - start) * 1000),
            at=clock.now().isoformat(timespec="seconds"),
        )
        return failed is None


def _state_of(failure: RemoteFailure) -> State:
    """A refusal says that it cannot be done; anything else, that it could not be found out."""
    return State.UNSUPPORTED if isinstance(failure, (RemoteForbidden, RemoteRejected, RemoteMoved)) else State.ERROR


def _resolve(address: RemoteAddress) -> None:
    if address.transport == "file":
        return
    try:
        socket.getaddrinfo(address.host, address.port or DEFAULT_PORTS[address.transport], type=socket.SOCK_STREAM)
    except OSError:
        raise RemoteNameUnknown() from None


def _fetch_tip(remote: Remote, ref: bytes) -> None:
    little = remote.with_limit(LITTLE)
    try:
        little.fetch(MemoryRepo(), [ref], depth=1)
    except RemoteTooLarge:
        return  # It was coming, and there is more of it: that is all we wanted to know.


def _commit_of_its_own() -> tuple[MemoryRepo, bytes]:
    repository = MemoryRepo()
    blob = Blob.from_string(b"MemRelay tests whether it can write here, and takes this away again.\n")
    tree = Tree()
    tree.add(b"probe.txt", 0o100644, blob.id)
    commit = Commit()
    commit.tree = tree.id
    commit.author = commit.committer = b"MemRelay <memrelay@localhost>"
    commit.author_time = commit.commit_time = int(clock.now().timestamp())
    commit.author_timezone = commit.commit_timezone = 0
    commit.message = b"MemRelay write test\n"
    repository.object_store.add_objects([(blob, None), (tree, None), (commit, None)])
    return repository, commit.id


@contextmanager
def _whatever_happens() -> Iterator[None]:
    """Cleaning up on a server that fails: a later test sweeps once more."""
    try:
        yield
    except RemoteFailure:
        return

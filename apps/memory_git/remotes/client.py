"""A remote repository: look at its refs, push with a lease, fetch into quarantine. The one door to Git servers.

A push is never forced: the branch must be where the caller last saw it, and the new commit must come after it. Git's
library would overwrite a diverged branch without a word; here it is compared first, and the server compares once more.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dulwich.client import GitClient, LocalGitClient
from dulwich.config import ConfigDict
from dulwich.graph import can_fast_forward
from dulwich.objects import ZERO_SHA, ObjectID
from dulwich.repo import BaseRepo
from paramiko import PKey

from apps.base.transactions import outside_transactions
from apps.memory_git.remotes.access import Access, Watch
from apps.memory_git.remotes.addresses import RemoteAddress
from apps.memory_git.remotes.failures import (
    RemoteBroken,
    RemoteDiverged,
    RemoteMoved,
    RemoteRejected,
    RemoteTooLarge,
    RemoteUnsafe,
)
from apps.memory_git.remotes.http import http_client
from apps.memory_git.remotes.packs import PackLimits, PackUnsafe, scan_pack
from apps.memory_git.remotes.sending import pack_between
from apps.memory_git.remotes.ssh import HostKey, SshClient, host_keys, load_key
from apps.memory_git.remotes.translating import translated

MADE_NOW = b"Initialized empty Git repository"  # Gitolite makes one as soon as it is asked for.
IN_MEMORY = 8 * 2**20
CANNOT_FAST_FORWARD = ("non-fast-forward", "fetch first", "stale info", "failed to lock", "failed to update ref")


@dataclass(frozen=True, slots=True)
class Lease:
    """A ref, where it must be now (nothing: it must not exist), and where it shall be (nothing: gone)."""

    ref: bytes
    expected: bytes | None
    wanted: bytes | None


class Remote:
    """One repository on a server. Every call is a conversation of its own; nothing stays open."""

    def __init__(self, address: RemoteAddress, access: Access, *, limits: PackLimits | None = None) -> None:
        self.address, self._access = address, access
        self._limits = limits or PackLimits()
        self.was_created = False  # The server said that it made the repository while we talked.

    def with_limit(self, receive_bytes: int) -> "Remote":
        """The same, where less may come in."""
        return Remote(self.address, replace(self._access, receive_bytes=receive_bytes), limits=self._limits)

    @outside_transactions
    def refs(self) -> dict[bytes, bytes]:
        """What ``git ls-remote`` shows; an empty repository has none."""
        with self._conversation() as (client, path):
            found = client.get_refs(path).refs
        return {bytes(ref): bytes(commit) for ref, commit in found.items() if commit and _is_ref(ref)}

    @outside_transactions
    def push(self, repository: BaseRepo, lease: Lease) -> None:
        """Move one ref as the lease says, forwards only. Raises ``RemoteMoved`` where it stands elsewhere, and pushes nothing.

        Raises ``RemoteDiverged`` where the new commit does not come after the expected one.
        """

        def wanted(theirs: dict[Any, Any]) -> dict[Any, Any]:
            if theirs.get(lease.ref) != lease.expected:
                raise RemoteMoved()
            return {lease.ref: lease.wanted or ZERO_SHA}

        _check_forward(repository, lease)
        make = pack_between(repository, lease.expected, lease.wanted)
        with self._conversation() as (client, path):
            result = client.send_pack(path, wanted, generate_pack_data=make)
            said = (result.ref_status or {}).get(lease.ref)
        if said:
            raise RemoteMoved() if any(words in said for words in CANNOT_FAST_FORWARD) else RemoteRejected()

    @outside_transactions
    def fetch(self, repository: BaseRepo, refs: Iterable[bytes], *, depth: int | None = None) -> dict[bytes, bytes]:
        """Bring the commits of these refs and all they need; answers where they stand. No ref of ours is touched.

        What comes is put aside first and looked through before any of it is unpacked. Raises ``RemoteUnsafe``.
        """
        asked, found = list(refs), dict[bytes, bytes]()

        def wants(refs: Mapping[Any, Any], depth: int | None = None) -> list[Any]:
            found.update({ref: refs[ref] for ref in asked if ref in refs})
            return sorted(_missing(repository, found.values()))

        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as spool, self._conversation() as (client, path):
            put = _bounded(spool.write, self._access.receive_bytes)
            client.fetch_pack(path, wants, repository.get_graph_walker(), put, depth=depth, ref_prefix=asked)
            if spool.tell():
                self._take_in(repository, spool)
        if _missing(repository, found.values()):
            raise RemoteBroken()
        return found

    @outside_transactions
    def host_keys(self) -> list[HostKey]:
        """The keys an SSH server shows, to compare with what its owner publishes."""
        if self.address.transport != "ssh":
            return []
        with translated(self.address):
            return host_keys(self.address, self._access)

    @contextmanager
    def _conversation(self) -> Iterator[tuple[GitClient, Any]]:
        """A client and the path it asks for; whatever goes wrong comes out as a ``RemoteFailure``."""
        address, watch = self.address, Watch(self._access)
        with translated(address), ExitStack() as afterwards:
            match address.transport:
                case "ssh":
                    ssh = SshClient(address, self._access, watch, self._key)
                    afterwards.callback(ssh.let_go)
                    yield ssh, address.path.encode()
                    self.was_created |= MADE_NOW in ssh.complaints()
                case "file":
                    yield LocalGitClient(config=ConfigDict()), address.path
                case _:
                    http = http_client(address, self._access, watch)
                    afterwards.callback(http.let_go)
                    yield http, ""

    @cached_property
    def _key(self) -> PKey | None:
        """A passphrase takes more than half a second to check, so it is done once."""
        access = self._access
        return load_key(access.private_key, access.passphrase) if access.private_key else None

    def _take_in(self, repository: BaseRepo, spool: Any) -> None:
        spool.seek(0)
        try:
            scan_pack(spool.read, self._limits)
        except PackUnsafe as problem:
            raise RemoteUnsafe(problem=str(problem)) from None
        spool.seek(0)
        repository.object_store.add_thin_pack(spool.read, None)  # type: ignore[attr-defined]


def _check_forward(repository: BaseRepo, lease: Lease) -> None:
    if not (lease.expected and lease.wanted) or lease.expected == lease.wanted:
        return
    old, new = ObjectID(lease.expected), ObjectID(lease.wanted)
    if old not in repository.object_store or not can_fast_forward(repository, old, new):
        raise RemoteDiverged(commit=old.decode())


def _missing(repository: BaseRepo, commits: Iterable[Any]) -> set[Any]:
    return {commit for commit in commits if commit not in repository.object_store}


def _bounded(write: Callable[[bytes], int], most: int) -> Callable[[bytes], int]:
    left = most

    def put(data: bytes) -> int:
        nonlocal left
        left -= len(data)
        if left < 0:
            raise RemoteTooLarge()
        return write(data)

    return put


def _is_ref(ref: bytes) -> bool:
    return ref.startswith(b"refs/") and not ref.endswith(b"^{}")

"""Bringing commits to the remote, in their order, and saying how it stands there (GIT-048, GIT-056..058).

Nothing is forced, merged or taken over. Where the remote's branch has something this history lacks, pushing stops until
an administrator chooses. A remote that is away is asked again, each time after twice as long.
"""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import F, QuerySet
from dulwich.repo import Repo

from apps.base import clock
from apps.base.sealing import SealBroken, SealingKeyMissing
from apps.base.transactions import outside_transactions, short_transaction
from apps.memory_git.errors import RepositoryBroken
from apps.memory_git.mirror.binding import TO_PUSH
from apps.memory_git.mirror.credentials import access_of, address_at
from apps.memory_git.models import (
    Capability,
    GitCommit,
    GitConnection,
    GitSyncJob,
    JobState,
    MemoryRepository,
    RepositoryStatus,
)
from apps.memory_git.remotes.addresses import UnusableAddress
from apps.memory_git.remotes.client import Lease, Remote
from apps.memory_git.remotes.failures import (
    AddressRefused,
    Consequence,
    CredentialsUnreadable,
    RemoteDiverged,
    RemoteFailure,
    RemoteForbidden,
    RemoteMoved,
    RemoteRejected,
    RemoteRepositoryMissing,
)
from apps.memory_git.repository import local
from apps.memory_git.repository.repositories import folder_of

WORKER_SECONDS = 900.0
LONGEST_PAUSE = 3600.0
STATUS = {
    Consequence.WAIT: RepositoryStatus.WAITING_REMOTE,
    Consequence.CONFIGURE: RepositoryStatus.CONFIGURATION_ERROR,
    Consequence.MISSING: RepositoryStatus.REMOTE_REPOSITORY_MISSING,
    Consequence.DIVERGED: RepositoryStatus.REMOTE_DIVERGED,
}
logger = logging.getLogger(__name__)


@dataclass
class Pushed:
    """What a conversation with the remote showed."""

    commit: str
    position: int
    created: bool = False


@outside_transactions
def push(repository_id: str, *, seconds: float = WORKER_SECONDS) -> bool:
    """Bring the remote to the newest commit; answers whether it is there now."""
    repository = MemoryRepository.objects.select_related("connection").filter(pk=repository_id).first()
    if repository is None or repository.connection is None or not (repository.remote_url and repository.head):
        return False
    connection = repository.connection
    _jobs(repository).filter(state=JobState.WAITING_REMOTE).update(state=JobState.PUSHING)
    try:
        pushed = _brought(repository, connection, seconds)
    except RemoteFailure as failure:
        _failed(repository, connection, failure)
        return False
    except RepositoryBroken:
        _look_later(repository)  # The next commit says what is wrong with the folder.
        return False
    _succeeded(repository, connection, pushed)
    return True


def push_or_wait(repository_id: str) -> None:
    """A push by the worker. A defect is told in the log and puts this repository off; it stops neither commits nor others."""
    try:
        push(repository_id)
    except Exception:
        logger.exception("The push of the repository %s failed.", repository_id)
        again = clock.now() + timedelta(seconds=LONGEST_PAUSE)
        MemoryRepository.objects.filter(pk=repository_id).update(next_push_at=again)


def _brought(repository: MemoryRepository, connection: GitConnection, seconds: float) -> Pushed:
    remote, ref = remote_of(repository, connection, seconds=seconds), f"refs/heads/{repository.branch}".encode()
    head, position = repository.head, repository.position
    is_missing = False
    try:
        theirs = remote.refs().get(ref, b"").decode()
    except RemoteRepositoryMissing:
        if not connection.allow_push_to_create:
            raise
        is_missing, theirs = True, ""
    if theirs != head:
        if theirs and not is_ours(repository, theirs):
            raise RemoteDiverged(commit=theirs)
        with local.opened(folder_of(repository)) as repo:
            lease = Lease(ref, theirs.encode() or None, head.encode())
            if is_missing:
                _push_to_create(remote, repo, lease, repository)
            else:
                remote.push(repo, lease)
    return Pushed(head, position, created=is_missing or remote.was_created)


def _push_to_create(remote: Remote, repo: Repo, lease: Lease, repository: MemoryRepository) -> None:
    """The only way to learn whether the server makes repositories: a genuine first push (GIT-041)."""
    try:
        remote.push(repo, lease)
    except (RemoteRepositoryMissing, RemoteForbidden, RemoteRejected):
        repository.push_to_create = Capability.UNSUPPORTED
        raise RemoteRepositoryMissing(url=repository.remote_url) from None


def is_ours(repository: MemoryRepository, commit: str) -> bool:
    """Whether this history has the commit; then what is there is behind, else it went another way."""
    return GitCommit.objects.filter(repository=repository, sha=commit).exists()


def remote_of(repository: MemoryRepository, connection: GitConnection, *, seconds: float = WORKER_SECONDS) -> Remote:
    """The repository's remote with the connection's credentials opened. Raises ``RemoteFailure``."""
    try:
        return Remote(address_at(repository.remote_url), access_of(connection, seconds=seconds))
    except UnusableAddress:
        raise AddressRefused() from None  # A setting forbids today what was saved then.
    except (SealBroken, SealingKeyMissing):
        raise CredentialsUnreadable() from None


def _succeeded(repository: MemoryRepository, connection: GitConnection, pushed: Pushed) -> None:
    now = clock.now()
    fields = {
        "pushed_commit": pushed.commit,
        "pushed_position": pushed.position,
        "pushed_at": now,
        "remote_commit": pushed.commit,
        "remote_reachable": True,
        "remote_checked_at": now,
        "push_attempts": 0,
        "next_push_at": None,
    }
    if pushed.created:
        fields["push_to_create"] = Capability.SUPPORTED
    with short_transaction():
        if not _still_bound(repository).update(**fields):
            return  # It was bound elsewhere while we talked.
        _unless_locally_broken(repository, RepositoryStatus.READY, "", "")
        GitConnection.objects.filter(pk=connection.pk, revision=connection.revision).update(succeeded_at=now)
        there = GitCommit.objects.filter(repository=repository, position__lte=pushed.position).values("sha")
        _jobs(repository).filter(commit__in=there).update(
            state=JobState.COMPLETED, error_code="", next_retry_at=None, finished_at=now
        )


def _failed(repository: MemoryRepository, connection: GitConnection, failure: RemoteFailure) -> None:
    consequence = consequence_of(failure, worked_before=connection.succeeded_at is not None)
    now, attempts = clock.now(), repository.push_attempts + 1
    waits = consequence in (Consequence.WAIT, Consequence.MISSING)
    pause = min(max(1.0, settings.GIT_RETRY_SECONDS) * 2 ** min(attempts - 1, 20), LONGEST_PAUSE)
    again = now + timedelta(seconds=pause) if waits else None
    logger.warning("Commits of %s are not pushed: %s", repository.name, failure.code)
    fields = {
        "remote_checked_at": now,
        "remote_reachable": consequence is not Consequence.WAIT,
        "push_attempts": attempts,
        "next_push_at": again,
        "push_to_create": repository.push_to_create,
    }
    if isinstance(failure, RemoteDiverged):
        fields["remote_commit"] = failure.facts.get("commit", "")
    with short_transaction():
        if not _still_bound(repository).update(**fields):
            return
        _unless_locally_broken(repository, STATUS[consequence], failure.code, str(failure))
        _jobs(repository).update(
            state=JobState.WAITING_REMOTE,
            attempts=F("attempts") + 1,
            error_code=failure.code,
            next_retry_at=again,
        )


def _look_later(repository: MemoryRepository) -> None:
    again = clock.now() + timedelta(seconds=max(1.0, settings.GIT_RETRY_SECONDS))
    _still_bound(repository).update(next_push_at=again)


def consequence_of(failure: RemoteFailure, *, worked_before: bool) -> Consequence:
    """Credentials that fail where they worked before may work again; where they never did, a person is needed (D-18)."""
    if failure.consequence is Consequence.CONFIGURE_AT_FIRST:
        return Consequence.WAIT if worked_before else Consequence.CONFIGURE
    if isinstance(failure, RemoteMoved):
        return Consequence.WAIT  # Somebody pushed while we did; the next look tells whether it was a stranger.
    return failure.consequence


def _jobs(repository: MemoryRepository) -> QuerySet[GitSyncJob]:
    return GitSyncJob.objects.filter(repository=repository, state__in=TO_PUSH)


def _still_bound(repository: MemoryRepository) -> QuerySet[MemoryRepository]:
    return MemoryRepository.objects.filter(
        pk=repository.pk, remote_url=repository.remote_url, connection=repository.connection
    )


def _unless_locally_broken(repository: MemoryRepository, status: str, code: str, error: str) -> None:
    rows = MemoryRepository.objects.filter(pk=repository.pk).exclude(status=RepositoryStatus.LOCAL_ERROR)
    rows.update(status=status, error_code=code, error=error[:500])

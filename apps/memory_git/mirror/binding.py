"""Which repository is mirrored where. Rows only: nothing here reaches out.

A repository gets its address once, from its name, and keeps it whatever is renamed (GIT-019). One that an administrator
unbound stays local until it is bound again.
"""

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from apps.base import clock
from apps.memory_git.mirror.credentials import address_at, current_connection
from apps.memory_git.models import (
    Capability,
    GitConnection,
    GitSyncJob,
    JobState,
    MemoryRepository,
    RepositoryStatus,
)
from apps.memory_git.remotes.addresses import RemoteAddress, UnusableAddress
from apps.memory_git.switch import is_enabled

OF_THE_REMOTE = frozenset(
    {
        RepositoryStatus.WAITING_REMOTE,
        RepositoryStatus.REMOTE_REPOSITORY_MISSING,
        RepositoryStatus.CONFIGURATION_ERROR,
        RepositoryStatus.REMOTE_DIVERGED,
    }
)
TO_PUSH = (JobState.PUSHING, JobState.WAITING_REMOTE)
FIELDS = [
    "connection", "remote_url", "stays_local", "push_to_create", "pushed_commit", "pushed_position", "pushed_at",
    "remote_commit", "remote_reachable", "remote_checked_at", "push_attempts", "next_push_at", "status", "error_code",
    "error",
]  # fmt: skip


def usable_connection() -> GitConnection | None:
    row = current_connection()
    return row if row is not None and row.enabled else None


def bind_all(connection: GitConnection) -> int:
    """Give every repository that has no remote its own; answers how many."""
    rows = [row for row in _free() if bind(row, connection)]
    for row in rows:
        row.save(update_fields=FIELDS)
    return len(rows)


def bind(repository: MemoryRepository, connection: GitConnection) -> bool:
    """Set a repository's remote, as one that nothing was ever pushed to. The caller saves it.

    False where the connection's address is not for this kind of repository: one of before a migration waits for its own.
    """
    try:
        address = address_at(connection.url)
        if address.mode != repository.mode:
            return False
        bind_to(repository, connection, address.named(repository.name) if address.is_template else address)
    except UnusableAddress:
        return False
    return True


def bind_to(repository: MemoryRepository, connection: GitConnection, address: RemoteAddress) -> None:
    _forget_remote(repository)
    repository.connection, repository.remote_url, repository.stays_local = connection, str(address), False
    if repository.head and repository.status == RepositoryStatus.READY:
        repository.status = RepositoryStatus.WAITING_REMOTE  # All of its history waits to be pushed there.


def unbind(repository: MemoryRepository, *, stays_local: bool) -> None:
    """Take a repository's remote away; both sides keep what they have (GIT-059)."""
    _forget_remote(repository)
    repository.connection, repository.remote_url, repository.stays_local = None, "", stays_local
    repository.save(update_fields=FIELDS)
    GitSyncJob.objects.filter(repository=repository, state__in=TO_PUSH).update(
        state=JobState.CANCELLED, next_retry_at=None, finished_at=clock.now()
    )


def rebind_all(connection: GitConnection) -> None:
    """The connection has another address: what it mirrored goes there from now on."""
    for repository in _bound(connection):
        if not bind(repository, connection):
            _forget_remote(repository)
            repository.connection, repository.remote_url = None, ""
        repository.save(update_fields=FIELDS)


def try_again(repositories: Iterable[MemoryRepository]) -> None:
    """What waited for a person or for time is due now."""
    for repository in repositories:
        repository.next_push_at, repository.push_attempts = None, 0
        if repository.status == RepositoryStatus.CONFIGURATION_ERROR:
            repository.status = RepositoryStatus.WAITING_REMOTE
        repository.save(update_fields=["next_push_at", "push_attempts", "status"])


def bound_to(connection: GitConnection) -> list[MemoryRepository]:
    return list(_bound(connection))


def due() -> list[str]:
    """Ids of repositories that have something to push now, the one that waits longest first."""
    connection = usable_connection()
    if connection is None or not is_enabled():
        return []
    soon = Q(next_push_at=None) | Q(next_push_at__lte=clock.now())
    rows = _bound(connection).filter(soon).exclude(head="").order_by("next_push_at", "pk")
    halted = (RepositoryStatus.REMOTE_DIVERGED, RepositoryStatus.CONFIGURATION_ERROR, RepositoryStatus.LOCAL_ERROR)
    found = rows.exclude(status__in=halted).values_list("pk", "head", "pushed_commit")
    return [pk for pk, head, pushed in found if head != pushed]


def _free() -> Iterable[MemoryRepository]:
    return MemoryRepository.objects.filter(connection=None, remote_url="", stays_local=False, archived_at=None)


def _bound(connection: GitConnection) -> QuerySet[MemoryRepository]:
    return MemoryRepository.objects.filter(connection=connection, archived_at=None).exclude(remote_url="")


def _forget_remote(repository: MemoryRepository) -> None:
    repository.push_to_create = Capability.UNKNOWN
    repository.pushed_commit, repository.pushed_position, repository.pushed_at = "", 0, None
    repository.remote_commit, repository.remote_reachable, repository.remote_checked_at = "", None, None
    repository.push_attempts, repository.next_push_at = 0, None
    if repository.status in OF_THE_REMOTE:
        repository.status, repository.error_code, repository.error = RepositoryStatus.READY, "", ""

"""What a person or an agent does about a repository's mirror: push now, bind it to another place, leave it local."""

from django.utils.translation import gettext as _

from apps.base.bells import hurry
from apps.base.errors import Invalid
from apps.base.transactions import outside_transactions, short_transaction
from apps.leases.services import slot
from apps.memory_git.committing.outbox import waiting
from apps.memory_git.committing.passes import commit_root
from apps.memory_git.deeds import SLOT
from apps.memory_git.importing.inspecting import forget
from apps.memory_git.mirror.binding import FIELDS, bind_to, try_again, unbind, usable_connection
from apps.memory_git.mirror.credentials import access_of, address_at
from apps.memory_git.mirror.errors import ConnectionMissing, RemoteNotEmpty, RepositoryUnbound
from apps.memory_git.mirror.pushing import is_ours, push
from apps.memory_git.mirror.schemas import BindUrl, RemoteProblem, SyncOut
from apps.memory_git.mirror.telling import problem_of
from apps.memory_git.models import GitConnection, MemoryRepository, RepositoryStatus
from apps.memory_git.remotes.addresses import RemoteAddress, UnusableAddress, check_mode
from apps.memory_git.remotes.client import Remote
from apps.memory_git.remotes.failures import RemoteRepositoryMissing, known_failure
from apps.memory_git.schemas import RepositoryId
from apps.memory_git.selectors.repositories import repository_for
from apps.operations.caller import Caller, Right
from apps.operations.features import Feature
from apps.operations.operation import Effect, operation

SECONDS = 60.0  # So long somebody waits for an answer; the worker goes on.


@operation(needs=Right.WRITE, answers=SyncOut, effect=Effect.CHANGES, repeatable=True, feature=Feature.MEMORY_GIT)
@outside_transactions
def memory_repository_sync(caller: Caller, *, repository_id: RepositoryId) -> SyncOut:
    """Commit what waits in a repository and push it now, also where a missing repository or refused credentials stopped it.

    Where the remote is away or has no such repository, the answer says so and what waits stays in order; nothing is forced.
    A remote that went another way is left alone: memory_repository_bind, memory_remote_import or memory_repository_unbind.
    """
    repository = repository_for(caller, repository_id)
    with slot(SLOT) as held:
        if held is not None:
            commit_root(repository.root)
            repository.refresh_from_db()
            if repository.remote_url and usable_connection() is not None:
                try_again([repository])
                if repository.status not in (RepositoryStatus.REMOTE_DIVERGED, RepositoryStatus.LOCAL_ERROR):
                    push(repository.pk, seconds=SECONDS)
    if held is None:
        with short_transaction():
            try_again([repository])
        hurry()
    return sync_out(repository_for(caller, repository_id))


@operation(needs=Right.ADMINISTER, answers=SyncOut, effect=Effect.CHANGES, repeatable=True, feature=Feature.MEMORY_GIT)
@outside_transactions
def memory_repository_bind(caller: Caller, *, repository_id: RepositoryId, url: BindUrl = "") -> SyncOut:
    """Bind a repository to an empty one at the Git server, and push its whole history there.

    This is the way out of remote_diverged that leaves both histories alone: the old remote is neither changed nor deleted.
    Without a url it is bound to the connection's own address again. A branch that has foreign commits is refused.
    """
    repository, connection = repository_for(caller, repository_id), usable_connection()
    if connection is None:
        raise ConnectionMissing()
    address = _wanted(repository, connection, url)
    _check_empty(repository, connection, address)
    with short_transaction():
        repository.refresh_from_db()
        bind_to(repository, connection, address)
        repository.save(update_fields=FIELDS)
    forget(repository)
    hurry()
    return sync_out(repository)


@operation(needs=Right.ADMINISTER, answers=SyncOut, effect=Effect.CHANGES, repeatable=True)
def memory_repository_unbind(caller: Caller, *, repository_id: RepositoryId) -> SyncOut:
    """Take a repository's remote away: it stays with local history until it is bound again. Neither side loses anything."""
    repository = repository_for(caller, repository_id)
    with short_transaction():
        unbind(repository, stays_local=True)
    forget(repository)
    return sync_out(repository)


def sync_out(repository: MemoryRepository) -> SyncOut:
    failure = known_failure(repository.error_code, {"url": repository.remote_url})
    told = RemoteProblem(code=repository.error_code, message=repository.error, hint="")
    if failure is not None:
        told = problem_of(failure)
    return SyncOut(
        repository_id=repository.pk,
        status=repository.status,
        remote_url=repository.remote_url,
        commit=repository.head,
        pushed_commit=repository.pushed_commit,
        behind=repository.behind,
        waiting=waiting().filter(root=repository.root).count(),
        push_to_create=repository.push_to_create,
        error=told if repository.error_code else None,
        pushed_at=repository.pushed_at,
        next_try_at=repository.next_push_at,
    )


def bound_repository(caller: Caller, repository_id: str) -> tuple[MemoryRepository, GitConnection]:
    """A repository with its remote's connection. Raises ``RepositoryUnbound`` or ``ConnectionMissing``."""
    repository, connection = repository_for(caller, repository_id), usable_connection()
    if connection is None:
        raise ConnectionMissing()
    if not repository.remote_url:
        raise RepositoryUnbound(name=repository.name)
    return repository, connection


def _wanted(repository: MemoryRepository, connection: GitConnection, url: str) -> RemoteAddress:
    """The address to bind to; only at the server that the credentials are for."""
    try:
        own = address_at(connection.url)
        if not url:
            check_mode(own, repository.mode)
            return own.named(repository.name) if own.is_template else own
        address = address_at(url)
    except UnusableAddress as why:
        raise Invalid(fields={"url": str(why)}) from None
    if address.is_template or address.origin != own.origin:
        raise Invalid(fields={"url": _not_there()})
    return address


def _not_there() -> str:
    return _("This must be the whole address of one repository at the connection's server.")


def _check_empty(repository: MemoryRepository, connection: GitConnection, address: RemoteAddress) -> None:
    """A branch that only has commits of ours is as good as empty."""
    try:
        refs = Remote(address, access_of(connection, seconds=SECONDS)).refs()
    except RemoteRepositoryMissing:
        if connection.allow_push_to_create:
            return
        raise
    theirs = refs.get(f"refs/heads/{repository.branch}".encode(), b"").decode()
    if theirs and not is_ours(repository, theirs):
        raise RemoteNotEmpty(branch=repository.branch, url=str(address))
